// The rows of the table of figures that belong to geometry and trees, and their parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/figure/cones.h"
#include "core/figure/explanations.h"
#include "core/figure/tree_figure.h"

namespace conelab::figure {

struct TemplateInfo;

/// Returns the rows cones, models, finite-to-infinite, convexity, lub, tree and hasse, which become
/// part of `figure_templates` (templates.h).
[[nodiscard]] const std::vector<TemplateInfo>& geometry_templates();

// These functions set what concerns the appearance and ignore keys of the data. They throw misuse
// for values that cannot be parsed and for parameters that the cone family does not have.
void set_parameters(const std::map<std::string, std::string>& parameters, ConesFigure& figure);
void set_parameters(const std::map<std::string, std::string>& parameters,
                    ExplanationFigure& figure);
void set_parameters(const std::map<std::string, std::string>& parameters, TreeFigure& figure);

}  // namespace conelab::figure
