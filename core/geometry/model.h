// The five models of hyperbolic space H^d (curvature −1) and the conversions between them.
//
//   halfspace    (x_:, height)          height > 0                      d numbers
//   ball         y, Poincaré            ‖y‖ < 1                         d numbers
//   klein        k, projective          ‖k‖ < 1                         d numbers
//   hyperboloid  (X, √(1+‖X‖²))         time coordinate last            d + 1 numbers
//   band         (w, t)                 ‖w‖ < π/2                       d numbers
//
// All models share one origin: the point (0,…,0,1) of the half-space is the centre of the balls.
// The point ∞ of the half-space is the north pole e_d of the balls. The half-space is mapped to the
// ball by y = (2x_:, ‖x‖²−1) / (1+2x_d+‖x‖²). The band is the half-space in polar coordinates about
// the axis 0–∞: t = log‖x‖ is the coordinate along the axis and w = φ·x_:/‖x_:‖ that across it,
// where φ is the angle from the axis. For d = 2 it is the conformal strip i·log(−iz); in more
// dimensions every plane through the axis is such a strip.
//
// Accuracy: every conversion passes through X, the spatial part of the hyperboloid, and its
// formulas add positive terms only. Coordinates therefore keep their digits at any distance ρ from
// the origin. But a coordinate of the ball or the band, rounded to double, moves the point by about
// ε e^ρ/4, and one of the Klein ball by ε e^{2ρ}/8. `ModelPoint::gap` stores the part that the
// coordinate loses, so that chains of conversions of ModelPoints stay accurate. Measured for the
// worst of 1,000 points and all 25 chains A→B→A, relative to the larger of 1 and the coordinates:
//   ρ                          1        4        8        12       16       300
//   chains of ModelPoints      7e-16    7e-16    8e-16    7e-16    9e-16    6e-16
//   chains of coordinates      7e-16    3e-13    8e-10    3e-06    7e-03    —
#pragma once

#include <Eigen/Core>
#include <string>

namespace conelab::geometry {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

enum class Model { halfspace, ball, klein, hyperboloid, band };

/// All models, in the order of the table above.
inline constexpr Model all_models[] = {Model::halfspace, Model::ball, Model::klein,
                                       Model::hyperboloid, Model::band};

/// Returns "halfspace", "ball", "klein", "hyperboloid" or "band".
[[nodiscard]] const char* model_name(Model model);
/// Returns the model of this name. Throws misuse for an unknown name; the message lists the names.
[[nodiscard]] Model model_from_name(const std::string& name);

/// A point of H^d in the coordinates of one model.
struct ModelPoint {
  Model model = Model::halfspace;
  Vector x;  ///< The coordinates [d]; on the hyperboloid [d + 1].
  /// 1 − ‖x‖² in the ball and the Klein ball, cos‖w‖ in the band, without the rounding of x. The
  /// other models do not use it.
  double gap = 1.0;

  /// Returns d.
  [[nodiscard]] Eigen::Index dimension() const {
    return model == Model::hyperboloid ? x.size() - 1 : x.size();
  }
};

/// Returns the point with these coordinates and computes its gap. Throws misuse if a coordinate is
/// not finite, if d < 2, if the point is outside the model, or if a point of the hyperboloid misses
/// ‖X‖² − X_t² = −1 by more than 1e-9 (relative). A smaller error is corrected by computing X_t
/// anew. The message begins with `label` and names the bound.
[[nodiscard]] ModelPoint point(Model model, const Vector& x, const std::string& label = "point");

/// Returns the same point in another model. If the models agree, the result is equal bit by bit.
[[nodiscard]] ModelPoint convert(const ModelPoint& from, Model to);
/// Does the same for coordinates: returns `convert(point(from, x), to).x`.
[[nodiscard]] Vector convert(const Vector& x, Model from, Model to);

/// Returns X = sinh(ρ)·direction [d], the spatial part of the point on the hyperboloid.
[[nodiscard]] Vector spatial(const ModelPoint& p);
/// Returns the point with this spatial part [d], in the model `to`.
[[nodiscard]] ModelPoint from_spatial(const Vector& spatial, Model to);

/// Returns ρ, the hyperbolic distance from the shared origin.
[[nodiscard]] double distance_to_origin(const ModelPoint& p);

/// Returns 1 − ‖x‖², correct to the last digit for the given doubles (compensated sum of products).
[[nodiscard]] double one_minus_squared_norm(const Vector& x);

}  // namespace conelab::geometry
