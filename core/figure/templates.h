// The figures by name: what each shows, what it reads, and the keys it takes.
//
// The one table of figures: `conelab list figures`, `conelab figure NAME` and the desktop's menu
// fold over it. Keys that change the look are applied here; keys that choose data (`data` true)
// are for whoever reads the input.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/figure/arcs.h"
#include "core/figure/heatmap.h"
#include "core/figure/roofline.h"
#include "core/figure/scaling.h"

namespace conelab::figure {

struct TemplateKey {
  const char* key;
  const char* initial;  ///< The default as it would be written; empty: from the input.
  const char* about;
  bool data = false;         ///< Chooses what is read rather than how it looks.
  const char* choices = "";  ///< "weights|logits": the only values there are; empty: any.
};

struct TemplateInfo {
  const char* name;
  const char* about;
  const char* input;  ///< What --input holds; empty where the figure needs none.
  const char* width;  ///< The preset it is drawn at.
  std::vector<TemplateKey> keys;
};

[[nodiscard]] const std::vector<TemplateInfo>& figure_templates();
/// By name; misuse with the nearest known name otherwise.
[[nodiscard]] const TemplateInfo& figure_template(const std::string& name);

/// `-p KEY=VALUE` as text.
using Parameters = std::map<std::string, std::string>;

/// Throws misuse, naming the keys that the figure takes, where one is not among them.
void check_keys(const TemplateInfo& info, const Parameters& parameters);

/// The number that is all of `text`; misuse, naming the key, for anything else.
[[nodiscard]] double number(const std::string& key, std::string_view text);

// Sets what concerns the look (geometric figures: geometry_templates.h); data keys are passed over.
// Throws misuse for values that do not read.
void set_parameters(const Parameters& parameters, HeatmapFigure& figure);
void set_parameters(const Parameters& parameters, ArcsFigure& figure);
void set_parameters(const Parameters& parameters, ScalingFigure& figure);
void set_parameters(const Parameters& parameters, RooflineFigure& figure);

}  // namespace conelab::figure
