// The geometric figures' rows of the table of figures, and their keys.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/figure/cones.h"
#include "core/figure/explanations.h"
#include "core/figure/tree_figure.h"

namespace conelab::figure {

struct TemplateInfo;

/// Rows of `figure_templates` (templates.h): cones, models, finite-to-infinite, convexity, lub,
/// tree, hasse.
[[nodiscard]] const std::vector<TemplateInfo>& geometry_templates();

// Sets what concerns the look; data keys are passed over. Throws misuse for values that do not
// read, and for parameters that the cone family does not take.
void set_parameters(const std::map<std::string, std::string>& parameters, ConesFigure& figure);
void set_parameters(const std::map<std::string, std::string>& parameters,
                    ExplanationFigure& figure);
void set_parameters(const std::map<std::string, std::string>& parameters, TreeFigure& figure);

}  // namespace conelab::figure
