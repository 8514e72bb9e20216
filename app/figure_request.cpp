#include "app/figure_request.h"

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/sha256.h"

namespace conelab {
namespace {

/// FILE of "FILE:/group".
std::string file_of(const std::string& input) { return input.substr(0, input.find(":/")); }

template <class Figure>
figure::DisplayList finished(Figure figure, const FigureRequest& request,
                             figure::DisplayList (*draw)(const Figure&)) {
  figure::set_parameters(request.parameters, figure);
  if (request.width > 0) figure.width = request.width;
  figure.metadata.version = CONELAB_VERSION;
  figure.metadata.spec = request.spec;
  if (!request.inputs.empty()) {
    figure.metadata.data_hash = sha256_of_file(file_of(request.inputs.front()), request.cancelled);
  }
  return draw(figure);
}

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

figure::DisplayList draw_figure(const FigureRequest& request) {
  const figure::TemplateInfo& info = figure::figure_template(request.name);
  figure::check_keys(info, request.parameters);
  if (request.name == "heatmap") {
    return finished(read_heatmap(request), request, figure::draw_heatmap);
  }
  if (request.name == "arcs") return finished(read_arcs(request), request, figure::draw_arcs);
  if (request.name == "scaling" || request.name == "ratio") {
    figure::ScalingFigure scaling = read_scaling(request);
    scaling.ratio_only = request.name == "ratio";
    return finished(std::move(scaling), request, figure::draw_scaling);
  }
  if (request.name == "roofline") {
    return finished(read_roofline(request), request, figure::draw_roofline);
  }
  if (request.name == "tree") return finished(read_tree(request), request, figure::draw_tree);
  if (request.name == "hasse") return finished(read_tree(request), request, figure::draw_hasse);
  if (!request.inputs.empty()) misuse("figure {} takes no --input", request.name);
  if (request.name == "models") {
    figure::ConesFigure models;
    models.width = figure::double_column;
    return finished(std::move(models), request, figure::draw_models);
  }
  using Explanation = figure::ExplanationFigure;
  if (request.name == "finite-to-infinite") {
    return finished(Explanation{}, request, figure::draw_finite_to_infinite);
  }
  if (request.name == "convexity") return finished(Explanation{}, request, figure::draw_convexity);
  if (request.name == "lub") return finished(Explanation{}, request, figure::draw_lub);
  return finished(figure::ConesFigure{}, request, figure::draw_cones);
}

}  // namespace conelab
