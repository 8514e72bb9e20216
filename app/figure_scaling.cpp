// Figures `scaling`, `ratio` and `roofline` from a result of `bench`.
#include <algorithm>
#include <cmath>
#include <string>

#include "app/figure_request.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/compare.h"
#include "core/bench/measured.h"
#include "core/bench/sweep.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

/// What a figure draws of one file: the operators asked for, at one choice of all other labels.
struct Selection {
  std::string file;
  std::vector<std::string> operators;
  Case place;  ///< Its operator is empty and its seq_len 0.
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;
};

/// Different values of one label, in the order of the file.
template <class Label>
std::vector<std::string> values_of(const std::vector<MeasuredCase>& cases, Label label) {
  std::vector<std::string> values;
  for (const MeasuredCase& c : cases) {
    const std::string value = fmt::format("{}", label(c.labels));
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// Keeps the cases with the value that the request names for `key`, or with the first one.
template <class Label>
void narrow(Selection& s, const FigureRequest& request, const char* key, Label label) {
  const std::vector<std::string> known = values_of(s.cases, label);
  std::string value = request.value(key);
  if (value.empty() && !known.empty()) value = known.front();
  if (std::find(known.begin(), known.end(), value) == known.end()) unknown_name(key, value, known);
  const auto other = [&](const auto& c) { return fmt::format("{}", label(c.labels)) != value; };
  std::erase_if(s.cases, other);
  std::erase_if(s.exponents, other);
}

std::vector<std::string> chosen_operators(const Selection& s, const FigureRequest& request) {
  const auto known = values_of(s.cases, [](const Case& c) { return c.operation; });
  const std::string names = request.value("operators");
  if (names.empty()) return known;
  const std::vector<std::string> chosen = parse_names("-p operators", names);
  for (const std::string& name : chosen) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      unknown_name("operator", name, known);
    }
  }
  return chosen;
}

Selection select(const FigureRequest& request) {
  Selection s;
  s.file = request.single_input();
  const LabelledFile file = read_labelled_file_sandboxed(s.file);
  s.cases = measured_cases(file, s.file);
  s.exponents = measured_exponents(file, s.file);
  s.operators = chosen_operators(s, request);
  narrow(s, request, "pass", [](const Case& c) { return c.pass; });
  narrow(s, request, "device", [](const Case& c) { return c.device; });
  narrow(s, request, "dtype", [](const Case& c) { return c.dtype; });
  narrow(s, request, "threads", [](const Case& c) { return c.threads; });
  narrow(s, request, "dim", [](const Case& c) { return c.dim; });
  narrow(s, request, "head", [](const Case& c) { return c.head; });
  s.place = s.cases.front().labels;
  return s;
}

/// Cases that were skipped have NaN times; the figure leaves them out.
figure::ScalingSeries series_of(const Selection& s, const std::string& name) {
  figure::ScalingSeries series;
  series.name = name;
  for (const MeasuredCase& c : s.cases) {
    if (c.labels.operation != name) continue;
    series.x.push_back(static_cast<double>(c.labels.seq_len));
    series.y.push_back(c.time);
    series.low.push_back(c.time_low);
    series.high.push_back(c.time_high);
  }
  for (const MeasuredExponent& e : s.exponents) {
    if (e.labels.operation != name || !std::isfinite(e.value)) continue;
    series.exponent = e.value;
    series.exponent_low = e.low;
    series.exponent_high = e.high;
  }
  return series;
}

/// Ratios to the first operator, round by round: the machine's drift is in both and cancels.
void add_ratios(const Selection& s, std::vector<figure::ScalingSeries>& series) {
  series.front().ratio = series.front().ratio_low = series.front().ratio_high =
      std::vector<double>(series.front().x.size(), 1);
  for (const CaseComparison& c : compare_operators(s.cases, s.operators.front())) {
    for (figure::ScalingSeries& one : series) {
      if (one.name != c.labels.operation) continue;
      one.ratio.push_back(c.result.ratio.value);
      one.ratio_low.push_back(c.result.ratio.low);
      one.ratio_high.push_back(c.result.ratio.high);
    }
  }
}

/// "forward, cpu, f32, 2 threads, d = 64, 8 heads"
std::string place_caption(const Case& c) {
  const auto counted = [](std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, {}, {}, d = {}, {}", c.pass, c.device, c.dtype,
                     counted(c.threads, "thread"), c.dim, counted(c.head, "head"));
}

/// The longest sequence of an operator that was measured, as a point under the roof.
figure::RooflinePoint point_of(const Selection& s, const std::string& name) {
  figure::RooflinePoint point;
  for (const MeasuredCase& c : s.cases) {
    if (c.labels.operation != name || !std::isfinite(c.time)) continue;
    point = {fmt::format("{}, n = {}", name, c.labels.seq_len), c.flops / c.bytes, c.flops / c.time,
             c.flops / c.time_high, c.flops / c.time_low};
  }
  return point;
}

/// The highest peak that was measured beside any of the cases drawn.
double measured_peak(const Selection& s) {
  double peak = 0;
  for (const MeasuredCase& c : s.cases) {
    if (std::isfinite(c.peak_flops)) peak = std::max(peak, c.peak_flops);
  }
  return peak;
}

}  // namespace

figure::ScalingFigure read_scaling(const FigureRequest& request) {
  const Selection s = select(request);
  figure::ScalingFigure figure;
  for (const std::string& name : s.operators) figure.series.push_back(series_of(s, name));
  add_ratios(s, figure.series);
  figure.caption = place_caption(s.place);
  return figure;
}

figure::RooflineFigure read_roofline(const FigureRequest& request) {
  const Selection s = select(request);
  figure::RooflineFigure figure;
  figure.peaks.push_back({"multiply-add", measured_peak(s)});
  for (const std::string& name : s.operators) figure.points.push_back(point_of(s, name));
  figure.caption = place_caption(s.place);
  return figure;
}

}  // namespace conelab
