// The hyperbolic plane on a rectangle of pixels, in one of its models.
//
// The camera is an isometry, z ↦ (z − x0)/λ of the half-plane, kept as (x0, log λ) in double: what
// is looked at is carried to the middle of the model, so that pan and zoom are exact at any depth
// in every model, and only numbers relative to the camera reach the graphics card.
#pragma once

#include <optional>
#include <string>

#include "core/figure/hyperbolic_curve.h"
#include "core/geometry/model.h"

namespace conelab::desktop {

/// Half-plane coordinates.
struct PlanePoint {
  double x = 0, y = 1;
};

struct PlaneCamera {
  double x0 = 0;         ///< Half-plane: the boundary point at the middle.
  double log_scale = 0;  ///< Half-plane: the window is e^log_scale · 1.5 high.
  bool operator==(const PlaneCamera&) const = default;
  /// Beyond this, a pixel is no longer told from the next one in double.
  static constexpr double deepest = -25, farthest = 12;
};

class PlaneFrame {
 public:
  /// A rectangle of `width` × `height` pixels whose top left is `corner`. Half-plane, ball, Klein
  /// and band; the others have no flat picture and are shown as the ball.
  PlaneFrame(geometry::Model model, PlaneCamera camera, double width, double height,
             PlanePoint corner = {0, 0});

  /// Pixels, y downwards.
  [[nodiscard]] PlanePoint page(const PlanePoint& p) const;
  /// The same for any point of the closed plane, ideal ones included; what lies at infinity of the
  /// page is far outside the rectangle.
  [[nodiscard]] PlanePoint project(const figure::HemispherePoint& p) const;
  /// The point under a pixel; none outside the model.
  [[nodiscard]] std::optional<PlanePoint> plane(double x, double y) const;
  /// The camera under which `p` stands at the pixel (x, y); none outside the model.
  [[nodiscard]] std::optional<PlaneCamera> with_point_at(const PlanePoint& p, double x,
                                                         double y) const;

  [[nodiscard]] geometry::Model model() const { return model_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] PlanePoint corner() const { return corner_; }
  /// Model coordinates of the middle of the bottom (half-plane) or of the window, and per pixel.
  [[nodiscard]] PlanePoint origin() const { return origin_; }
  [[nodiscard]] double unit() const { return unit_; }
  /// x ↦ (x − x0)/λ makes half-plane coordinates relative to the camera.
  [[nodiscard]] double x0() const { return camera_.x0; }
  [[nodiscard]] double lambda() const;

 private:
  [[nodiscard]] PlanePoint to_model(const PlanePoint& p) const;
  /// Half-plane coordinates relative to the camera of a pixel; none outside the model.
  [[nodiscard]] std::optional<PlanePoint> relative(double x, double y) const;
  geometry::Model model_;
  PlaneCamera camera_;
  double width_, height_, unit_ = 1;
  PlanePoint corner_, origin_;  ///< In pixels.
};

}  // namespace conelab::desktop
