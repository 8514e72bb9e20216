// Figures `scaling`, `ratio` and `roofline` from a result file of `bench`.
#include <algorithm>
#include <string>

#include "app/figure_request.h"
#include "app/labelled_view.h"
#include "core/bench/figures.h"
#include "core/bench/parts.h"

namespace conelab {
namespace {

BenchSelection select(const FigureRequest& request) {
  const std::string& name = request.single_input();
  Parts::check_finished(name);
  const LabelledFile file = read_result(name, request.cancelled);
  std::vector<MeasuredCase> cases = measured_cases(file, name);
  std::map<std::string, std::string> keys;
  for (const figure::TemplateKey& row : figure::figure_template(request.name).keys) {
    if (!row.data) continue;
    std::string& value = keys[row.key] = request.value(row.key);
    if (value.empty() || request.parameters.count(row.key) != 0) continue;
    // A usual value that the file has no case of gives way to one that it has.
    const std::vector<std::string> known = label_values(cases, row.key);
    if (std::find(known.begin(), known.end(), value) == known.end()) value.clear();
  }
  return select_cases(std::move(cases), measured_exponents(file, name), keys);
}

}  // namespace

figure::ScalingFigure read_scaling(const FigureRequest& request) {
  return scaling_figure(select(request));
}

figure::RooflineFigure read_roofline(const FigureRequest& request) {
  return roofline_figure(select(request));
}

}  // namespace conelab
