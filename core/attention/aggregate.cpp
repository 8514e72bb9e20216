#include "core/attention/aggregate.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace conelab {
namespace {

template <class T>
double squared_norm(const T* v, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i)
    sum += static_cast<double>(v[i]) * static_cast<double>(v[i]);
  return sum;
}

/// v -> (g v, g)
template <class T>
void lift_midpoint(const T* v, std::int64_t size, std::int64_t token, T* row) {
  const double norm2 = squared_norm(v, size);
  if (norm2 >= 1) {
    fail("token {} of v lies outside the Klein ball of the Einstein midpoint (|v|^2 = {:.6g})",
         token, norm2);
  }
  const double gamma = 1 / std::sqrt(1 - norm2);
  for (std::int64_t c = 0; c < size; ++c) row[c] = static_cast<T>(gamma * v[c]);
  row[size] = static_cast<T>(gamma);
}

}  // namespace

template <class T>
void lift_values(bool einstein, const T* values, std::int64_t value_size, std::int64_t first,
                 std::int64_t count, std::ptrdiff_t stride, T* out,
                 std::vector<std::int64_t>& bad) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T* v = values + i * value_size;
    T* row = out + i * stride;
    std::fill(row, row + stride, T(0));
    if (!std::all_of(v, v + value_size, [](T x) { return std::isfinite(x); })) {
      bad.push_back(first + i);
      if (!einstein)
        std::replace_copy_if(
            v, v + value_size, row, [](T x) { return !std::isfinite(x); }, T(0));
    } else if (einstein) {
      lift_midpoint(v, value_size, first + i, row);
    } else {
      std::copy_n(v, value_size, row);
    }
  }
}

template <class T>
void finish_row(bool einstein, const T* sums, std::int64_t value_size, T scale, T* output) {
  const T divisor = einstein ? sums[value_size] : T(1);
  const T factor = einstein ? (divisor == 0 ? T(0) : 1 / divisor) : scale;
  for (std::int64_t c = 0; c < value_size; ++c) output[c] = sums[c] * factor;
}

template <class T>
void lift_output_grad(bool einstein, const T* output_grad, const T* output, std::int64_t value_size,
                      T divisor, T* out) {
  if (!einstein) {
    std::copy_n(output_grad, value_size, out);
    return;
  }
  const T inverse = divisor == 0 ? T(0) : 1 / divisor;
  T along = 0;
  for (std::int64_t c = 0; c < value_size; ++c) {
    out[c] = output_grad[c] * inverse;
    along += out[c] * output[c];
  }
  out[value_size] = -along;
}

template <class T>
void lower_value_grad(bool einstein, const T* lifted_grad, const T* value, std::int64_t value_size,
                      T* out) {
  if (!einstein) {
    std::copy_n(lifted_grad, value_size, out);
    return;
  }
  // (g v, g) with dg/dv = g^3 v.
  const double gamma = 1 / std::sqrt(1 - squared_norm(value, value_size));
  double by_gamma = lifted_grad[value_size];
  for (std::int64_t c = 0; c < value_size; ++c) by_gamma += lifted_grad[c] * value[c];
  const double radial = by_gamma * gamma * gamma * gamma;
  for (std::int64_t c = 0; c < value_size; ++c) {
    out[c] = static_cast<T>(gamma * lifted_grad[c] + radial * value[c]);
  }
}

#define CONELAB_AGGREGATE(T)                                                          \
  template void lift_values(bool, const T*, std::int64_t, std::int64_t, std::int64_t, \
                            std::ptrdiff_t, T*, std::vector<std::int64_t>&);          \
  template void finish_row(bool, const T*, std::int64_t, T, T*);                      \
  template void lift_output_grad(bool, const T*, const T*, std::int64_t, T, T*);      \
  template void lower_value_grad(bool, const T*, const T*, std::int64_t, T*);
CONELAB_AGGREGATE(float)
CONELAB_AGGREGATE(double)

}  // namespace conelab
