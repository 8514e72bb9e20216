// The filled regions and edges of a cone scene, for every pixel from their implicit forms.
//
// A pixel is carried to the half-plane, there to the law's coordinates (axis a, shadow p) of the
// family, and everything follows from the one law of cone_law.h: the cone of u is
// base(u, x) ≤ p_u − p, the common ancestors base(l, x) ≤ p − p_l, K(u, ·) the radial coordinate of
// max(p_u, p, (p_u + p + base)/2). Coverage is analytic: a border is as wide as its form changes
// over a pixel.
#pragma once

#include <QPalette>
#include <QSizeF>

#include "widgets/explorer/cone_scene.h"

namespace conelab::desktop {

class ConeShader {
 public:
  ConeShader();
  ~ConeShader();
  ConeShader(const ConeShader&) = delete;
  ConeShader& operator=(const ConeShader&) = delete;

  // With an OpenGL context current.
  void create();
  void destroy();
  /// `density` pixels of the framebuffer stand for one of the frame's.
  void draw(const PlaneFrame& frame, const ConeScene& scene, const ConeChoice& choice,
            const QSizeF& size, double density, const QPalette& palette);

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

/// The value of K (the depth) at which the colours begin and end.
struct DepthRange {
  double low, high;
};
[[nodiscard]] DepthRange depth_range(const ConeScene& scene, const PlaneFrame& frame);

}  // namespace conelab::desktop
