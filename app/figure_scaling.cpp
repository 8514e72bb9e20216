// Figures `scaling`, `ratio` and `roofline` from a result of `bench`.
#include <algorithm>
#include <cmath>
#include <string>

#include "app/bench_results.h"
#include "app/call_json.h"
#include "app/figure_request.h"
#include "core/base/error.h"

namespace conelab {
namespace {

/// The place that the request names: its pass and device; elsewhere the first label.
Place chosen_place(const BenchResults& bench, const FigureRequest& request) {
  Place place;
  for (const char* axis : {"pass", "device"}) {
    place[axis] = bench.position(axis, request.value(axis));
  }
  return place;
}

std::vector<std::string> chosen_operators(const BenchResults& bench, const FigureRequest& request) {
  const std::string names = request.value("operators");
  return names.empty() ? bench.labels("operator") : split_list(names, "-p operators");
}

void add_exponent(figure::ScalingSeries& series, const BenchResults& bench, const Place& place) {
  const LabelledArray* fit = bench.content.group("bench/fit");
  if (!fit) return;
  const auto at = [&](const char* name) { return number_at(*fit, name, place, bench.file); };
  if (!std::isfinite(at("exponent"))) return;
  series.exponent = at("exponent");
  series.exponent_low = at("exponent_low");
  series.exponent_high = at("exponent_high");
}

/// Cases that were skipped have NaN times; the figure leaves them out.
figure::ScalingSeries series_of(const BenchResults& bench, const std::string& name, Place place) {
  figure::ScalingSeries series;
  series.name = name;
  place["operator"] = bench.position("operator", name);
  add_exponent(series, bench, place);
  const std::vector<std::string> lengths = bench.labels("seq_len");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    place["seq_len"] = i;
    series.x.push_back(std::stod(lengths[i]));
    series.y.push_back(bench.number("time", place));
    series.low.push_back(bench.number("time_low", place));
    series.high.push_back(bench.number("time_high", place));
  }
  return series;
}

/// "forward, cpu, f32, 2 threads, d = 64, 8 heads"
std::string place_caption(const BenchResults& bench, const Place& place) {
  const auto label = [&](const char* axis) {
    const auto at = place.find(axis);
    return bench.labels(axis).at(at == place.end() ? 0 : at->second);
  };
  const auto counted = [](const std::string& count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == "1" ? "" : "s");
  };
  return fmt::format("{}, {}, {}, {}, d = {}, {}", label("pass"), label("device"), label("dtype"),
                     counted(label("threads"), "thread"), label("dim"),
                     counted(label("head"), "head"));
}

/// The longest sequence of an operator that was measured, as a point under the roof.
figure::RooflinePoint point_of(const BenchResults& bench, const std::string& name, Place place) {
  place["operator"] = bench.position("operator", name);
  figure::RooflinePoint point;
  const std::vector<std::string> lengths = bench.labels("seq_len");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    place["seq_len"] = i;
    const double time = bench.number("time", place);
    const double flops = bench.number("flops", place);
    if (!std::isfinite(time)) continue;
    point = {fmt::format("{}, n = {}", name, lengths[i]), flops / bench.number("bytes", place),
             flops / time, flops / bench.number("time_high", place),
             flops / bench.number("time_low", place)};
  }
  return point;
}

/// The highest peak that was measured beside any of the cases drawn.
double measured_peak(const BenchResults& bench, const std::vector<std::string>& operators,
                     Place place) {
  double peak = 0;
  for (const std::string& name : operators) {
    place["operator"] = bench.position("operator", name);
    for (std::size_t i = 0; i < bench.labels("seq_len").size(); ++i) {
      place["seq_len"] = i;
      const double measured = bench.number("peak_flops", place);
      if (std::isfinite(measured)) peak = std::max(peak, measured);
    }
  }
  return peak;
}

}  // namespace

figure::ScalingFigure read_scaling(const FigureRequest& request) {
  const BenchResults bench(request.single_input());
  const Place place = chosen_place(bench, request);
  figure::ScalingFigure figure;
  for (const std::string& name : chosen_operators(bench, request)) {
    figure.series.push_back(series_of(bench, name, place));
  }
  figure.caption = place_caption(bench, place);
  return figure;
}

figure::RooflineFigure read_roofline(const FigureRequest& request) {
  const BenchResults bench(request.single_input());
  const Place place = chosen_place(bench, request);
  const std::vector<std::string> operators = chosen_operators(bench, request);
  figure::RooflineFigure figure;
  figure.peaks.push_back({"multiply-add", measured_peak(bench, operators, place)});
  for (const std::string& name : operators) figure.points.push_back(point_of(bench, name, place));
  figure.caption = place_caption(bench, place);
  return figure;
}

}  // namespace conelab
