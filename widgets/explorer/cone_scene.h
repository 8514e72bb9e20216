// What the cone explorer shows of a session, in numbers: both points as the law sees them, their
// lowest common ancestor, distances, potentials, K.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/geometry/cone_law.h"
#include "widgets/explorer/plane_frame.h"
#include "widgets/session/session.h"
#include "widgets/trace/trace.h"

namespace conelab::desktop {

/// A point of the plane in the law's coordinates: axis (x, or the angle at the source) and p.
struct LawPoint {
  double axis = 0, shadow = 0, radial = 0;
};

struct ConeScene {
  std::string error;  ///< One line where a point lies outside the family's domain; else empty.
  geometry::ConeSystem system;
  bool infinite = true, penumbral = true;
  double parameter = 1;  ///< h, r, R, or Ganea's K as the radius it stands for.
  LawPoint u, v;
  std::optional<LawPoint> lca;
  std::optional<PlanePoint> lca_place;
  double largest_shadow = 0;
  geometry::Lca law;
  double distance = 0;
  double potential_u = 0, potential_v = 0;
};

/// The choice's parameters that its family takes: a choice may hold those of several.
[[nodiscard]] std::map<std::string, double> own_parameters(const ConeChoice& choice);

[[nodiscard]] ConeScene cone_scene(const ConeChoice& choice);

/// Names and values.
using NamedNumbers = std::vector<std::pair<std::string, std::string>>;
/// The exact numbers that a person follows, one line each, to read and to copy.
[[nodiscard]] NamedNumbers cone_readout(const ConeChoice& choice, const ConeScene& scene);
/// These and all others that the picture shows: the source, parameters, the depths of u and v.
[[nodiscard]] NamedNumbers cone_numbers(const ConeChoice& choice, const ConeScene& scene);
/// With twelve digits, as in the readout.
[[nodiscard]] std::string exact_text(double value);

/// How many level lines of K(u, ·) are drawn on each side of the border of the common ancestors.
inline constexpr int level_lines = 6;

/// The nearest point to `wanted` inside the family's domain, for dragging.
[[nodiscard]] PlanePoint into_domain(const ConeChoice& choice, const PlanePoint& wanted);

/// The command that computes the same: `conelab lca …`.
[[nodiscard]] std::vector<std::string> cone_command(const ConeChoice& choice);

/// The same scene as `conelab figure` draws it: figure `cones` with every choice that it
/// knows. H³ is drawn by its slice, the half-plane; the figure has the view that fits.
[[nodiscard]] FigureChoice cone_figure(const ConeChoice& choice);

/// What is seen and the command (the figure) does not hold, in one line; empty where it holds all.
[[nodiscard]] std::string command_leaves_out(const ConeChoice& choice);
[[nodiscard]] std::string figure_leaves_out(const ConeChoice& choice);

}  // namespace conelab::desktop
