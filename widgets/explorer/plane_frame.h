// The hyperbolic plane on a rectangle of pixels, in one of its models.
//
// Half-plane: the camera is (x0, log scale) in double; translation along and dilation about the
// boundary are isometries, so pan and zoom are exact at any depth, and only numbers relative to the
// camera reach the graphics card. The other models show all of the plane.
#pragma once

#include <optional>
#include <string>

#include "core/geometry/model.h"

namespace conelab::desktop {

/// Half-plane coordinates.
struct PlanePoint {
  double x = 0, y = 1;
};

struct PlaneCamera {
  double x0 = 0;         ///< The boundary point at the middle.
  double log_scale = 0;  ///< The window is e^log_scale · 1.5 high.
};

class PlaneFrame {
 public:
  PlaneFrame(geometry::Model model, PlaneCamera camera, double width, double height);

  /// Pixels, y downwards.
  [[nodiscard]] PlanePoint page(const PlanePoint& p) const;
  /// The point under a pixel; none outside the model.
  [[nodiscard]] std::optional<PlanePoint> plane(double x, double y) const;

  [[nodiscard]] geometry::Model model() const { return model_; }
  /// Model coordinates of the middle of the bottom (half-plane) or of the window, and per pixel.
  [[nodiscard]] PlanePoint origin() const { return origin_; }
  [[nodiscard]] double unit() const { return unit_; }
  /// x ↦ (x − x0)/λ makes half-plane coordinates relative to the camera.
  [[nodiscard]] double x0() const { return camera_.x0; }
  [[nodiscard]] double lambda() const;

 private:
  [[nodiscard]] PlanePoint to_model(const PlanePoint& p) const;
  geometry::Model model_;
  PlaneCamera camera_;
  double width_, height_, unit_ = 1;
  PlanePoint origin_;  ///< In pixels.
};

}  // namespace conelab::desktop
