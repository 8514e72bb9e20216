#include "core/geometry/model.h"

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab::geometry {
namespace {

Vector spatial_of_halfspace(const Vector& x) {
  const Eigen::Index d = x.size();
  const double height = x[d - 1];
  Vector out(d);
  out.head(d - 1) = x.head(d - 1) / height;
  out[d - 1] = 0.5 * (out.head(d - 1).dot(x.head(d - 1)) + (height - 1) * (height + 1) / height);
  return out;
}

Vector spatial_of_band(const Vector& x, double cosine) {
  const Eigen::Index d = x.size();
  const double phi = x.head(d - 1).norm();
  Vector out(d);
  const double across = phi > 0 ? std::sin(phi) / (phi * cosine) : 1.0;
  out.head(d - 1) = x.head(d - 1) * across;
  out[d - 1] = std::sinh(x[d - 1]) / cosine;
  return out;
}

Vector halfspace_of_spatial(const Vector& s, double time) {
  const Eigen::Index d = s.size();
  const double up = s[d - 1];
  const double horizontal = s.head(d - 1).norm();
  // This is 1/height = X_t − X_d, written without cancellation for X_d > 0.
  const double inverse = up > 0 ? (1 + horizontal * horizontal) / (time + up) : time - up;
  Vector out(d);
  out.head(d - 1) = s.head(d - 1) / inverse;
  out[d - 1] = 1 / inverse;
  return out;
}

ModelPoint band_of_spatial(const Vector& s) {
  const Eigen::Index d = s.size();
  const double tangent = s.head(d - 1).norm();
  const double cosine = 1 / std::hypot(1.0, tangent);
  Vector out(d);
  out.head(d - 1) = s.head(d - 1) * (tangent > 0 ? std::atan(tangent) / tangent : 1.0);
  out[d - 1] = std::asinh(s[d - 1] * cosine);
  return {Model::band, out, cosine};
}

void check_inside(bool inside, const std::string& label, Model model, const char* bound,
                  double found) {
  if (!inside) {
    misuse("{}: outside the {} model (expected {}, found {})", label, model_name(model), bound,
           found);
  }
}

/// Returns the point with its time coordinate computed anew. Throws misuse if the given one
/// violates the equation of the hyperboloid.
Vector on_hyperboloid(const Vector& x, const std::string& label) {
  const Eigen::Index d = x.size() - 1;
  const double time = std::hypot(1.0, x.head(d).norm());
  if (!(std::abs(x[d] - time) <= 1e-9 * time)) {
    misuse("{}: not on the hyperboloid (expected last coordinate sqrt(1 + |x|^2) = {}, found {})",
           label, time, x[d]);
  }
  Vector out = x;
  out[d] = time;
  return out;
}

}  // namespace

const char* model_name(Model model) {
  static constexpr const char* names[] = {"halfspace", "ball", "klein", "hyperboloid", "band"};
  return names[static_cast<std::size_t>(model)];
}

Model model_from_name(const std::string& name) {
  std::vector<std::string> known;
  for (const Model model : all_models) {
    if (name == model_name(model)) return model;
    known.emplace_back(model_name(model));
  }
  unknown_name("model", name, known);
}

double one_minus_squared_norm(const Vector& x) {
  double sum = 1, lost = 0;
  for (const double value : x) {
    const double square = value * value;
    const double square_error = std::fma(value, value, -square);
    const double next = sum - square;
    // The rounding error of `next` follows from a two-sum.
    const double back = next - sum;
    lost += (sum - (next - back)) - (square + back) - square_error;
    sum = next;
  }
  return sum + lost;
}

ModelPoint point(Model model, const Vector& x, const std::string& label) {
  const Eigen::Index least = model == Model::hyperboloid ? 3 : 2;
  if (x.size() < least) {
    misuse("{}: too few coordinates for the {} model (expected at least {}, found {})", label,
           model_name(model), least, x.size());
  }
  if (!x.allFinite()) misuse("{}: a coordinate is not a finite number", label);
  const Eigen::Index last = x.size() - 1;
  ModelPoint p{model, x, 1.0};
  switch (model) {
    case Model::halfspace:
      check_inside(x[last] > 0, label, model, "height > 0", x[last]);
      break;
    case Model::ball:
    case Model::klein:
      p.gap = one_minus_squared_norm(x);
      check_inside(p.gap > 0, label, model, "|x| < 1", x.stableNorm());
      break;
    case Model::hyperboloid:
      p.x = on_hyperboloid(x, label);
      break;
    case Model::band: {
      const double across = x.head(last).stableNorm();
      p.gap = std::cos(across);
      check_inside(across < std::numbers::pi / 2, label, model, "|w| < pi/2", across);
      break;
    }
  }
  return p;
}

Vector spatial(const ModelPoint& p) {
  switch (p.model) {
    case Model::halfspace:
      return spatial_of_halfspace(p.x);
    case Model::ball:
      return p.x * (2 / p.gap);
    case Model::klein:
      return p.x / std::sqrt(p.gap);
    case Model::hyperboloid:
      return p.x.head(p.x.size() - 1);
    case Model::band:
      return spatial_of_band(p.x, p.gap);
  }
  return {};
}

ModelPoint from_spatial(const Vector& s, Model to) {
  const double time = std::hypot(1.0, s.stableNorm());
  switch (to) {
    case Model::halfspace:
      return {to, halfspace_of_spatial(s, time), 1.0};
    case Model::ball:
      return {to, s / (1 + time), 2 / (1 + time)};
    case Model::klein:
      return {to, s / time, 1 / (time * time)};
    case Model::hyperboloid: {
      Vector out(s.size() + 1);
      out << s, time;
      return {to, out, 1.0};
    }
    case Model::band:
      return band_of_spatial(s);
  }
  return {};
}

ModelPoint convert(const ModelPoint& from, Model to) {
  return from.model == to ? from : from_spatial(spatial(from), to);
}

Vector convert(const Vector& x, Model from, Model to) { return convert(point(from, x), to).x; }

double distance_to_origin(const ModelPoint& p) { return std::asinh(spatial(p).stableNorm()); }

}  // namespace conelab::geometry
