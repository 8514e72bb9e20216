#include "core/geometry/cone_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/geometry/distance.h"

namespace conelab::geometry {
namespace {

std::pair<Vector, double> split(const ConeSystem& system, const ModelPoint& p) {
  if (system.infinite()) {
    const Vector x = convert(p, Model::halfspace).x;
    return {x.head(x.size() - 1), x[x.size() - 1]};
  }
  const Vector s = spatial(p);
  const double length = s.stableNorm();
  return {length > 0 ? Vector(s / length) : s, std::asinh(length)};
}

void check_domain(const ConeSystem& system, double radial, const std::string& label) {
  const RadialDomain d = system.family->domain(system.values);
  const char* what = system.infinite() ? "height" : "distance from the source";
  if (!(radial > d.low)) {
    misuse("{}: outside the domain of {} cones (expected {} > {}, {}; found {})", label,
           system.family->name, what, d.low, d.bound, radial);
  }
  if (!(radial < d.high)) {
    misuse("{}: outside the domain of {} cones (expected {} < {}, {}; found {})", label,
           system.family->name, what, d.high, d.bound, radial);
  }
}

/// Returns the unit vector orthogonal to the unit vector a in the direction of b. If b = −a, the
/// first coordinate axis that is not parallel to a replaces b.
Vector direction_across(const Vector& a, const Vector& b) {
  const Vector difference = b - a;
  const Vector towards = difference - a * a.dot(difference);
  constexpr double noise = 1e-14;
  if (towards.norm() > noise || a.dot(b) > 0) return towards.stableNormalized();
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const Vector free = Vector::Unit(a.size(), i) - a * a[i];
    if (free.norm() > 1e-7) return free.normalized();
  }
  return towards;
}

bool in_shadow(double base, double outer, double inner) { return base <= outer - inner; }

}  // namespace

ConeSystem cone_system(const std::string& name, const std::map<std::string, double>& parameters) {
  const ConeFamily& family = cone_family(name);
  return {&family, family_values(family, parameters), std::nullopt};
}

ConeSystem with_source(const ConeSystem& system, const ModelPoint& source) {
  if (system.infinite()) misuse("{} cones have their source at infinity", system.family->name);
  const Vector s = convert(source, Model::halfspace).x;
  return {system.family, system.values, carry(s, Vector::Unit(s.size(), s.size() - 1))};
}

Element element(const ConeSystem& system, const ModelPoint& p, const std::string& label) {
  const auto [axis, radial] = split(system, system.to_standard ? apply(*system.to_standard, p) : p);
  return element_at(system, axis, radial, label);
}

Element element_at(const ConeSystem& system, const Vector& axis, double radial,
                   const std::string& label) {
  check_domain(system, radial, label);
  return {axis, radial, system.family->shadow(system.values, radial)};
}

ModelPoint place(const ConeSystem& system, const Element& e, Model to) {
  ModelPoint standard;
  if (system.infinite()) {
    Vector x(e.axis.size() + 1);
    x << e.axis, e.radial;
    standard = {Model::halfspace, x, 1.0};
  } else {
    standard = from_spatial(e.axis * std::sinh(e.radial), to);
  }
  if (system.to_standard) standard = apply(inverse(*system.to_standard), standard);
  return convert(standard, to);
}

Element element_with_shadow(const ConeSystem& system, const Vector& axis, double shadow) {
  return {axis, system.family->radial(system.values, shadow), shadow};
}

double base_distance(Base base, const Vector& a, const Vector& b) {
  if (base == Base::plane) {
    const double plain = (a - b).norm();  // Squares overflow long before lengths do.
    return plain > 1e-150 && plain < 1e150 ? plain : (a - b).stableNorm();
  }
  return 2 * std::atan2((a - b).norm(), (a + b).norm());
}

Vector walk(Base base, const Vector& a, const Vector& b, double t) {
  if (t == 0) return a;
  if (base == Base::plane) return a + (b - a) * (t / (b - a).stableNorm());
  return (a * std::cos(t) + direction_across(a, b) * std::sin(t)).normalized();
}

const char* relation_name(Relation relation) {
  static constexpr const char* names[] = {"u_is_ancestor", "v_is_ancestor", "equal", "unrelated"};
  return names[static_cast<std::size_t>(relation)];
}

bool is_ancestor(Base base, const Element& u, const Element& v) {
  return in_shadow(base_distance(base, u.axis, v.axis), u.shadow, v.shadow);
}

Relation relation(Base base, const Element& u, const Element& v) {
  const double distance = base_distance(base, u.axis, v.axis);
  const bool down = in_shadow(distance, u.shadow, v.shadow);
  const bool up = in_shadow(distance, v.shadow, u.shadow);
  if (down && up) return Relation::equal;
  if (down) return Relation::u_is_ancestor;
  return up ? Relation::v_is_ancestor : Relation::unrelated;
}

double potential(const ConeSystem& system, double shadow) {
  return system.family->top_potential(system.values) - shadow;
}

Lca lca(const ConeSystem& system, const Element& u, const Element& v) {
  const ConeFamily& family = *system.family;
  Lca out;
  out.base = base_distance(family.base, u.axis, v.axis);
  out.relation = relation(family.base, u, v);
  if (out.relation != Relation::unrelated) {
    out.place = out.relation == Relation::v_is_ancestor ? v : u;
    out.shadow = out.place->shadow;
    out.radial = out.place->radial;
  } else {
    out.shadow = std::max({u.shadow, v.shadow, (u.shadow + v.shadow + out.base) / 2});
    if (out.shadow <= family.largest_shadow(system.values)) {
      const double away = std::clamp(out.shadow - u.shadow, 0.0, out.base);
      out.place = element_with_shadow(system, walk(family.base, u.axis, v.axis, away), out.shadow);
      out.radial = out.place->radial;
    } else {
      out.radial = family.extension(system.values, u.radial, v.radial, out.base);
    }
  }
  out.depth = system.infinite() ? -out.radial : out.radial;
  return out;
}

namespace {

double level_of_light(const ConeSystem& system) {
  return system.family->penumbral ? system.family->extent(system.values) : 1;
}

}  // namespace

DepthMeasure depth_measure(const std::string& name) {
  return static_cast<DepthMeasure>(index_of_name("depth", name, {"height", "distance"}));
}

double depth_of(const ConeSystem& system, double radial, DepthMeasure measure) {
  if (!system.infinite()) return radial;
  if (measure == DepthMeasure::height) return -radial;
  return -std::log(radial / level_of_light(system));
}

double radial_of(const ConeSystem& system, double depth, DepthMeasure measure) {
  if (!system.infinite()) return depth;
  if (measure == DepthMeasure::height) return -depth;
  return level_of_light(system) * std::exp(-depth);
}

}  // namespace conelab::geometry
