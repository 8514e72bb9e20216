// The hyperbolic plane on a rectangle of pixels, in one of its models.
//
// The camera is the isometry z ↦ (z − x0)/λ of the half-plane, stored as (x0, log λ) in double. It
// maps the visible part to the middle of the model. Moving and zooming are therefore exact at any
// depth in every model, and the graphics card gets only numbers relative to the camera.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>

#include "core/drawing/display_list.h"
#include "core/figure/hyperbolic_curve.h"
#include "core/geometry/model.h"

namespace conelab::desktop {

/// Half-plane coordinates.
struct PlanePoint {
  double x = 0, y = 1;
};
[[nodiscard]] inline PlanePoint plane_point(const std::array<double, 2>& p) { return {p[0], p[1]}; }

struct PlaneCamera {
  double x0 = 0;         ///< Half-plane: the boundary point in the middle.
  double log_scale = 0;  ///< Half-plane: the window has the height 1.5 e^log_scale.
  bool operator==(const PlaneCamera&) const = default;
  /// Bounds of log_scale, beyond which neighbouring pixels cannot be distinguished in double.
  static constexpr double deepest = -25, farthest = 12;
};

class PlaneFrame {
 public:
  /// A rectangle of `width` × `height` pixels with its top left at `corner`. The half-plane, the
  /// ball, the Klein ball and the band are flat; the other models are shown as the ball.
  PlaneFrame(geometry::Model model, PlaneCamera camera, double width, double height,
             PlanePoint corner = {0, 0});

  /// Returns the pixel of a point, y downwards.
  [[nodiscard]] PlanePoint page(const PlanePoint& p) const;
  /// Does the same for any point of the closed plane, including ideal ones. A point at infinity of
  /// the page is far outside the rectangle.
  [[nodiscard]] PlanePoint project(const figure::HemispherePoint& p) const;
  /// Returns the point at a pixel; absent outside the model.
  [[nodiscard]] std::optional<PlanePoint> plane(double x, double y) const;
  /// Returns the camera for which `p` appears at the pixel (x, y); absent outside the model.
  [[nodiscard]] std::optional<PlaneCamera> with_point_at(const PlanePoint& p, double x,
                                                         double y) const;

  [[nodiscard]] geometry::Model model() const { return model_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] PlanePoint corner() const { return corner_; }
  /// `origin` returns the pixel of the middle of the bottom (half-plane) or of the window, `unit`
  /// the pixels per unit of the model.
  [[nodiscard]] PlanePoint origin() const { return origin_; }
  [[nodiscard]] double unit() const { return unit_; }
  /// The map x ↦ (x − x0)/λ gives half-plane coordinates relative to the camera.
  [[nodiscard]] double x0() const { return camera_.x0; }
  [[nodiscard]] double lambda() const;

 private:
  [[nodiscard]] PlanePoint to_model(const PlanePoint& p) const;
  /// Returns the half-plane coordinates of a pixel relative to the camera; absent outside the
  /// model.
  [[nodiscard]] std::optional<PlanePoint> relative(double x, double y) const;
  geometry::Model model_;
  PlaneCamera camera_;
  double width_, height_, unit_ = 1;
  PlanePoint corner_, origin_;  ///< In pixels.
};

// A view into space that can be turned: the hyperboloid in R³ or the half-space H³.
//
// The projection is parallel: `yaw` turns about the vertical axis, `pitch` tilts the view.
// Coordinates are pixels, y downwards, and a depth that grows away from the viewer.

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
