// Figures `scaling` and `ratio` from a result of `bench`.
#include <cmath>

#include "app/call_json.h"
#include "app/figure_request.h"
#include "app/labelled_view.h"
#include "core/base/error.h"
#include "core/files/bench_file.h"

namespace conelab {
namespace {

struct Bench {
  std::string file;
  LabelledFile content;
  const LabelledArray* runtime;

  explicit Bench(const std::string& path) : file(path), content(read_labelled_file(path)) {
    runtime = content.group("bench/runtime");
    if (!runtime) fail("{}: there is no group /bench/runtime (expected a result of `bench`)", path);
  }
};

/// The place that the request names: its pass and device; elsewhere the first label.
Place chosen_place(const Bench& bench, const FigureRequest& request) {
  Place place;
  for (const char* axis : {"pass", "device"}) {
    place[axis] = label_index(axis_of(*bench.runtime, axis, bench.file), request.value(axis));
  }
  return place;
}

std::vector<std::string> chosen_operators(const Bench& bench, const FigureRequest& request) {
  const std::string names = request.value("operators");
  if (!names.empty()) return split_list(names, "-p operators");
  return axis_labels(axis_of(*bench.runtime, "operator", bench.file));
}

void add_exponent(figure::ScalingSeries& series, const Bench& bench, const Place& place) {
  const LabelledArray* fit = bench.content.group("bench/fit");
  if (!fit || !fit->variable("exponent")) return;
  const auto at = [&](const char* name) { return number_at(*fit, name, place, bench.file); };
  if (!std::isfinite(at("exponent"))) return;
  series.exponent = at("exponent");
  series.exponent_low = at("exponent_low");
  series.exponent_high = at("exponent_high");
}

/// Cases that were skipped have NaN times; the figure leaves them out.
figure::ScalingSeries series_of(const Bench& bench, const std::string& name, Place place) {
  figure::ScalingSeries series;
  series.name = name;
  place["operator"] = label_index(axis_of(*bench.runtime, "operator", bench.file), name);
  add_exponent(series, bench, place);
  const std::vector<std::string> lengths =
      axis_labels(axis_of(*bench.runtime, "seq_len", bench.file));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    place["seq_len"] = i;
    const auto at = [&](const char* variable) {
      return number_at(*bench.runtime, variable, place, bench.file);
    };
    series.x.push_back(std::stod(lengths[i]));
    series.y.push_back(at("time"));
    series.low.push_back(at("time_low"));
    series.high.push_back(at("time_high"));
  }
  return series;
}

/// "forward on cpu, f32, 2 threads, d = 64, 8 heads"
std::string place_caption(const Bench& bench, const Place& place) {
  const auto label = [&](const char* axis) {
    const auto at = place.find(axis);
    return axis_labels(axis_of(*bench.runtime, axis, bench.file))
        .at(at == place.end() ? 0 : at->second);
  };
  return fmt::format("{} on {}, {}, {} thread(s), d = {}, {} head(s)", label("pass"),
                     label("device"), label("dtype"), label("threads"), label("dim"),
                     label("head"));
}

}  // namespace

figure::ScalingFigure read_scaling(const FigureRequest& request) {
  const Bench bench(request.single_input());
  const Place place = chosen_place(bench, request);
  figure::ScalingFigure figure;
  for (const std::string& name : chosen_operators(bench, request)) {
    figure.series.push_back(series_of(bench, name, place));
  }
  figure.caption = place_caption(bench, place);
  return figure;
}

}  // namespace conelab
