// One model of the hyperbolic plane on the page, and exact outlines of its curves.
//
// Half-plane and ball draw circles' arcs and lines, Klein chords and ellipses' arcs. In the band
// and on the hyperboloid (seen obliquely from above, cut at a height) cycles are no conics of the
// page; they become cubics, split until each stays within 0.02 pt of the curve.
#pragma once

#include "core/figure/hyperbolic_curve.h"
#include "core/figure/plane_scene.h"

namespace conelab::figure {

class ModelView {
 public:
  /// The window is in the model's coordinates (hyperboloid: see `projected`); see PlaneScene.
  ModelView(geometry::Model model, Window window, Point corner, double width, double most_height);
  /// The model's usual window: the unit disc, the band −2.4 < t < 2.4, the hyperboloid below its
  /// rim; for the half-plane [−1.5, 1.5] × [0, 1.6].
  [[nodiscard]] static Window usual_window(geometry::Model model);

  [[nodiscard]] geometry::Model model() const { return model_; }
  [[nodiscard]] const PlaneScene& scene() const { return scene_; }
  [[nodiscard]] const Box& box() const { return scene_.box(); }

  /// The model's coordinates; far outside the window for what lies at infinity.
  [[nodiscard]] Point world(const HemispherePoint& p) const;
  [[nodiscard]] Point page(const HemispherePoint& p) const { return scene_.page(world(p)); }
  /// The outline; a closed one for a curve that ends where it began or is whole.
  [[nodiscard]] Path path(const Curve& curve) const;
  /// The same as a line to stroke: what leads straight to infinity ends a little outside the box,
  /// so that dashes stay countable, and is not joined up there.
  [[nodiscard]] Path line(const Curve& curve) const;
  /// The area of a whole cycle that contains `inside`; on the half-plane this may be everything
  /// above or below a line.
  [[nodiscard]] Path area(const CycleArc& whole, const HemispherePoint& inside) const;
  /// The model's own domain (disc, half-plane, strip), for the clip and the ground.
  [[nodiscard]] Path domain() const;
  /// The domain's part of the box; the strip of a tall band is narrower than its box.
  [[nodiscard]] Box field() const;

 private:
  enum class Ends { far, clipped };
  void add_arc(Path& path, const CycleArc& arc, Ends ends) const;
  void add_circle_arc(Path& path, const CycleArc& arc, const WeightedCircle& circle,
                      Ends ends) const;
  void add_klein_arc(Path& path, const CycleArc& arc, Ends ends) const;
  void add_refined(Path& path, const CycleArc& arc) const;
  void line_to(Path& path, const CycleArc& arc, Ends ends) const;

  geometry::Model model_;
  PlaneScene scene_;
};

/// "half-plane", "Poincaré ball", … as a panel's title.
[[nodiscard]] const char* model_title(geometry::Model model);

/// The hyperboloid's height X_t up to which it is drawn, and its oblique projection.
inline constexpr double rim_time = 2.8;
[[nodiscard]] Point projected(const HemispherePoint& p);

}  // namespace conelab::figure
