// The hyperbolic plane on a rectangle of pixels, in one of its models.
//
// The camera is the isometry z ↦ (z − x0)/λ of the half-plane, stored as (x0, log λ) in double. It
// maps the visible part to the middle of the model. Moving and zooming are therefore exact at any
// depth in every model, and the graphics card gets only numbers relative to the camera.
#pragma once

#include <array>
#include <optional>
#include <string>

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

}  // namespace conelab::desktop
