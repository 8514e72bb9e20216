#include "widgets/explorer/token_plane.h"

#include <cmath>

#include "core/call/plan.h"
#include "core/geometry/cone_law.h"

namespace conelab::desktop {
namespace {

using geometry::Vector;

/// Base coordinates of the plane: the position on the line from u towards v, 0 in the middle.
class Axis {
 public:
  Axis(const geometry::ConeSystem& system, const Vector& u, const Vector& v)
      : base_(system.family->base),
        u_(u),
        towards_(system.infinite() ? Vector(v - u) : Vector(v - v.dot(u) * u)),
        length_(geometry::base_distance(base_, u, v)) {}

  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] double place(const Vector& t) const {
    const double away = geometry::base_distance(base_, u_, t);
    // On the sphere u is orthogonal to `towards_` and does not contribute.
    const double lean = base_ == geometry::Base::plane ? (t - u_).dot(towards_) : t.dot(towards_);
    return -length_ / 2 + (lean < 0 ? -away : away);
  }

 private:
  geometry::Base base_;
  Vector u_, towards_;
  double length_;
};

/// Returns the point of the plane at a base coordinate, with the radial coordinate of an element.
PlanePoint place_of(const geometry::ConeSystem& flat, double along, double radial) {
  if (flat.infinite() || std::isnan(radial)) return {along, radial};  // NaN: undefined token.
  const Eigen::Vector2d axis(std::sin(along), -std::cos(along));
  const auto element = geometry::element_at(flat, Vector(axis), radial);
  const Vector x = geometry::place(flat, element, geometry::Model::halfspace).x;
  return {x[0], x[1]};
}

}  // namespace

std::optional<HeadTokens> head_tokens(const HeadInput& input, const Call& call_of_head) {
  const auto plan = resolve(call_of_head, check_extents(input.exact));
  auto queries = tree::head_elements(*plan, input.exact, tree::Tokens::query, 0, 0);
  auto keys = tree::head_elements(*plan, input.exact, tree::Tokens::key, 0, 0);
  if (!queries || !keys) return std::nullopt;
  return HeadTokens{std::move(*queries), std::move(*keys)};
}

TokenPlane plane_of_pair(const ConeChoice& choice, const HeadTokens& tokens, const Focus& pair) {
  const geometry::ConeSystem& system = tokens.queries.system;
  const geometry::Element& u = tokens.queries.elements.at(static_cast<std::size_t>(pair.query));
  const geometry::Element& v = tokens.keys.elements.at(static_cast<std::size_t>(pair.key));
  TokenPlane plane{choice, {}};
  ConeChoice& c = plane.choice;
  c.family = system.family->name;
  c.parameters.clear();
  for (std::size_t i = 0; i < system.family->parameters.size(); ++i) {
    c.parameters[system.family->parameters[i].key] = system.values[i];
  }
  if (!system.infinite()) c.source = {0, 1};
  const geometry::ConeSystem flat = geometry::cone_system(c.family, c.parameters);
  const Axis axis(system, u.axis, v.axis);
  for (const geometry::Element& key : tokens.keys.elements) {
    plane.keys.push_back(place_of(flat, axis.place(key.axis), key.radial));
  }
  const PlanePoint at_u = place_of(flat, -axis.length() / 2, u.radial);
  const PlanePoint at_v = place_of(flat, axis.length() / 2, v.radial);
  plane.keys[static_cast<std::size_t>(pair.key)] = at_v;
  c.u = {at_u.x, at_u.y};
  c.v = {at_v.x, at_v.y};
  return plane;
}

}  // namespace conelab::desktop
