// The rows of token maps.
//
//   rope       column pair i of the token at position p is turned by the angle p base^(-2i/d)
//              (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   bilinear   q' = W^T q, so that q'.k = q^T W k
//   polar      a value (v_:, r) to the point tanh(r) v_:/|v_:| of the Klein ball (Gulcehre et al.);
//              the first axis where v_: = 0, whose derivative is 0 then; r < 0 lies opposite to |r|
//   lift       a value v to v / sqrt(1 + |v|^2), the point (v, sqrt(1 + |v|^2)) of the hyperboloid
#include "core/token/token_map.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/squared_norm.h"

namespace conelab {
namespace {

constexpr double needed = std::numeric_limits<double>::quiet_NaN();

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Rows = Eigen::Map<const Matrix<T>>;

const char* nothing(std::int64_t) { return nullptr; }

constexpr std::array rope_parameters{
    ParameterInfo{"position_base", 10000, Domain::positive, false,
                  "base of the angles p base^(-2i/d)"},
    ParameterInfo{"layout", 0, Domain::choice, false,
                  "which columns turn together: 2i and 2i + 1, or i and i + d/2",
                  "interleaved|halves"}};

const char* refuses_odd(std::int64_t columns) {
  return columns % 2 == 0 ? nullptr : "rope turns pairs of columns: their number must be even";
}

/// Turns every pair by `sign` times its angle.
template <class T>
void turn(const TokenBlock<T>& b, const T* x, double sign, T* out) {
  const std::int64_t pairs = b.columns / 2;
  const bool halves = b.values.p[1] != 0;
  std::vector<double> rate(static_cast<std::size_t>(pairs));
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double part = static_cast<double>(2 * i) / static_cast<double>(b.columns);
    rate[static_cast<std::size_t>(i)] = std::pow(b.values.p[0], -part);
  }
  for (std::int64_t t = 0; t < b.count; ++t, x += b.columns, out += b.columns) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(b.position + t) * rate[static_cast<std::size_t>(i)];
      const double c = std::cos(angle), s = sign * std::sin(angle);
      const std::int64_t first = halves ? i : 2 * i, second = halves ? i + pairs : 2 * i + 1;
      const auto u = static_cast<double>(x[first]), v = static_cast<double>(x[second]);
      out[first] = static_cast<T>(c * u - s * v);
      out[second] = static_cast<T>(s * u + c * v);
    }
  }
}
template <class T>
void rope(const TokenBlock<T>& block, T* out) {
  turn(block, block.x, 1, out);
}
template <class T>
void rope_back(const TokenBlock<T>& block, const T* upstream, T* dx, PartValues&) {
  turn(block, upstream, -1, dx);
}

constexpr std::array bilinear_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of q^T W k", "", "d,d"}};

template <class T>
Matrix<T> matrix_of(const PartValues& values, std::int64_t columns) {
  return Rows<double>(values.tensor[0].data(), columns, columns).template cast<T>();
}
template <class T>
void bilinear(const TokenBlock<T>& b, T* out) {
  const Rows<T> x(b.x, b.count, b.columns);
  Eigen::Map<Matrix<T>>(out, b.count, b.columns).noalias() = x * matrix_of<T>(b.values, b.columns);
}
template <class T>
void bilinear_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const Rows<T> x(b.x, b.count, b.columns), up(upstream, b.count, b.columns);
  Eigen::Map<Matrix<T>>(dx, b.count, b.columns).noalias() =
      up * matrix_of<T>(b.values, b.columns).transpose();
  const Matrix<T> dw = x.transpose() * up;
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), b.columns, b.columns) +=
      dw.template cast<double>();
}

/// The largest |v| of a point of the Klein ball: what is inside stays there when its coordinates
/// are rounded to T and their squares summed in double.
template <class T>
constexpr double klein_border = 1 - std::max<double>(std::numeric_limits<T>::epsilon(),
                                                     16 * std::numeric_limits<double>::epsilon());

const char* refuses_one(std::int64_t columns) {
  return columns >= 2 ? nullptr
                      : "value map polar takes a direction and a radius: values need at "
                        "least two columns";
}
std::int64_t all_but_radius(std::int64_t columns) { return columns - 1; }

/// |v_:|, and the unit vector v_:/|v_:| into u [size]; the first axis where v_: = 0.
template <class T>
double direction_of(const T* x, std::int64_t size, double* u) {
  const double norm = std::sqrt(squared_norm(x, size));
  for (std::int64_t i = 0; i < size; ++i) {
    u[i] = norm == 0 ? (i == 0 ? 1 : 0) : static_cast<double>(x[i]) / norm;
  }
  return norm;
}
template <class T>
double klein_radius(T r) {
  const double most = klein_border<T>;
  return std::clamp(std::tanh(static_cast<double>(r)), -most, most);
}
template <class T>
void polar(const TokenBlock<T>& b, T* out) {
  const std::int64_t size = b.columns - 1;
  std::vector<double> u(static_cast<std::size_t>(size));
  const T* x = b.x;
  for (std::int64_t t = 0; t < b.count; ++t, x += b.columns, out += size) {
    (void)direction_of(x, size, u.data());
    const double radius = klein_radius(x[size]);
    for (std::int64_t i = 0; i < size; ++i) {
      out[i] = static_cast<T>(radius * u[static_cast<std::size_t>(i)]);
    }
  }
}
template <class T>
void polar_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  const std::int64_t size = b.columns - 1;
  std::vector<double> u(static_cast<std::size_t>(size));
  const T* x = b.x;
  for (std::int64_t t = 0; t < b.count; ++t, x += b.columns, dx += b.columns, upstream += size) {
    const double norm = direction_of(x, size, u.data());
    double along = 0;
    for (std::int64_t i = 0; i < size; ++i) along += u[static_cast<std::size_t>(i)] * upstream[i];
    const double scale = norm == 0 ? 0 : klein_radius(x[size]) / norm;
    for (std::int64_t i = 0; i < size; ++i) {
      dx[i] = static_cast<T>(scale * (upstream[i] - along * u[static_cast<std::size_t>(i)]));
    }
    const double cosine = std::cosh(static_cast<double>(x[size]));
    dx[size] = static_cast<T>(along / (cosine * cosine));
  }
}

template <class T>
void lift(const TokenBlock<T>& b, T* out) {
  const T* x = b.x;
  for (std::int64_t t = 0; t < b.count; ++t, x += b.columns, out += b.columns) {
    const double norm2 = squared_norm(x, b.columns);
    // Where sqrt(1 + |v|^2) rounds to |v|, the point is kept inside.
    const double time = std::max(std::sqrt(1 + norm2), std::sqrt(norm2) / klein_border<T>);
    for (std::int64_t i = 0; i < b.columns; ++i) out[i] = static_cast<T>(x[i] / time);
  }
}
template <class T>
void lift_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  const T* x = b.x;
  for (std::int64_t t = 0; t < b.count;
       ++t, x += b.columns, dx += b.columns, upstream += b.columns) {
    const double time2 = 1 + squared_norm(x, b.columns), time = std::sqrt(time2);
    double along = 0;
    for (std::int64_t i = 0; i < b.columns; ++i) along += static_cast<double>(x[i]) * upstream[i];
    for (std::int64_t i = 0; i < b.columns; ++i) {
      dx[i] = static_cast<T>((upstream[i] - along / time2 * x[i]) / time);
    }
  }
}

constexpr std::array token_maps{TokenMapRow{"rope",
                                            "column pairs turned by p base^(-2i/d) (RoFormer)",
                                            rope_parameters,
                                            true,
                                            true,
                                            true,
                                            &refuses_odd,
                                            {&rope<float>, &rope_back<float>},
                                            {&rope<double>, &rope_back<double>}},
                                TokenMapRow{"bilinear",
                                            "q' = W^T q",
                                            bilinear_parameters,
                                            false,
                                            true,
                                            false,
                                            &nothing,
                                            {&bilinear<float>, &bilinear_back<float>},
                                            {&bilinear<double>, &bilinear_back<double>}},
                                TokenMapRow{"polar",
                                            "(v_:, r) to tanh(r) v_:/|v_:|, Klein coordinates, the "
                                            "first axis where v_: = 0 (Gulcehre et al.)",
                                            {},
                                            false,
                                            false,
                                            false,
                                            &refuses_one,
                                            {&polar<float>, &polar_back<float>},
                                            {&polar<double>, &polar_back<double>},
                                            true,
                                            &all_but_radius},
                                TokenMapRow{"lift",
                                            "v / sqrt(1 + |v|^2), Klein coordinates",
                                            {},
                                            false,
                                            false,
                                            false,
                                            &nothing,
                                            {&lift<float>, &lift_back<float>},
                                            {&lift<double>, &lift_back<double>},
                                            true}};

}  // namespace

std::span<const TokenMapRow> token_map_table() { return token_maps; }

const TokenMapRow* find_token_map(const std::string& name) {
  const auto found = std::find_if(token_maps.begin(), token_maps.end(),
                                  [&](const TokenMapRow& row) { return name == row.name; });
  return found == token_maps.end() ? nullptr : &*found;
}

}  // namespace conelab
