#include "core/embed/construction.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/random.h"

namespace conelab {
namespace {

using Vector = std::vector<double>;

constexpr double reach = 45, largest_scale = 8;
constexpr int repulsions = 200;

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}
/// Returns x a + y b.
Vector combined(double x, const Vector& a, double y, const Vector& b) {
  Vector sum(a.size());
  for (std::size_t c = 0; c < a.size(); ++c) sum[c] = x * a[c] + y * b[c];
  return sum;
}
Vector unit(const Vector& a) {
  const double norm = std::sqrt(product(a, a));
  return combined(1 / norm, a, 0, a);
}

/// Directions that are far from each other, by their number.
class Directions {
 public:
  Directions(int dim, std::uint64_t seed) : dim_(static_cast<std::size_t>(dim)), random_(seed) {}

  const std::vector<Vector>& of(std::size_t count) {
    std::vector<Vector>& known = known_[count];
    if (known.empty() && count > 0) known = dim_ == 2 ? circle(count) : sphere(count);
    return known;
  }

 private:
  std::size_t dim_;
  Random random_;
  std::map<std::size_t, std::vector<Vector>> known_;

  static std::vector<Vector> circle(std::size_t count) {
    std::vector<Vector> points;
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = 2 * M_PI * static_cast<double>(i) / static_cast<double>(count);
      points.push_back({std::cos(angle), std::sin(angle)});
    }
    return points;
  }
  /// Moves random points away from each other with forces 1 / distance².
  std::vector<Vector> sphere(std::size_t count) {
    std::vector<Vector> points;
    for (std::size_t i = 0; i < count; ++i) {
      Vector& x = points.emplace_back(dim_);
      for (double& each : x) each = random_.normal();
      x = unit(x);
    }
    const double step =
        1 / std::pow(static_cast<double>(count), 1 + 1 / static_cast<double>(dim_ - 1));
    for (int round = 0; round < repulsions; ++round) {
      std::vector<Vector> next = points;
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
          const Vector away = combined(1, points[i], -1, points[j]);
          const double square = product(away, away);
          if (i != j)
            next[i] = combined(1, next[i], step / (square * std::sqrt(square) + 1e-9), away);
        }
        next[i] = unit(next[i]);
      }
      points = next;
    }
    return points;
  }
};

/// Returns x after the reflection that exchanges the unit vectors a and b.
Vector reflected(const Vector& x, const Vector& a, const Vector& b) {
  const Vector normal = combined(1, a, -1, b);
  const double square = product(normal, normal);
  return square < 1e-30 ? x : combined(1, x, -2 * product(x, normal) / square, normal);
}

/// A node that was placed: where it is, and in which direction its parent lies. The component of a
/// tangent vector along `direction` points away from the origin.
struct Place {
  Vector direction, parent;
  double distance = 0;
};

/// Returns the place at distance `length` from another one, in a tangent direction.
Place moved(const Place& from, const Vector& tangent, double length) {
  const double r = from.distance;
  if (r == 0) return {tangent, combined(-1, tangent, 0, tangent), length};
  const double along = product(tangent, from.direction);
  Vector side = combined(1, tangent, -along, from.direction);
  const double across = std::sqrt(product(side, side));
  if (across > 0) side = combined(1 / across, side, 0, side);
  // The plane of the origin, the node and the tangent; x points from the origin to the node.
  const double x = std::cosh(length) * std::sinh(r) + std::sinh(length) * std::cosh(r) * along;
  const double y = std::sinh(length) * across, angle = std::atan2(y, x);
  Place to;
  to.distance = std::asinh(std::hypot(x, y));
  to.direction = unit(combined(std::cos(angle), from.direction, std::sin(angle), side));
  const double back =
      (std::sinh(r) * std::cos(angle) - std::cosh(length) * std::sinh(to.distance)) /
      (std::sinh(length) * std::cosh(to.distance));
  const double aside = -std::sinh(r) * std::sin(angle) / std::sinh(length);
  const Vector turned = combined(-std::sin(angle), from.direction, std::cos(angle), side);
  to.parent = unit(combined(back, to.direction, aside, turned));
  return to;
}

/// Returns the tangent directions of a node's children, far from each other and from its parent.
std::vector<Vector> children_of_place(const Place& place, bool root,
                                      const std::vector<Vector>& far) {
  if (root) return far;
  std::vector<Vector> turned;
  for (std::size_t i = 1; i < far.size(); ++i) {
    turned.push_back(reflected(far[i], far[0], place.parent));
  }
  return turned;
}

}  // namespace

Construction constructed(const Hierarchy& hierarchy, int dim, double scale, std::uint64_t seed) {
  const NodeLists parents = parents_of(hierarchy);
  std::vector<std::vector<Node>> children(hierarchy.names.size() + 1);  // The last are the roots.
  Node deepest = 1;
  const std::vector<Node> order = depth_first_order(hierarchy);
  std::vector<Node> level(hierarchy.names.size());
  for (Node node = 0; node < hierarchy.size(); ++node) {
    const auto& above = parents[static_cast<std::size_t>(node)];
    children[above.empty() ? hierarchy.names.size() : static_cast<std::size_t>(above.front())]
        .push_back(node);
    deepest = std::max(deepest, hierarchy.depths[static_cast<std::size_t>(node)]);
  }
  const bool forest = children.back().size() > 1;
  Construction made;
  made.scale =
      scale > 0 ? scale : std::min(largest_scale, reach / static_cast<double>(deepest + forest));
  made.points.resize(hierarchy.names.size() * static_cast<std::size_t>(dim + 1));
  Directions directions(dim, seed);
  Vector first(static_cast<std::size_t>(dim));
  first[0] = 1;
  std::vector<std::pair<Node, Place>> waiting;
  const auto expand = [&](std::size_t node, const Place& place, bool root) {
    const auto& below = children[node];
    if (below.empty()) return;
    const auto tangents = children_of_place(place, root, directions.of(below.size() + !root));
    for (std::size_t i = 0; i < below.size(); ++i) {
      waiting.emplace_back(below[i], moved(place, tangents[i], made.scale));
    }
  };
  const Place origin{first, first, 0};
  if (forest) {
    expand(children.size() - 1, origin, true);
  } else if (!children.back().empty()) {
    waiting.emplace_back(children.back().front(), origin);
  }
  while (!waiting.empty()) {
    const auto [node, place] = std::move(waiting.back());
    waiting.pop_back();
    const auto row = made.points.begin() + node * (dim + 1);
    std::copy(place.direction.begin(), place.direction.end(), row);
    row[dim] = place.distance;
    expand(static_cast<std::size_t>(node), place, place.distance == 0);
  }
  return made;
}

}  // namespace conelab
