#include "widgets/explorer/cone_scene.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/drawing/axes.h"
#include "core/drawing/text.h"
#include "core/geometry/distance.h"

namespace conelab::desktop {
namespace {

using geometry::Model;
using geometry::Vector;

Vector vector(const std::array<double, 2>& p) { return Eigen::Vector2d(p[0], p[1]); }
geometry::ModelPoint place_of(const std::array<double, 2>& p, const char* label) {
  return geometry::point(Model::halfspace, vector(p), label);
}

geometry::ConeSystem system_of(const ConeChoice& c) {
  geometry::ConeSystem system = geometry::cone_system(c.family, own_parameters(c));
  return system.infinite() ? system : geometry::with_source(system, place_of(c.source, "source"));
}

LawPoint law_point(const geometry::ConeSystem& system, const geometry::Element& e) {
  const double axis = system.infinite() ? e.axis[0] : std::atan2(e.axis[1], e.axis[0]);
  return {axis, e.shadow, e.radial};
}

std::string number(double value) { return fmt::format("{:.12g}", value); }
std::string point_text(double x, double y) { return number(x) + ", " + number(y); }
std::string point_text(const std::array<double, 2>& p) { return point_text(p[0], p[1]); }
/// Returns a point as commands take it, with all digits.
std::string point_word(double x, double y) { return fmt::format("{},{}", x, y); }
std::string point_word(const std::array<double, 2>& p) { return point_word(p[0], p[1]); }

/// Returns the ball's coordinates of a point that is seen from the source, which lies at its
/// origin.
Vector from_source(const ConeChoice& choice, double x, double y) {
  const double sx = choice.source[0], sy = choice.source[1];
  return geometry::convert(Vector(Eigen::Vector2d((x - sx) / sy, y / sy)), Model::halfspace,
                           Model::ball);
}

constexpr double snap_reach = 9;  ///< Pixels within which another point attracts.

}  // namespace

std::string exact_text(double value) { return number(value); }

std::map<std::string, double> own_parameters(const ConeChoice& choice) {
  std::map<std::string, double> own;
  for (const ParameterInfo& info : geometry::cone_family(choice.family).parameters) {
    const auto found = choice.parameters.find(info.key);
    if (found != choice.parameters.end()) own.insert(*found);
  }
  return own;
}

ConeScene cone_scene(const ConeChoice& choice) {
  ConeScene scene;
  try {
    scene.system = system_of(choice);
    scene.infinite = scene.system.infinite();
    scene.penumbral = scene.system.family->penumbral;
    scene.parameter = scene.system.family->extent(scene.system.values);
    scene.largest_shadow = scene.system.family->largest_shadow(scene.system.values);
    const geometry::Element u = geometry::element(scene.system, place_of(choice.u, "u"), "u");
    const geometry::Element v = geometry::element(scene.system, place_of(choice.v, "v"), "v");
    scene.u = law_point(scene.system, u), scene.v = law_point(scene.system, v);
    scene.law = geometry::lca(scene.system, u, v);
    scene.distance = geometry::distance(place_of(choice.u, "u"), place_of(choice.v, "v"));
    scene.measure = geometry::depth_measure(choice.depth);
    scene.similarity = geometry::depth_of(scene.system, scene.law.radial, scene.measure);
    if (const auto* other = other_similarity(choice)) {
      scene.other = figure::similarity_of(other->similarity, vector(choice.u).head<2>(),
                                          vector(choice.v).head<2>());
    }
    scene.potential_u = geometry::potential(scene.system, u.shadow);
    scene.potential_v = geometry::potential(scene.system, v.shadow);
    if (scene.law.place) {
      scene.lca = law_point(scene.system, *scene.law.place);
      const Vector x = geometry::place(scene.system, *scene.law.place, Model::halfspace).x;
      scene.lca_place = PlanePoint{x[0], x[1]};
    }
  } catch (const Error& error) {
    scene.error = error.what();
  }
  return scene;
}

std::vector<std::string> families_of(const ConeChoice& choice) {
  std::vector<std::string> families = {choice.family};
  for (const std::string& family : choice.beside) {
    add_once(families, family);
  }
  return families;
}

bool finite_family(const ConeChoice& choice) {
  return geometry::cone_family(choice.family).base == geometry::Base::sphere;
}

const figure::PlaneSimilarityInfo* other_similarity(const ConeChoice& choice) {
  return figure::plane_similarity(choice.similarity);
}

std::string similarity_name(const ConeScene& scene, const char* pair) {
  const bool distance = scene.infinite && scene.measure == geometry::DepthMeasure::distance;
  return fmt::format("log K({}){}", pair, distance ? " by distance" : "");
}

NamedNumbers cone_readout(const ConeChoice& choice, const ConeScene& scene) {
  if (!scene.error.empty()) return {{"outside", scene.error}};
  // Points are typed and told in the half-plane, whatever model is drawn.
  const std::string in = choice.model == cone_models[0] ? "" : " in the half-plane";
  NamedNumbers rows = {
      {"u" + in, point_text(choice.u)},
      {"v" + in, point_text(choice.v)},
      {"distance", number(scene.distance)},
      {"base", number(scene.law.base)},
      {"potential u", number(scene.potential_u)},
      {"potential v", number(scene.potential_v)},
      {"relation", geometry::relation_name(scene.law.relation)},
      {"LCA" + in,
       scene.lca_place ? point_text(scene.lca_place->x, scene.lca_place->y) : "none exists"},
      {similarity_name(scene), number(scene.similarity)}};
  if (scene.other) rows.emplace_back(choice.similarity + "(u, v)", number(*scene.other));
  return rows;
}

NamedNumbers cone_numbers(const ConeChoice& choice, const ConeScene& scene) {
  NamedNumbers rows = cone_readout(choice, scene);
  if (!scene.error.empty()) return rows;
  const geometry::ConeFamily& family = *scene.system.family;
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    rows.emplace_back(family.parameters[i].key, number(scene.system.values[i]));
  }
  if (!scene.infinite) rows.emplace_back("source", point_text(choice.source));
  const auto depth = [&](const LawPoint& p) {
    return number(geometry::depth_of(scene.system, p.radial, scene.measure));
  };
  rows.emplace_back("depth u", depth(scene.u));
  rows.emplace_back("depth v", depth(scene.v));
  if (!scene.lca) return rows;
  rows.emplace_back("depth LCA", depth(*scene.lca));
  rows.emplace_back("potential LCA", number(geometry::potential(scene.system, scene.lca->shadow)));
  return rows;
}

PlanePoint into_domain(const ConeChoice& choice, const PlanePoint& wanted) {
  PlanePoint p{wanted.x, std::max(wanted.y, 1e-9)};
  try {
    const geometry::ConeSystem system = system_of(choice);
    const geometry::RadialDomain domain = system.family->domain(system.values);
    if (system.infinite()) {
      p.y = std::min(p.y, domain.high * (1 - 1e-9));
      return p;
    }
    // Moves along the ray from the source until the point is just outside its ball.
    const geometry::ModelPoint at = geometry::point(Model::halfspace, Eigen::Vector2d(p.x, p.y));
    const geometry::ModelPoint source = place_of(choice.source, "source");
    const double rho = geometry::distance(at, source);
    if (rho > domain.low * (1 + 1e-9)) return p;
    Vector axis = Eigen::Vector2d(0, -1);
    if (rho > 1e-9) axis = from_source(choice, p.x, p.y).normalized();
    const geometry::Element e = geometry::element_at(system, axis, domain.low * (1 + 1e-6) + 1e-9);
    const Vector x = geometry::place(system, e, Model::halfspace).x;
    return {x[0], x[1]};
  } catch (const Error&) {
    return p;
  }
}

std::vector<std::string> cone_command(const ConeChoice& choice) {
  std::vector<std::string> words = {"conelab", "lca", "--cone", choice.family};
  for (const auto& [key, value] : own_parameters(choice)) {
    words.insert(words.end(), {"-p", key + "=" + number(value)});
  }
  if (!finite_family(choice)) {
    if (choice.depth != cone_depths[0]) words.insert(words.end(), {"-p", "depth=" + choice.depth});
    words.insert(words.end(), {point_word(choice.u), point_word(choice.v)});
    return words;
  }
  // The command has the source at the origin of the ball.
  const auto seen = [&](const std::array<double, 2>& p) {
    const Vector y = from_source(choice, p[0], p[1]);
    return point_word(y[0], y[1]);
  };
  words.insert(words.end(), {seen(choice.u), seen(choice.v)});
  return words;
}

namespace {

/// Returns "x,height=name;…"; undefined tokens have no place.
std::string token_texts(const TokenNames& tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.places.size(); ++i) {
    const PlanePoint& p = tokens.places[i];
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
    std::string name = figure::token_text(tokens.names[i]);
    std::ranges::replace(name, ';', ',');  // A semicolon separates tokens.
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", point_word(p.x, p.y), name);
  }
  return text;
}

/// Sets the keys of the families that are shown: a figure has other defaults for some.
void set_families(const ConeChoice& choice, std::map<std::string, std::string>& keys) {
  for (const std::string& name : families_of(choice)) {
    ConeChoice of_family = choice;
    of_family.family = name;
    const geometry::ConeFamily& family = geometry::cone_family(name);
    const geometry::Values values = geometry::family_values(family, own_parameters(of_family));
    for (std::size_t i = 0; i < values.size(); ++i) {
      keys[family.parameters[i].key] = fmt::format("{}", values[i]);
    }
    if (name == choice.family) continue;
    std::string& beside = keys["beside"];
    beside += (beside.empty() ? "" : ",") + name;
  }
}

}  // namespace

FigureChoice cone_figure(const ConeChoice& choice, const TokenNames& tokens) {
  FigureChoice figure;
  figure.name = "cones";
  auto& keys = figure.parameters;
  keys["cone"] = choice.family;
  keys["model"] = choice.model == "space" ? "halfspace" : choice.model;
  keys["u"] = point_word(choice.u), keys["v"] = point_word(choice.v);
  set_families(choice, keys);
  const std::vector<std::string> families = families_of(choice);
  if (families.size() > 1) figure.width = "double";
  const auto has_source = [](const std::string& family) {
    return geometry::cone_family(family).base == geometry::Base::sphere;
  };
  if (std::ranges::any_of(families, has_source)) keys["source"] = point_word(choice.source);
  if (choice.depth != cone_depths[0]) keys["depth"] = choice.depth;
  if (choice.similarity != heat_similarities[0]) keys["similarity"] = choice.similarity;
  if (choice.level_lines) {
    keys["levels"] = std::to_string(other_similarity(choice) ? most_level_lines : level_lines);
  }
  if (choice.heat && choice.model != "space") keys["heat"] = "yes";
  if (!choice.ancestors) keys["ancestors"] = "no";
  if (choice.geodesic) keys["geodesic"] = "yes";
  if (!tokens.places.empty() && tokens.places.size() <= most_tokens_of_figure) {
    keys["tokens"] = token_texts(tokens);
  }
  return figure;
}

std::string command_leaves_out(const ConeChoice& choice, const TokenNames& tokens) {
  std::string text;
  if (finite_family(choice)) text += " Its points are those of the ball about the source.";
  if (choice.model == "space") text += " It computes in the plane of u, v and the source.";
  if (!choice.beside.empty()) text += " It is of " + choice.family + " alone.";
  if (other_similarity(choice)) text += " It has no " + choice.similarity + "(u, v).";
  if (!tokens.places.empty()) text += " It has u and v without the other tokens.";
  return text.empty() ? "" : "The command has the same numbers." + text;
}

std::string figure_leaves_out(const ConeChoice& choice, const TokenNames& tokens) {
  std::string text;
  if (choice.model == "space") {
    text += " There is no figure of H³: it shows the slice through u, v and the source.";
  }
  if (choice.heat && choice.model == "hyperboloid") text += " It has no heat on the hyperboloid.";
  if (choice.level_lines && (choice.family == "umbral" || other_similarity(choice))) {
    text += " Its level lines are spaced by its own view, not by what is seen.";
  }
  if (tokens.places.size() > most_tokens_of_figure) {
    text += fmt::format(" It has u and v without the other tokens, which are more than {}.",
                        most_tokens_of_figure);
  }
  if (choice.camera) text += " It shows all of the scene, wherever you look.";
  return text.empty() ? "" : "The figure has the exact curves." + text;
}

PlanePoint snapped(const ConeChoice& choice, const std::string& name, const PlanePoint& wanted,
                   const PlaneFrame& frame) {
  const PlanePoint here = frame.page(wanted);
  const auto pixels = [&](const PlanePoint& p) {
    const PlanePoint q = frame.page(p);
    return std::hypot(q.x - here.x, q.y - here.y);
  };
  // The size of a pixel at this point.
  const double across = 1e-3 * wanted.y;
  const double unit = across / std::max(1e-12, pixels({wanted.x + across, wanted.y}));
  const double step = figure::round_step(8 * unit);
  PlanePoint p{std::round(wanted.x / step) * step,
               std::max(1.0, std::round(wanted.y / step)) * step};
  for (const auto& [other, at] :
       {std::pair{"u", &choice.u}, {"v", &choice.v}, {"source", &choice.source}}) {
    if (name == other || (!finite_family(choice) && std::string(other) == "source")) continue;
    if (pixels({(*at)[0], wanted.y}) < snap_reach) p.x = (*at)[0];
    if (pixels({wanted.x, (*at)[1]}) < snap_reach) p.y = (*at)[1];
  }
  return p;
}

}  // namespace conelab::desktop
