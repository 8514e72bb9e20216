#include "core/geometry/lca_query.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/geometry/distance.h"

namespace conelab::geometry {
namespace {

/// Returns the number if the whole text is one (a leading plus is allowed), otherwise nothing.
std::optional<double> number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return parse_number(text);
}

struct Numbers {
  std::map<std::string, double> family;
  std::optional<double> gamma;
  DepthMeasure measure = DepthMeasure::height;
};

/// Throws misuse for a family whose depth is a distance already.
DepthMeasure measure_of(const std::string& family, const std::string& word) {
  if (cone_family(family).base == Base::sphere) {
    misuse("{} cones take no depth: theirs is a distance from the source", family);
  }
  return depth_measure(word);
}

void check_known(const std::string& family, const std::string& key) {
  std::vector<std::string> known{"gamma", "depth"};
  for (const ParameterInfo& p : cone_family(family).parameters) known.emplace_back(p.key);
  (void)index_of_name("parameter of " + family + " cones", key, known);
}

Numbers numbers(const std::string& family, const std::map<std::string, std::string>& parameters) {
  Numbers out;
  for (const auto& [key, text] : parameters) {
    if (key == "depth") {
      out.measure = measure_of(family, text);
      continue;
    }
    check_known(family, key);
    const std::optional<double> value = number(text);
    if (!value || !std::isfinite(*value)) {
      misuse("{} of {} cones must be a number (found '{}')", key, family, text);
    }
    if (key == "gamma") {
      out.gamma = value;
    } else {
      out.family[key] = value.value_or(0);
    }
  }
  return out;
}

LcaResult describe(const ConeSystem& system, const std::optional<double>& gamma) {
  LcaResult result;
  result.cone = system.family->name;
  for (std::size_t i = 0; i < system.values.size(); ++i) {
    result.parameters.emplace_back(system.family->parameters[i].key, system.values[i]);
  }
  if (gamma) result.parameters.emplace_back("gamma", *gamma);
  return result;
}

/// Throws misuse if the answer overflows: coordinates near the largest double have larger sums, and
/// so have functions of large parameters.
void check_representable(const Lca& found) {
  const bool place = !found.place || (found.place->axis.allFinite() && std::isfinite(found.radial));
  if (!place || !std::isfinite(found.base) || !std::isfinite(found.depth)) {
    misuse(
        "the lowest common ancestor overflows: u and v are too far apart, or a parameter is too "
        "large (base {}, depth {})",
        found.base, found.depth);
  }
}

}  // namespace

Vector parse_point(const std::string& text, const std::string& label) {
  std::vector<double> values;
  for (const std::string_view part : split_commas(text)) {
    const std::optional<double> value = number(part);
    if (!value) {
      misuse("{}: not a point (expected numbers separated by commas, found '{}')", label, text);
    }
    values.push_back(*value);
  }
  return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

LcaResult lca_query(const std::string& family, const std::map<std::string, std::string>& parameters,
                    const Vector& u, const Vector& v, const std::string& model_text) {
  (void)cone_family(family);  // An unknown family is reported before its parameters.
  const Numbers given = numbers(family, parameters);
  const ConeSystem system = cone_system(family, given.family);
  const Model model = model_text.empty() ? (system.infinite() ? Model::halfspace : Model::ball)
                                         : model_from_name(model_text);
  if (u.size() != v.size()) {
    misuse("u and v have different numbers of coordinates (u {}, v {})", u.size(), v.size());
  }
  const Element a = element(system, point(model, u, "u"), "u");
  const Element b = element(system, point(model, v, "v"), "v");
  const Lca found = lca(system, a, b);
  check_representable(found);

  LcaResult result = describe(system, given.gamma);
  result.model = model_name(model);
  result.u = u;
  result.v = v;
  result.base = found.base;
  result.potential = {potential(system, a.shadow), potential(system, b.shadow), std::nullopt};
  result.relation = relation_name(found.relation);
  result.has_common_ancestor = found.place.has_value();
  if (found.place) {
    result.potential.lca = potential(system, found.shadow);
    const bool is_u =
        found.relation == Relation::u_is_ancestor || found.relation == Relation::equal;
    const bool is_v = found.relation == Relation::v_is_ancestor;
    result.lca = is_u ? u : is_v ? v : place(system, *found.place, model).x;
  }
  result.measure = given.measure;
  result.depth = depth_of(system, found.radial, given.measure);
  result.logit = given.gamma.value_or(1.0) * result.depth;
  return result;
}

PlanePair plane_slice(const LcaResult& result) {
  const Model model = model_from_name(result.model);
  const ModelPoint u = point(model, result.u, "u"), v = point(model, result.v, "v");
  if (u.dimension() == 2) {
    return {convert(u, Model::halfspace).x, convert(v, Model::halfspace).x};
  }
  if (cone_family(result.cone).base == Base::plane) {
    const auto at = [](double foot, const ModelPoint& p) {
      const Vector x = convert(p, Model::halfspace).x;
      return Vector(Eigen::Vector2d(foot, x[x.size() - 1]));
    };
    return {at(0, u), at(result.base, v)};
  }
  const auto at = [](double angle, const ModelPoint& p) {
    const Eigen::Vector2d down(std::sin(angle), -std::cos(angle));
    const Vector spatial = down * std::sinh(distance_to_origin(p));
    return from_spatial(spatial, Model::halfspace).x;
  };
  return {at(-result.base / 2, u), at(result.base / 2, v)};
}

}  // namespace conelab::geometry
