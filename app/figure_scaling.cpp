// Figures `scaling`, `ratio` and `roofline` from a result file of `bench`.
#include <string>

#include "app/figure_request.h"
#include "core/bench/figures.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

BenchSelection select(const FigureRequest& request) {
  const std::string& name = request.single_input();
  const LabelledFile file = read_labelled_file_sandboxed(name, {.cancelled = request.cancelled});
  std::map<std::string, std::string> keys;
  for (const figure::TemplateKey& row : figure::figure_template(request.name).keys) {
    if (row.data) keys[row.key] = request.value(row.key);
  }
  return select_cases(measured_cases(file, name), measured_exponents(file, name), keys);
}

}  // namespace

figure::ScalingFigure read_scaling(const FigureRequest& request) {
  return scaling_figure(select(request));
}

figure::RooflineFigure read_roofline(const FigureRequest& request) {
  return roofline_figure(select(request));
}

}  // namespace conelab
