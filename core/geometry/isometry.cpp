#include "core/geometry/isometry.h"

#include <cmath>

#include "core/base/error.h"

namespace conelab::geometry {
namespace {

Matrix eye(Eigen::Index n) { return Matrix::Identity(n, n); }

Matrix checked_orthogonal(const Matrix& a) {
  const bool square = a.rows() == a.cols();
  if (!square || !((a.transpose() * a - eye(a.rows())).cwiseAbs().maxCoeff() <= 1e-9)) {
    misuse("a rotation needs an orthogonal matrix (found {} x {})", a.rows(), a.cols());
  }
  return a;
}

double positive(double value, const char* what) {
  if (!(value > 0)) misuse("{} must be positive (found {})", what, value);
  return value;
}

/// Maps a boundary point of the half-space to the unit sphere (stereographic projection from e_d).
Vector to_sphere(const Vector& boundary) {
  const double n = boundary.squaredNorm();
  Vector out(boundary.size() + 1);
  out << boundary * (2 / (n + 1)), (n - 1) / (n + 1);
  return out;
}

/// The inverse; absent at the north pole, which is ∞. Dividing by the larger of 1 ∓ y_d keeps the
/// quotient accurate.
std::optional<Vector> from_sphere(const Vector& y) {
  const Eigen::Index m = y.size() - 1;
  const double across = y.head(m).squaredNorm();
  const double below = y[m] > 0 ? across / (1 + y[m]) : 1 - y[m];
  if (below <= 0) return std::nullopt;
  return Vector(y.head(m) / below);
}

/// Orthogonal Q of the ball about the origin (0,…,0,1), in the half-space's form.
Isometry rotation_about_origin(const Matrix& q) {
  const Eigen::Index d = q.rows();
  const Vector north = Vector::Unit(d, d - 1);
  const auto image = from_sphere(q * north);
  const auto pole = from_sphere(q.transpose() * north);
  if (!image || !pole) return boundary_rotation(q.topLeftCorner(d - 1, d - 1));
  Isometry f{pole, 1 + pole->squaredNorm(), eye(d - 1), *image};
  for (Eigen::Index i = 0; i + 1 < d; ++i) {
    const Vector moved = *from_sphere(q * to_sphere(*pole + Vector::Unit(d - 1, i)));
    f.rotation.col(i) = (moved - *image) / f.scale;
  }
  return f;
}

/// ι∘(c + λA·)∘ι in the standard form, ι(x) = x/‖x‖²; see `compose`.
Isometry inverted_similarity(double scale, const Matrix& a, const Vector& c) {
  const double n = c.squaredNorm();
  if (n == 0) return {std::nullopt, 1 / scale, a, Vector::Zero(c.size())};
  const Matrix reflection = eye(c.size()) - c * c.transpose() * (2 / n);
  return {Vector(a.transpose() * c * (-scale / n)), scale / n, reflection * a, c / n};
}

}  // namespace

Isometry identity(Eigen::Index d) { return {std::nullopt, 1, eye(d - 1), Vector::Zero(d - 1)}; }

Isometry translation(const Vector& b) { return {std::nullopt, 1, eye(b.size()), b}; }

Isometry dilation(Eigen::Index d, double factor) {
  return {std::nullopt, positive(factor, "the factor of a dilation"), eye(d - 1),
          Vector::Zero(d - 1)};
}

Isometry boundary_rotation(const Matrix& a) {
  return {std::nullopt, 1, checked_orthogonal(a), Vector::Zero(a.rows())};
}

Isometry inversion(const Vector& centre, double radius) {
  return {centre, radius * positive(radius, "the radius of an inversion"), eye(centre.size()),
          centre};
}

Isometry rotation_about(const Vector& p, const Matrix& orthogonal) {
  const Vector origin = Vector::Unit(p.size(), p.size() - 1);
  const Isometry there = carry(p, origin);
  return compose(inverse(there),
                 compose(rotation_about_origin(checked_orthogonal(orthogonal)), there));
}

Isometry carry(const Vector& p, const Vector& q) {
  const Eigen::Index m = p.size() - 1;
  const double factor = positive(q[m], "a height") / positive(p[m], "a height");
  return {std::nullopt, factor, eye(m), q.head(m) - factor * p.head(m)};
}

Isometry carry_to_infinity(const Vector& a) { return inversion(a, 1); }

// second∘first with first = b₁ + λ₁A₁ι(x−a₁). After moving second's pole to 0, the middle is
// ι(λA ι(z) + c) with z = x − a₁; with w = z + λAᵀc/‖c‖² it equals
// c/‖c‖² + (λ/‖c‖²)(I − 2ĉĉᵀ)A ι(w), the standard form again.
Isometry compose(const Isometry& second, const Isometry& first) {
  const Vector shifted = second.pole ? Vector(first.shift - *second.pole) : first.shift;
  Isometry inner{first.pole, first.scale, first.rotation, shifted};
  if (second.pole && !first.pole) {  // ι(λA(x + Aᵀc/λ)) = (1/λ) A ι(x + Aᵀc/λ)
    const Vector pole = first.rotation.transpose() * shifted * (-1 / first.scale);
    inner = {pole, 1 / first.scale, first.rotation, Vector::Zero(shifted.size())};
  } else if (second.pole && first.pole) {
    inner = inverted_similarity(first.scale, first.rotation, shifted);
    if (inner.pole) {
      *inner.pole += *first.pole;
    } else {
      inner.shift = inner.rotation * *first.pole * -inner.scale;
    }
  }
  return {inner.pole, second.scale * inner.scale, second.rotation * inner.rotation,
          second.shift + second.scale * (second.rotation * inner.shift)};
}

Isometry inverse(const Isometry& f) {
  const Matrix back = f.rotation.transpose();
  if (f.pole) return {f.shift, f.scale, back, *f.pole};
  return {std::nullopt, 1 / f.scale, back, back * f.shift * (-1 / f.scale)};
}

Vector apply(const Isometry& f, const Vector& x) {
  const Eigen::Index m = f.shift.size();
  if (x.size() != m + 1) {
    misuse("an isometry of {} dimensions got a point of {}", m + 1, x.size());
  }
  Vector y = x;
  if (f.pole) {
    y.head(m) -= *f.pole;
    const double norm = y.stableNorm();
    y = y / norm / norm;
  }
  Vector out(m + 1);
  out.head(m) = f.shift + f.scale * (f.rotation * y.head(m));
  out[m] = f.scale * y[m];
  return out;
}

ModelPoint apply(const Isometry& f, const ModelPoint& p) {
  const Vector image = apply(f, convert(p, Model::halfspace).x);
  return convert(ModelPoint{Model::halfspace, image, 1.0}, p.model);
}

}  // namespace conelab::geometry
