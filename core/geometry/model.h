// The five models of hyperbolic space H^d (curvature -1) and the conversions between all of them.
//
//   halfspace    (x_:, height)          height > 0                      d numbers
//   ball         y, Poincaré            ‖y‖ < 1                         d numbers
//   klein        k, projective          ‖k‖ < 1                         d numbers
//   hyperboloid  (X, √(1+‖X‖²))         time coordinate last            d + 1 numbers
//   band         (w, t)                 ‖w‖ < π/2                       d numbers
//
// All share one origin: (0,…,0,1) of the half-space is the centre of the balls; the half-space's
// infinity is their north pole e_d. Half-space → ball is y = (2x_:, ‖x‖²−1) / (1+2x_d+‖x‖²).
// The band is the half-space in polar coordinates about the axis 0–∞: t = log‖x‖ runs along the
// axis and w = φ·x_:/‖x_:‖ across, φ the angle from the axis. For d = 2 it is the conformal strip
// i·log(−iz); in more dimensions every plane through the axis is such a strip.
//
// Every conversion passes through X, the spatial part of the hyperboloid, by formulas that only
// add positive terms, so that coordinates keep their digits at any distance ρ from the origin. What
// cannot be kept is what the *target* cannot hold: rounding a coordinate of the ball or the band
// moves the point by about ε e^ρ/4, one of the Klein ball by ε e^{2ρ}/8. `gap` carries the lost
// part, so chains of ModelPoints stay accurate where bare coordinates do not. Measured, the worst
// of 1,000 points and all 25 chains A→B→A, relative to the larger of 1 and the coordinates:
//   ρ                          1        4        8        12       16       300
//   ModelPoint chains          7e-16    7e-16    8e-16    7e-16    9e-16    6e-16
//   bare coordinates           7e-16    3e-13    8e-10    3e-06    7e-03    —
//   distance held by a bare    ball 8e-15 at 4, 3e-11 at 12; band 2e-14, 5e-11; Klein 3e-13, 3e-06
#pragma once

#include <Eigen/Core>
#include <string>

namespace conelab::geometry {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

enum class Model { halfspace, ball, klein, hyperboloid, band };

/// All models, in the order of the names above.
inline constexpr Model all_models[] = {Model::halfspace, Model::ball, Model::klein,
                                       Model::hyperboloid, Model::band};

/// "halfspace", "ball", "klein", "hyperboloid", "band".
[[nodiscard]] const char* model_name(Model model);
/// The inverse; misuse for an unknown name, naming the known ones.
[[nodiscard]] Model model_from_name(const std::string& name);

/// A point in the coordinates of a model.
struct ModelPoint {
  Model model = Model::halfspace;
  Vector x;  ///< Coordinates, d numbers (hyperboloid: d + 1).
  double gap =
      1.0;  ///< ball, klein: 1 − ‖x‖²; band: cos‖w‖; else unused. Exact where x has rounded.

  /// d of H^d.
  [[nodiscard]] Eigen::Index dimension() const {
    return model == Model::hyperboloid ? x.size() - 1 : x.size();
  }
};

/// Checks the coordinates and computes the gap. Misuse, beginning with `label` and naming the
/// bound: numbers that are not finite, fewer than two dimensions, a point outside the model, a
/// hyperboloid point that misses ‖X‖² − X_t² = −1 by more than 1e-9 relative (X_t is then
/// recomputed).
[[nodiscard]] ModelPoint point(Model model, const Vector& x, const std::string& label = "point");

/// The same point in another model; identity, to the bit, where the models agree.
[[nodiscard]] ModelPoint convert(const ModelPoint& from, Model to);
/// For bare coordinates: `convert(point(from, x), to).x`.
[[nodiscard]] Vector convert(const Vector& x, Model from, Model to);

/// X = sinh(ρ)·direction, the spatial part of the hyperboloid [d].
[[nodiscard]] Vector spatial(const ModelPoint& p);
/// The point with that spatial part.
[[nodiscard]] ModelPoint from_spatial(const Vector& spatial, Model to);

/// Hyperbolic distance to the shared origin.
[[nodiscard]] double distance_to_origin(const ModelPoint& p);

/// 1 − ‖x‖², correct to the last place for the given doubles (compensated sum of products).
[[nodiscard]] double one_minus_squared_norm(const Vector& x);

}  // namespace conelab::geometry
