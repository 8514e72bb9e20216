#include "widgets/explorer/space_surfaces.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "widgets/explorer/heat_field.h"

namespace conelab::desktop {
namespace {

using Eigen::Vector3d;

constexpr std::size_t turns = 48, steps = 28;  ///< Quads around a body and along its profile.

/// Converts the coordinates of the law about an axis of the slice to points of the half-space.
class Revolution {
 public:
  Revolution(const ConeChoice& choice, const ConeScene& scene)
      : infinite_(scene.infinite), source_{choice.source[0], choice.source[1]} {}

  /// Returns the point at base distance `off` from `axis`, rotated by `azimuth`, with this radial
  /// coordinate.
  [[nodiscard]] Vector3d at(double axis, double off, double azimuth, double radial) const {
    const double across = off * std::cos(azimuth), aside = off * std::sin(azimuth);
    if (infinite_) return {axis + across, aside, radial};
    const Vector3d ahead(std::cos(axis), 0, std::sin(axis)),
        left(-std::sin(axis), 0, std::cos(axis));
    const Vector3d direction =
        std::cos(off) * ahead +
        std::sin(off) * (std::cos(azimuth) * left + std::sin(azimuth) * Vector3d::UnitY());
    // Converts from the ball about the source to the half-space.
    const double r = std::isinf(radial) ? 1 : std::tanh(radial / 2);
    const Vector3d y = r * direction;
    const double below = y.x() * y.x() + y.y() * y.y() + (1 - y.z()) * (1 - y.z());
    const double height = std::max(0.0, 1 - r * r) / below;
    return {source_.x + source_.y * 2 * y.x() / below, source_.y * 2 * y.y() / below,
            source_.y * height};
  }

 private:
  bool infinite_;
  PlanePoint source_;
};

/// Returns a surface whose points `at(i, j)` gives.
template <class At>
Surface grid(Ink ink, double opacity, std::size_t rows, std::size_t columns, int layer, At at) {
  Surface surface{ink, opacity, rows, columns, {}, {}, layer};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      surface.points.push_back(at(static_cast<double>(i), static_cast<double>(j)));
    }
  }
  return surface;
}

class Bodies {
 public:
  Bodies(const ConeChoice& choice, const ConeScene& scene)
      : choice_(choice), scene_(scene), place_(choice, scene) {}

  SpaceScene out;

  void add_cone(const LawPoint& u, Ink ink) {
    turned(ink, 0.55, u.axis, [&](double t) {
      const double shadow = u.shadow * (1 - t);
      return Profile{u.shadow - shadow, radial(shadow)};
    });
    std::vector<Vector3d> rim;
    for (std::size_t i = 0; i <= 2 * turns; ++i) {
      rim.push_back(place_.at(u.axis, u.shadow, M_PI * static_cast<double>(i) / turns, radial(0)));
    }
    out.lines.emplace_back(ink, std::move(rim));
  }

  /// Draws the boundary of the half-space, as an orientation for the eye.
  void add_ground() {
    const double middle = (choice_.u[0] + choice_.v[0]) / 2, reach = level_reach(choice_);
    constexpr int parts = 6;
    for (int i = 0; i <= parts; ++i) {
      const double t = reach * (2.0 * i / parts - 1);
      out.lines.push_back({Ink::boundary, {{middle - reach, t, 0}, {middle + reach, t, 0}}});
      out.lines.push_back({Ink::boundary, {{middle + t, -reach, 0}, {middle + t, reach, 0}}});
    }
  }

  void add_ancestors(const LawPoint& l) {
    const double top = std::isinf(scene_.largest_shadow) ? 2.2 * l.shadow : scene_.largest_shadow;
    turned(Ink::ancestors, 0.35, l.axis, [&](double t) {
      const double shadow = l.shadow + (top - l.shadow) * t;
      return Profile{shadow - l.shadow, radial(shadow)};
    });
    if (scene_.infinite) out.surfaces.back().layer = 2;
  }

  /// Draws a complete level: a plane above the scene, or a sphere about the source.
  void add_level(Ink ink, double opacity, double level, int layer) {
    if (scene_.infinite) {
      const double middle = (choice_.u[0] + choice_.v[0]) / 2;
      const double wide = level_reach(choice_);
      return out.surfaces.push_back(grid(ink, opacity, 9, 9, layer, [&](double i, double j) {
        return Vector3d(middle + wide * (i / 4 - 1), wide * (j / 4 - 1), level);
      }));
    }
    turned(ink, opacity, scene_.u.axis, [&](double t) { return Profile{M_PI * t, level}; });
  }

  void add_object(const std::array<double, 2>& x, Ink ink) {
    const double r = scene_.parameter, radius = x[1] * std::sinh(r);
    const Vector3d centre(x[0], 0, x[1] * std::cosh(r));
    out.surfaces.push_back(grid(ink, 0.8, steps + 1, turns + 1, 0, [&](double i, double j) {
      const double polar = M_PI * i / steps, a = 2 * M_PI * j / turns;
      return Vector3d(centre + radius * Vector3d(std::sin(polar) * std::cos(a),
                                                 std::sin(polar) * std::sin(a), std::cos(polar)));
    }));
  }

 private:
  struct Profile {
    double off, radial;
  };

  [[nodiscard]] double radial(double shadow) const {
    if (shadow <= 0) return scene_.infinite ? 0 : std::numeric_limits<double>::infinity();
    return scene_.system.family->radial(scene_.system.values, shadow);
  }

  void turned(Ink ink, double opacity, double axis, const std::function<Profile(double)>& profile) {
    out.surfaces.push_back(grid(ink, opacity, steps + 1, turns + 1, 0, [&](double i, double j) {
      const Profile p = profile(i / steps);
      return place_.at(axis, p.off, 2 * M_PI * j / turns, p.radial);
    }));
  }

  const ConeChoice& choice_;
  const ConeScene& scene_;
  Revolution place_;
};

figure::Colour over(const figure::Colour& under, const figure::Colour& c, double alpha) {
  const auto part = [alpha](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * alpha));
  };
  return {part(under.r, c.r), part(under.g, c.g), part(under.b, c.b), 255};
}

}  // namespace

double level_reach(const ConeChoice& choice) {
  return 0.6 + 0.6 * std::abs(choice.u[0] - choice.v[0]);
}

SpaceScene space_scene(const ConeChoice& choice, const ConeScene& scene) {
  Bodies bodies(choice, scene);
  const geometry::RadialDomain domain = scene.system.family->domain(scene.system.values);
  if (scene.penumbral)
    bodies.add_level(Ink::light, 0.35, scene.infinite ? domain.high : domain.low, 3);
  if (choice.horospheres) bodies.add_level(Ink::depth, 0.16, scene.law.radial, 1);
  bodies.add_ground();
  if (scene.lca && choice.ancestors) bodies.add_ancestors(*scene.lca);
  bodies.add_cone(scene.v, Ink::v);
  bodies.add_cone(scene.u, Ink::u);
  if (choice.objects && !scene.penumbral) {
    bodies.add_object(choice.v, Ink::v);
    bodies.add_object(choice.u, Ink::u);
  }
  return std::move(bodies.out);
}

Surface hyperboloid_surface(const ConeChoice& choice, const ConeScene& scene,
                            const PlaneColours& colours) {
  constexpr std::size_t rings = 72, sectors = 180;
  Surface surface{Ink::outside, 1, rings + 1, sectors + 1, {}, {}, 0};
  const figure::SimilarityField field = heat_field(choice, scene);
  const figure::SimilarityRange range = heat_range(choice, scene, usual_part);
  const double reach = std::acosh(hyperboloid_rim);
  const auto base = [&](double a, double b) {
    const double d = std::abs(a - b);
    return scene.infinite ? d : std::min(d, 2 * M_PI - d);
  };
  for (std::size_t i = 0; i <= rings; ++i) {
    const double rho = std::max(1e-9, reach * static_cast<double>(i) / rings);
    for (std::size_t j = 0; j <= sectors; ++j) {
      const double angle = 2 * M_PI * static_cast<double>(j) / sectors;
      const Vector3d x(std::sinh(rho) * std::cos(angle), std::sinh(rho) * std::sin(angle),
                       std::cosh(rho));
      const double below = x.z() - x.y();
      const figure::SimilarityField::Value value = field.at({x.x() / below, 1 / below});
      const LawPoint& p = value.place;
      figure::Colour c = colours.ground;
      if (choice.heat) {
        const double t = (value.similarity - range.low) / (range.high - range.low);
        c = over(c, figure::colour_at(colours.map, std::clamp(t, 0.0, 1.0)),
                 value.extended ? 0.3 : 0.55);
      }
      if (colours.regions) {
        if (scene.lca && choice.ancestors &&
            base(p.axis, scene.lca->axis) <= p.shadow - scene.lca->shadow) {
          c = over(c, colours.ancestors, 0.26);
        }
        if (base(p.axis, scene.v.axis) <= scene.v.shadow - p.shadow) c = over(c, colours.v, 0.4);
        if (base(p.axis, scene.u.axis) <= scene.u.shadow - p.shadow) c = over(c, colours.u, 0.4);
      }
      if (value.outside) c = over(c, colours.light, other_similarity(choice) ? 0.3 : 1);
      surface.points.push_back(x);
      surface.colours.push_back(c);
    }
  }
  return surface;
}

SpaceFrame space_frame(const ConeChoice& choice, const ConeScene& scene, SpaceCamera camera,
                       const figure::Box& box) {
  if (choice.model == "hyperboloid") {
    // The middle of its picture, between the far rim and the near rim or the apex.
    const double tipped =
        std::sqrt(hyperboloid_rim * hyperboloid_rim - 1) * std::abs(std::tan(camera.pitch));
    const double middle = std::min(hyperboloid_rim, (1 + hyperboloid_rim + tipped) / 2);
    return {camera, box, {0, 0, middle}, 2.75};
  }
  double top = std::max({choice.u[1], choice.v[1], scene.lca_place ? scene.lca_place->y : 0.0});
  if (scene.infinite && scene.penumbral) top = std::max(top, scene.parameter);
  if (!scene.infinite) top = std::max(top, 1.4 * choice.source[1]);
  const double wide = std::abs(choice.u[0] - choice.v[0]) / 2 + 0.5;
  const double middle = (choice.u[0] + choice.v[0]) / 2;
  return {camera, box, {middle, 0, 0.42 * top}, std::max(0.75 * top, 1.15 * wide)};
}

}  // namespace conelab::desktop
