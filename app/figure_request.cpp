#include "app/figure_request.h"

#include <algorithm>
#include <iterator>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/sha256.h"
#include "core/files/read_tensors.h"

namespace conelab {
namespace {

template <class Figure>
figure::DisplayList finished(Figure figure, const FigureRequest& request,
                             figure::DisplayList (*draw)(const Figure&)) {
  figure::set_parameters(request.parameters, figure);
  if (request.width > 0) figure.width = request.width;
  figure.metadata.version = version();
  figure.metadata.spec = request.spec;
  if (!request.inputs.empty()) {
    figure.metadata.data_hash =
        sha256_of_file(parse_input_spec(request.inputs.front()).path, request.cancelled);
  }
  return draw(figure);
}

using figure::DisplayList;

/// A figure whose numbers are read from its input.
template <auto read, auto draw>
DisplayList from_input(const FigureRequest& request) {
  return finished(read(request), request, draw);
}

/// A figure that needs none.
template <class Figure, auto draw>
DisplayList alone(const FigureRequest& request) {
  return finished(Figure{}, request, draw);
}

DisplayList ratio(const FigureRequest& request) {
  figure::ScalingFigure scaling = read_scaling(request);
  scaling.ratio_only = true;
  return finished(std::move(scaling), request, figure::draw_scaling);
}

DisplayList models(const FigureRequest& request) {
  figure::ConesFigure cones;
  cones.width = figure::double_column;
  return finished(std::move(cones), request, figure::draw_models);
}

/// How each figure of core's table is drawn.
struct Row {
  const char* name;
  DisplayList (*draw)(const FigureRequest&);
};
using Explanation = figure::ExplanationFigure;
constexpr Row rows[] = {{"heatmap", from_input<read_heatmap, figure::draw_heatmap>},
                        {"arcs", from_input<read_arcs, figure::draw_arcs>},
                        {"scaling", from_input<read_scaling, figure::draw_scaling>},
                        {"ratio", ratio},
                        {"roofline", from_input<read_roofline, figure::draw_roofline>},
                        {"tree", from_input<read_tree, figure::draw_tree>},
                        {"hasse", from_input<read_tree, figure::draw_hasse>},
                        {"cones", alone<figure::ConesFigure, figure::draw_cones>},
                        {"models", models},
                        {"finite-to-infinite", alone<Explanation, figure::draw_finite_to_infinite>},
                        {"convexity", alone<Explanation, figure::draw_convexity>},
                        {"lub", alone<Explanation, figure::draw_lub>}};

}  // namespace

std::string FigureRequest::value(const std::string& key) const {
  if (const auto given = parameters.find(key); given != parameters.end()) return given->second;
  for (const figure::TemplateKey& row : figure::figure_template(name).keys) {
    if (row.key == key) return row.initial;
  }
  return "";
}

std::size_t FigureRequest::index(const std::string& key) const {
  const std::string text = value(key);
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number || *number < 0) misuse("-p {}={}: expected a whole number from 0", key, text);
  return static_cast<std::size_t>(*number);
}

const std::string& FigureRequest::single_input() const {
  if (inputs.size() != 1) {
    misuse("figure {} takes one --input: {} (found {})", name, figure::figure_template(name).input,
           inputs.size());
  }
  return inputs.front();
}

std::vector<std::string> drawn_figures() {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

figure::DisplayList draw_figure(const FigureRequest& request) {
  const figure::TemplateInfo& info = figure::figure_template(request.name);
  figure::check_keys(info, request.parameters);
  if (*info.input == '\0' && !request.inputs.empty()) {
    misuse("figure {} takes no --input", request.name);
  }
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const Row& each) { return request.name == each.name; });
  if (row == std::end(rows)) fail("figure {}: this program cannot draw it", request.name);
  return row->draw(request);
}

}  // namespace conelab
