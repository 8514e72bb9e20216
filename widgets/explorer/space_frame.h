// A view into space that can be turned: the hyperboloid in R³, or the half-space H³.
//
// Parallel projection: `yaw` turns about the vertical axis, `pitch` tips the view; pixels, y
// downwards, and a depth that grows away from the viewer.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "core/figure/display_list.h"
#include "widgets/explorer/plane_frame.h"

namespace conelab::desktop {

/// The hyperboloid is nowhere steeper than 45°: from here no part of it stands before another.
inline constexpr double unhidden_pitch = 0.79;
/// From where it is first seen.
inline constexpr double hyperboloid_pitch = 0.82;

struct SpaceCamera {
  double yaw = 0.5, pitch = 0.38, zoom = 1;
  bool operator==(const SpaceCamera&) const = default;
  /// Never upside down, never lost: within what turning and zooming reach.
  [[nodiscard]] SpaceCamera bounded() const;
};

class SpaceFrame {
 public:
  /// `centre` [3] stands at the middle of the rectangle, `reach` world units from its border.
  SpaceFrame(SpaceCamera camera, const figure::Box& box, const Eigen::Vector3d& centre,
             double reach);

  /// (x, y, depth); x and y in pixels, the depth in world units.
  [[nodiscard]] Eigen::Vector3d page(const Eigen::Vector3d& p) const;
  /// The world's direction away from the viewer, and a world point that is seen at a pixel.
  [[nodiscard]] Eigen::Vector3d away() const { return turn_.row(2); }
  [[nodiscard]] Eigen::Vector3d under(double x, double y) const;
  [[nodiscard]] double reach() const { return reach_; }

 private:
  Eigen::Matrix3d turn_;  ///< Rows: right, up, away.
  Eigen::Vector3d centre_;
  double reach_, scale_;
  PlanePoint middle_;
};

/// X_t up to which the hyperboloid is shown.
inline constexpr double hyperboloid_rim = 2.8;

// The plane on the hyperboloid (X₁, X₂, X_t), and in the half-space H³ as the slice x₂ = 0.
[[nodiscard]] Eigen::Vector3d on_hyperboloid(const PlanePoint& p);
/// What lies beyond the rim is put on it.
[[nodiscard]] Eigen::Vector3d on_hyperboloid(const figure::HemispherePoint& p);
[[nodiscard]] Eigen::Vector3d in_slice(const PlanePoint& p);
/// The point of the plane under a pixel: where the view meets the hyperboloid first, or the slice.
[[nodiscard]] std::optional<PlanePoint> hyperboloid_under(const SpaceFrame& f, double x, double y);
/// Where a point that is being dragged goes on the hyperboloid. The view meets it twice where its
/// rim is tipped towards the viewer: the place nearest to `held` is meant, so that it stays on its
/// side. A pointer beside the hyperboloid takes the point along to its silhouette or its rim.
[[nodiscard]] PlanePoint dragged_on_hyperboloid(const SpaceFrame& f, double x, double y,
                                                const PlanePoint& held);
[[nodiscard]] std::optional<PlanePoint> slice_under(const SpaceFrame& f, double x, double y);

}  // namespace conelab::desktop
