// Figure `training`: the loss, or the attention on ancestors, against the steps of training, one
// curve for each head of a result of `train` that kept snapshots.

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/figure/figure_input.h"
#include "core/figure/scaling.h"
#include "core/job/read_result.h"
#include "core/source/figure_request.h"

namespace conelab {

void read_training(const FigureRequest& request, figure::FigureInput& input);
void read_training(const FigureRequest& request, figure::FigureInput& input) {
  const std::string measure = request.value("measure");
  std::vector<figure::ScalingSeries> curves;
  for (const std::string& path : request.inputs) {
    std::string head;
    const LabelledFile file = read_result(path, request.context);
    for (const auto& [name, group] : file.groups) {
      const auto* step = find_attribute<double>(group.attributes, "step");
      const auto* value = find_attribute<double>(group.attributes, measure);
      const std::size_t slash = name.rfind("/step");
      if (step == nullptr || value == nullptr || slash == std::string::npos) continue;
      if (std::exchange(head, name.substr(0, slash)) != name.substr(0, slash)) {
        curves.push_back({.name = head,
                          .x = {},
                          .y = {},
                          .low = {},
                          .high = {},
                          .exponent = {},
                          .exponent_low = {},
                          .exponent_high = {}});
      }
      curves.back().x.push_back(*step);
      curves.back().y.push_back(*value);
    }
    if (head.empty())
      fail("{}: has no snapshots (expected a result of train -p snapshots=N)", path);
  }
  input.own = std::move(curves);
}

}  // namespace conelab

namespace conelab::figure {

DisplayList make_training(const FigureInput& input);
DisplayList make_training(const FigureInput& input) {
  ScalingFigure figure;
  figure.guides.clear();
  figure.coverage = 0;
  figure.series = std::any_cast<const std::vector<ScalingSeries>&>(input.own);
  figure.x_title = "step";
  const std::string* measure = text_of(input.parameters, "measure");
  const bool mass = measure != nullptr && *measure == "mass";
  figure.y_title = mass ? "attention on ancestors" : "loss";
  figure.caption =
      fmt::format("{} against the steps of training; {}", mass ? "Attention on ancestors" : "Loss",
                  counted(figure.series.size(), "head"));
  FigureInput page = input;
  if (page.metadata.title.empty()) page.metadata.title = "Training of heads";
  return finished(std::move(figure), page, draw_scaling);
}

}  // namespace conelab::figure
