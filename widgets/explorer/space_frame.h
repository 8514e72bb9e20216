// A view into space that can be turned: the hyperboloid in R³ or the half-space H³.
//
// The projection is parallel: `yaw` turns about the vertical axis, `pitch` tilts the view.
// Coordinates are pixels, y downwards, and a depth that grows away from the viewer.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "core/figure/display_list.h"
#include "widgets/explorer/plane_frame.h"

namespace conelab::desktop {

/// From this pitch on no part of the hyperboloid hides another, because it is nowhere steeper than
/// 45°.
inline constexpr double unhidden_pitch = 0.79;
/// The initial pitch.
inline constexpr double hyperboloid_pitch = 0.82;

struct SpaceCamera {
  double yaw = 0.5, pitch = 0.38, zoom = 1;
  bool operator==(const SpaceCamera&) const = default;
  /// Returns the camera with pitch and zoom limited to the range that the user can reach.
  [[nodiscard]] SpaceCamera bounded() const;
};

class SpaceFrame {
 public:
  /// `centre` [3] appears in the middle of the rectangle, `reach` world units from its border.
  SpaceFrame(SpaceCamera camera, const figure::Box& box, const Eigen::Vector3d& centre,
             double reach);

  /// Returns (x, y, depth) of a point; x and y in pixels, the depth in world units.
  [[nodiscard]] Eigen::Vector3d page(const Eigen::Vector3d& p) const;
  /// Return the direction away from the viewer, and a point that appears at a pixel; world
  /// coordinates.
  [[nodiscard]] Eigen::Vector3d away() const { return turn_.row(2); }
  [[nodiscard]] Eigen::Vector3d under(double x, double y) const;
  [[nodiscard]] double reach() const { return reach_; }

 private:
  Eigen::Matrix3d turn_;  ///< Rows: right, up, away.
  Eigen::Vector3d centre_;
  double reach_, scale_;
  PlanePoint middle_;
};

/// The height X_t up to which the hyperboloid is shown.
inline constexpr double hyperboloid_rim = 2.8;

// Return the position of a point of the plane: on the hyperboloid as (X₁, X₂, X_t), and in H³ as a
// point of the slice x₂ = 0.
[[nodiscard]] Eigen::Vector3d on_hyperboloid(const PlanePoint& p);
/// A point beyond the rim is mapped to the rim.
[[nodiscard]] Eigen::Vector3d on_hyperboloid(const figure::HemispherePoint& p);
[[nodiscard]] Eigen::Vector3d in_slice(const PlanePoint& p);
/// Returns the point of the plane at a pixel, where the line of sight first meets the hyperboloid
/// or the slice.
[[nodiscard]] std::optional<PlanePoint> hyperboloid_under(const SpaceFrame& f, double x, double y);
/// Returns the new position of a dragged point on the hyperboloid. If the rim is tilted towards the
/// viewer, the line of sight meets the surface twice; the position nearer to `held` is chosen, so
/// that the point stays on its side. If the pointer is next to the hyperboloid, the point moves to
/// the silhouette or the rim.
[[nodiscard]] PlanePoint dragged_on_hyperboloid(const SpaceFrame& f, double x, double y,
                                                const PlanePoint& held);
[[nodiscard]] std::optional<PlanePoint> slice_under(const SpaceFrame& f, double x, double y);

}  // namespace conelab::desktop
