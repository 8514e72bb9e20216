#include "core/bench/figures.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/case_axes.h"
#include "core/bench/compare.h"
#include "core/call/call_text.h"

namespace conelab {
namespace {

std::string value_of(const std::map<std::string, std::string>& keys, const std::string& key) {
  const auto found = keys.find(key);
  return found == keys.end() ? "" : found->second;
}

/// Keeps the cases with the value that the keys name for a label, or with the first one.
void narrow(BenchSelection& s, const std::map<std::string, std::string>& keys,
            const CaseAxis& axis) {
  const std::vector<std::string> known = label_values(s.cases, axis.label);
  std::string value = value_of(keys, axis.label);
  if (value.empty() && !known.empty()) value = known.front();
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    unknown_name(axis.label, value, known);
  }
  const auto other = [&](const auto& c) { return label_of(c.labels, axis) != value; };
  std::erase_if(s.cases, other);
  std::erase_if(s.exponents, other);
}

std::vector<std::string> chosen_operators(const BenchSelection& s, const std::string& names) {
  std::vector<std::string> known = label_values(s.cases, "operator");
  if (names.empty()) return known;
  std::vector<std::string> chosen = parse_names("-p operators", names);
  for (const std::string& name : chosen) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      unknown_name("operator", name, known);
    }
  }
  return chosen;
}

figure::ScalingSeries series_of(const BenchSelection& s, const std::string& name) {
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

/// An operator as figures of attention write its call; a name that is no call stays as it is.
std::string title_of(const std::string& name) {
  try {
    return call_title(call_from_text(name));
  } catch (const Error&) {
    return name;
  }
}

/// [operator] Titles; where two would be alike, those operators keep their own names.
std::vector<std::string> titles_of(const std::vector<std::string>& operators) {
  std::vector<std::string> titles;
  for (const std::string& name : operators) titles.push_back(title_of(name));
  std::vector<std::string> labels = titles;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::count(titles.begin(), titles.end(), titles[i]) > 1) labels[i] = operators[i];
  }
  return labels;
}

/// 1 where it has a time: none is drawn where nothing was measured.
void add_own_ratios(figure::ScalingSeries& base) {
  for (const double time : base.y) base.ratio.push_back(std::isfinite(time) ? 1 : std::nan(""));
  base.ratio_low = base.ratio_high = base.ratio;
}

void add_ratios(const BenchSelection& s, figure::ScalingFigure& figure) {
  std::vector<figure::ScalingSeries>& series = figure.series;
  add_own_ratios(series.front());
  const auto comparisons = compare_operators(s.cases, s.operators.front());
  figure.ratio_coverage = ratio_coverage(comparisons);
  for (const CaseComparison& c : comparisons) {
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

/// The highest of a ceiling that was measured beside any of the cases drawn; 0 for none.
double highest(const BenchSelection& s, double MeasuredCase::*ceiling) {
  double value = 0;
  for (const MeasuredCase& c : s.cases) {
    if (std::isfinite(c.*ceiling)) value = std::max(value, c.*ceiling);
  }
  return value;
}

/// The length that all of them have; 0 where they differ or there are none.
std::int64_t common_length(const std::vector<const MeasuredCase*>& cases) {
  std::int64_t length = 0;
  for (const MeasuredCase* c : cases) {
    if (c == nullptr) continue;
    if (length != 0 && length != c->labels.seq_len) return 0;
    length = c->labels.seq_len;
  }
  return length;
}

/// What is wrong with the roof, as the end of a caption.
const char* peak_caption(double peak, double best) {
  if (best == 0) return "";
  if (peak == 0) return ". The machine's multiply-add peak was not measured: there is no roof";
  if (best <= peak) return "";
  return ". A kernel is above the multiply-add peak: the peak was measured while something else "
         "held the machine, and is no roof";
}

/// Where a kernel is faster than memory alone allows, as the end of a caption: no fault.
const char* slope_caption(const std::vector<const MeasuredCase*>& cases, double bandwidth) {
  const auto above = [&](const MeasuredCase* c) {
    return c != nullptr && c->bytes / c->time > bandwidth;
  };
  if (bandwidth == 0 || std::none_of(cases.begin(), cases.end(), above)) return "";
  return ". A kernel is above the slope: caches hold its inputs from run to run";
}

}  // namespace

std::vector<std::string> label_values(const std::vector<MeasuredCase>& cases,
                                      const std::string& label) {
  const CaseAxis& axis = axis_named(label);
  std::vector<std::string> values;
  for (const MeasuredCase& c : cases) {
    const std::string value = label_of(c.labels, axis);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

BenchSelection select_cases(std::vector<MeasuredCase> cases,
                            std::vector<MeasuredExponent> exponents,
                            const std::map<std::string, std::string>& keys) {
  BenchSelection s;
  s.cases = std::move(cases);
  s.exponents = std::move(exponents);
  s.operators = chosen_operators(s, value_of(keys, "operators"));
  for (const CaseAxis& axis : place_axes()) narrow(s, keys, axis);
  s.place = s.cases.front().labels;
  return s;
}

figure::ScalingFigure scaling_figure(const BenchSelection& s) {
  figure::ScalingFigure figure;
  for (const std::string& name : s.operators) figure.series.push_back(series_of(s, name));
  figure.coverage = time_coverage(s.cases);
  add_ratios(s, figure);
  const std::vector<std::string> titles = titles_of(s.operators);
  for (std::size_t i = 0; i < titles.size(); ++i) figure.series[i].name = titles[i];
  figure.caption = place_caption(s.place);
  return figure;
}

std::vector<const MeasuredCase*> roofline_cases(const BenchSelection& s) {
  std::vector<const MeasuredCase*> longest(s.operators.size(), nullptr);
  for (const MeasuredCase& c : s.cases) {
    const auto place = std::find(s.operators.begin(), s.operators.end(), c.labels.operation);
    if (place == s.operators.end() || !std::isfinite(c.time)) continue;
    longest[static_cast<std::size_t>(place - s.operators.begin())] = &c;
  }
  return longest;
}

figure::RooflineFigure roofline_figure(const BenchSelection& s) {
  figure::RooflineFigure figure;
  const std::vector<const MeasuredCase*> cases = roofline_cases(s);
  const std::int64_t length = common_length(cases);
  const std::vector<std::string> titles = titles_of(s.operators);
  double best = 0;
  for (const MeasuredCase* c : cases) {
    const std::string& title = titles[figure.points.size()];
    figure.points.emplace_back();
    if (c == nullptr) continue;
    const Case& labels = c->labels;
    figure.points.back() = {length > 0 ? title : fmt::format("{}, n = {}", title, labels.seq_len),
                            intensity(*c), c->flops / c->time, c->flops / c->time_high,
                            c->flops / c->time_low};
    best = std::max(best, c->flops / c->time);
  }
  figure.coverage = time_coverage(s.cases);
  const double peak = highest(s, &MeasuredCase::peak_flops);
  const double bandwidth = highest(s, &MeasuredCase::bandwidth);
  figure.peaks.push_back({"multiply-add", peak, best <= peak});
  figure.bandwidths.push_back({"memory", bandwidth});
  figure.caption = place_caption(s.place) + (length > 0 ? fmt::format(", n = {}", length) : "") +
                   peak_caption(peak, best) + slope_caption(cases, bandwidth);
  return figure;
}

}  // namespace conelab
