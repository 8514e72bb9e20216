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

struct SpaceCamera {
  double yaw = 0.5, pitch = 0.38, zoom = 1;
  bool operator==(const SpaceCamera&) const = default;
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
[[nodiscard]] std::optional<PlanePoint> slice_under(const SpaceFrame& f, double x, double y);

}  // namespace conelab::desktop
