#include "core/figure/geometry_templates.h"

#include <cmath>

#include "core/base/error.h"
#include "core/figure/templates.h"
#include "core/geometry/cone_family.h"
#include "core/geometry/lca_query.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

const TemplateKey caption_key = {"caption", "", "text under the figure"};

/// What `cones` and `models` share.
std::vector<TemplateKey> cone_keys() {
  static const std::string names = geometry::cone_family_names("|");
  return {
      {"cone", "penumbral", "family of the cones", false, names.c_str()},
      {"u", "", "first point, x,height of the half-plane unless `points` says otherwise"},
      {"v", "", "second point"},
      {"source", "", "finite families: where the light is; default: the models' origin"},
      {"points", "halfspace", "model of u, v and source: halfspace, ball, klein, band, hyperboloid",
       false, "halfspace|ball|klein|band|hyperboloid"},
      {"height", "", "penumbral: height of the light's horosphere (1)"},
      {"radius", "", "umbral: hyperbolic radius of the objects (0.4, so that they are seen)"},
      {"source_radius", "", "penumbral-finite: radius of the light (0.5)"},
      {"object_radius", "", "umbral-finite: radius of the objects (0.3)"},
      {"K", "", "ganea: constant of the half-aperture (0.1)"},
      {"levels", "0", "how many level lines of the similarity with u"},
      {"ancestors", "yes", "yes or no: the region of common ancestors", false, "yes|no"},
      caption_key,
  };
}

std::vector<TemplateKey> with_model(std::vector<TemplateKey> keys) {
  keys.insert(keys.begin() + 1,
              {"model", "halfspace", "halfspace, ball, klein, hyperboloid or band", false,
               "halfspace|ball|klein|hyperboloid|band"});
  return keys;
}

std::vector<TemplateKey> tree_keys() {
  return {{"batch", "0", "which batch element", true},
          {"head", "0", "which head", true},
          {"similarity", "penumbral",
           "of a trace: which operator, with parameters as penumbral:gamma=2", true},
          {"tokens", "key", "of a trace: key or query", true, "key|query"},
          caption_key};
}

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

}  // namespace

const std::vector<TemplateInfo>& geometry_templates() {
  static const std::vector<TemplateInfo> rows = {
      {"cones", "shadow cones of two points and their lowest common ancestor, any family and model",
       "", "single", with_model(cone_keys())},
      {"models", "the same cones in half-plane, ball, Klein ball, hyperboloid and band", "",
       "double", cone_keys()},
      {"finite-to-infinite",
       "a finite light recedes and its cones become the infinite ones",
       "",
       "double",
       {{"cone", "penumbral", "penumbral or umbral", false, "penumbral|umbral"}, caption_key}},
      {"convexity",
       "a geodesic leaves an umbral cone and stays in a penumbral one",
       "",
       "double",
       {caption_key}},
      {"lub",
       "the lowest common ancestor is the least upper bound for d = 2, not for d = 3",
       "",
       "double",
       {caption_key}},
      {"tree", "dendrogram of a head's tokens by LCA depth, and its segmentation",
       "a result of `tree`, or a trace (q, k, v)", "double",
       [] {
         std::vector<TemplateKey> keys = tree_keys();
         keys.insert(keys.begin() + 2,
                     {"segmentation", "yes", "yes or no: the lower panel", false, "yes|no"});
         return keys;
       }()},
      {"hasse", "ancestor order of a head's tokens (cone families)",
       "a result of `tree`, or a trace (q, k, v)", "double", tree_keys()},
  };
  return rows;
}

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

}  // namespace conelab::figure
