// Token maps of values, which give points of the Klein ball.
//
//   polar   (v_:, r) to tanh(r) v_:/|v_:| (Gulcehre et al.). If v_: = 0 the direction is the first
//           axis and its derivative 0. A negative r gives the point opposite to that of |r|
//   lift    v to v / sqrt(1 + |v|^2), which is the point (v, sqrt(1 + |v|^2)) of the hyperboloid
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/squared_norm.h"
#include "core/token/token_map.h"

namespace conelab {
namespace {

/// The largest |v| of a point of the Klein ball. Such a point stays inside when its coordinates are
/// rounded to T and their squares are summed in double.
template <class T>
constexpr double klein_border = 1 - std::max<double>(std::numeric_limits<T>::epsilon(),
                                                     16 * std::numeric_limits<double>::epsilon());

const char* refuses_one(std::int64_t columns) {
  return columns >= 2 ? nullptr
                      : "value map polar takes a direction and a radius: values need at "
                        "least two columns";
}
std::int64_t all_but_radius(std::int64_t columns, std::span<const Parameter>) {
  return columns - 1;
}

/// Returns |v_:| and sets u [size] to v_:/|v_:|, or to the first axis if v_: = 0.
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
  const std::int64_t size = b.x.columns - 1;
  std::vector<double> u(static_cast<std::size_t>(size));
  for (std::int64_t t = 0; t < b.x.count; ++t, out += size) {
    const T* x = b.x.row(t);
    (void)direction_of(x, size, u.data());
    const double radius = klein_radius(x[size]);
    for (std::int64_t i = 0; i < size; ++i) {
      out[i] = static_cast<T>(radius * u[static_cast<std::size_t>(i)]);
    }
  }
}
template <class T>
void polar_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  const std::int64_t size = b.x.columns - 1;
  std::vector<double> u(static_cast<std::size_t>(size));
  for (std::int64_t t = 0; t < b.x.count; ++t, dx += size + 1, upstream += size) {
    const T* x = b.x.row(t);
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
  const std::int64_t size = b.x.columns;
  for (std::int64_t t = 0; t < b.x.count; ++t, out += size) {
    const T* x = b.x.row(t);
    const double norm2 = squared_norm(x, size);
    // If sqrt(1 + |v|^2) rounds to |v|, the point is moved inside.
    const double time = std::max(std::sqrt(1 + norm2), std::sqrt(norm2) / klein_border<T>);
    for (std::int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(x[i] / time);
  }
}
template <class T>
void lift_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  const std::int64_t size = b.x.columns;
  for (std::int64_t t = 0; t < b.x.count; ++t, dx += size, upstream += size) {
    const T* x = b.x.row(t);
    const double time2 = 1 + squared_norm(x, size), time = std::sqrt(time2);
    double along = 0;
    for (std::int64_t i = 0; i < size; ++i) along += static_cast<double>(x[i]) * upstream[i];
    for (std::int64_t i = 0; i < size; ++i) {
      dx[i] = static_cast<T>((upstream[i] - along / time2 * x[i]) / time);
    }
  }
}

constexpr std::array value_maps{
    TokenMapRow{.name = "polar",
                .about = "(v_:, r) to tanh(r) v_:/|v_:|, Klein coordinates, the first axis where "
                         "v_: = 0",
                .paper = "Gulcehre et al.",
                .maps_value = true,
                .refuses = &refuses_one,
                .columns = &all_but_radius,
                .f32 = {&polar<float>, &polar_back<float>},
                .f64 = {&polar<double>, &polar_back<double>}},
    TokenMapRow{.name = "lift",
                .about = "v / sqrt(1 + |v|^2), Klein coordinates",
                .maps_value = true,
                .f32 = {&lift<float>, &lift_back<float>},
                .f64 = {&lift<double>, &lift_back<double>}}};

}  // namespace

std::span<const TokenMapRow> value_rows() { return value_maps; }

}  // namespace conelab
