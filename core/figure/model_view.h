// One model of the hyperbolic plane on the page, with exact outlines of curves.
//
// In the half-plane and the ball, curves are arcs of circles and lines; in the Klein ball they are
// chords and arcs of ellipses. In the band and on the hyperboloid (drawn in oblique projection up
// to a height) they are no conics; they are drawn as cubics that deviate by at most 0.02 pt.
#pragma once

#include "core/drawing/plane_scene.h"
#include "core/figure/hyperbolic_curve.h"

namespace conelab::figure {

class ModelView {
 public:
  /// The window is in the coordinates of the model (on the hyperboloid, see `projected`); for the
  /// other arguments see PlaneScene.
  ModelView(geometry::Model model, Window window, Point corner, double width, double most_height);
  /// Returns the default window of a model: the unit disc, the band −2.4 < t < 2.4, the hyperboloid
  /// up to `rim_time`, or [−1.5, 1.5] × [0, 1.6] of the half-plane.
  [[nodiscard]] static Window usual_window(geometry::Model model);

  [[nodiscard]] geometry::Model model() const { return model_; }
  [[nodiscard]] const PlaneScene& scene() const { return scene_; }
  [[nodiscard]] const Box& box() const { return scene_.box(); }

  /// Returns the coordinates of a point in the model. A point at infinity is far outside the
  /// window.
  [[nodiscard]] Point world(const HemispherePoint& p) const;
  [[nodiscard]] Point page(const HemispherePoint& p) const { return scene_.page(world(p)); }
  /// Returns the point of the plane that is drawn at a point of the page, or the nearest one if
  /// that is outside the domain. There is none on the hyperboloid, parts of which hide others.
  [[nodiscard]] HemispherePoint nearest(Point page) const;
  /// Returns the outline of a curve. It is closed if the curve is whole or ends at its beginning.
  [[nodiscard]] Path path(const Curve& curve) const;
  /// Returns the same as a line for a stroke. A line to infinity ends shortly outside the box, so
  /// that the number of dashes stays small, and is not closed there.
  [[nodiscard]] Path line(const Curve& curve) const;
  /// Returns the side of a whole cycle that contains `inside`. On the half-plane this may be all
  /// that is above or below a line.
  [[nodiscard]] Path area(const CycleArc& whole, const HemispherePoint& inside) const;
  /// Returns the domain of the model (disc, half-plane or strip), for clipping and background.
  [[nodiscard]] Path domain() const;
  /// Returns the part of the box that the domain fills; the strip of a tall band is narrower than
  /// its box.
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

/// Returns the name of a model for titles: "half-plane", "Poincaré ball", …
[[nodiscard]] const char* model_title(geometry::Model model);

/// The height X_t up to which the hyperboloid is drawn, and its oblique projection.
inline constexpr double rim_time = 2.8;
[[nodiscard]] Point projected(const HemispherePoint& p);

}  // namespace conelab::figure
