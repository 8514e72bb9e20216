// The figures of cones and of trees of tokens.
#include <cmath>

#include "core/base/error.h"
#include "core/figure/figure_table.h"
#include "core/geometry/cone_family.h"
#include "core/geometry/lca_query.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

const std::string* text_of(const Parameters& p, const std::string& key) {
  const auto found = p.find(key);
  return found == p.end() || found->second.empty() ? nullptr : &found->second;
}

double number_of(const std::string& key, const std::string& text) {
  const double value = number(key, text);
  if (!std::isfinite(value)) misuse("-p {}={}: not a number", key, text);
  return value;
}

bool yes_or_no(const std::string& key, const std::string& text) {
  if (text != "yes" && text != "no") misuse("-p {}={}: expected yes or no", key, text);
  return text == "yes";
}

void read_point(const Parameters& p, const std::string& key, std::optional<Vector>& point) {
  const std::string* text = text_of(p, key);
  if (text == nullptr) return;
  const std::string* model = text_of(p, "points");
  const geometry::Model from =
      model == nullptr ? geometry::Model::halfspace : geometry::model_from_name(*model);
  const Vector x = geometry::parse_point(*text, key);
  const geometry::ModelPoint checked = geometry::point(from, x, key);
  if (checked.dimension() != 2) {
    misuse("-p {}={}: expected x,height (a point of the plane)", key, *text);
  }
  point = geometry::convert(checked, geometry::Model::halfspace).x;
}

TreeFigure tree_of(const FigureInput& input) {
  TreeFigure figure;
  figure.tree = input.tree;
  figure.tokens = input.tokens;
  figure.cone = input.cone;
  figure.caption = input.caption;
  return figure;
}

}  // namespace

void set_parameters(const Parameters& p, ConesFigure& f) {
  if (const auto* cone = text_of(p, "cone")) f.cone = *cone;
  const geometry::ConeFamily& family = geometry::cone_family(f.cone);
  if (const auto* model = text_of(p, "model")) f.model = geometry::model_from_name(*model);
  read_point(p, "u", f.u);
  read_point(p, "v", f.v);
  read_point(p, "source", f.source);
  const auto* points = text_of(p, "points");
  if (points != nullptr && *points != "halfspace" && !f.u && !f.v && !f.source) {
    misuse("-p points={}: says which model u, v and source are of; give one of them", *points);
  }
  for (const geometry::ConeFamily* known : geometry::cone_families()) {
    for (const ParameterInfo& info : known->parameters) {
      if (const auto* text = text_of(p, info.key))
        f.parameters[info.key] = number_of(info.key, *text);
    }
  }
  (void)geometry::family_values(family, f.parameters);
  if (const auto* text = text_of(p, "levels")) {
    const double levels = number_of("levels", *text);
    if (!(levels >= 0 && levels <= 100 && levels == std::floor(levels))) {
      misuse("-p levels={}: expected a whole number from 0 to 100", *text);
    }
    f.levels = static_cast<int>(levels);
  }
  if (const auto* text = text_of(p, "ancestors")) f.ancestors = yes_or_no("ancestors", *text);
  if (const auto* text = text_of(p, "caption")) f.caption = *text;
}

void set_parameters(const Parameters& p, ExplanationFigure& f) {
  if (const auto* cone = text_of(p, "cone")) f.cone = *cone;
  if (const auto* text = text_of(p, "caption")) f.caption = *text;
}

void set_parameters(const Parameters& p, TreeFigure& f) {
  if (const auto* text = text_of(p, "segmentation"))
    f.segmentation = yes_or_no("segmentation", *text);
  if (const auto* text = text_of(p, "caption")) f.caption = *text;
}

DisplayList make_cones(const FigureInput& input) {
  return finished(ConesFigure(), input, draw_cones);
}

DisplayList make_models(const FigureInput& input) {
  ConesFigure cones;
  cones.width = double_column;
  return finished(std::move(cones), input, draw_models);
}

DisplayList make_finite_to_infinite(const FigureInput& input) {
  return finished(ExplanationFigure(), input, draw_finite_to_infinite);
}

DisplayList make_convexity(const FigureInput& input) {
  return finished(ExplanationFigure(), input, draw_convexity);
}

DisplayList make_lub(const FigureInput& input) {
  return finished(ExplanationFigure(), input, draw_lub);
}

DisplayList make_tree(const FigureInput& input) {
  return finished(tree_of(input), input, draw_tree);
}

DisplayList make_hasse(const FigureInput& input) {
  return finished(tree_of(input), input, draw_hasse);
}

}  // namespace conelab::figure
