// The number type of a similarity's formula.
//
// Formulas are templates over a number N: float and double here (host and device), and on the CPU a
// pack of several SIMD vectors (core/simd/pack.h), found by argument-dependent lookup. Constants
// are written N(0.5), so that a float formula never computes in double.
#pragma once

#include <cmath>
#include <type_traits>

/// Formulas run on host and device, and always inside the driver's loop: a call for each pack would
/// cost more than most of them.
#if defined(__CUDACC__)
#define CONELAB_FORMULA __host__ __device__ __attribute__((always_inline))
#else
#define CONELAB_FORMULA [[gnu::always_inline]]
#endif

namespace conelab {

CONELAB_FORMULA inline float sqrt(float x) { return ::sqrtf(x); }
CONELAB_FORMULA inline double sqrt(double x) { return ::sqrt(x); }
CONELAB_FORMULA inline float log1p(float x) { return ::log1pf(x); }
CONELAB_FORMULA inline double log1p(double x) { return ::log1p(x); }
/// NaN where b is: what may be no number stands second.
CONELAB_FORMULA inline float max(float a, float b) { return a > b ? a : b; }
CONELAB_FORMULA inline double max(double a, double b) { return a > b ? a : b; }

/// The least positive number of full precision. 3.99 over it is finite, 4 is not.
CONELAB_FORMULA inline float smallest(float) { return 1.17549435e-38f; }
CONELAB_FORMULA inline double smallest(double) { return 2.2250738585072014e-308; }

/// `condition ? yes : no`, lane by lane.
CONELAB_FORMULA inline float select(bool condition, float yes, float no) {
  return condition ? yes : no;
}
CONELAB_FORMULA inline double select(bool condition, double yes, double no) {
  return condition ? yes : no;
}
/// Whether one of two conditions holds, lane by lane.
CONELAB_FORMULA inline bool either(bool a, bool b) { return a || b; }
/// The vote of all lanes: lets a formula skip a branch that no lane takes.
CONELAB_FORMULA inline bool any(bool condition) { return condition; }
CONELAB_FORMULA inline bool all(bool condition) { return condition; }

/// Whether a number, or each of a pack, is a double.
template <class N>
inline constexpr bool is_double = std::is_same_v<N, double>;

/// The square root of x >= 0, and its inverse, which is 0 where x is.
template <class N>
struct Root {
  N value, inverse;
};
template <class N>
CONELAB_FORMULA inline Root<N> root(N x) {
  const N value = sqrt(x);
  return {value, select(x > N(0), N(1) / value, N(0))};
}

/// That of z (1 + z), z >= 0. From 1e18 on that is z's square, which might overflow.
template <class N>
CONELAB_FORMULA inline Root<N> rising_root(N z) {
  Root<N> r = root(z * (N(1) + z));
  const auto far = z > N(1e18);
  if (any(far)) {
    r.value = select(far, z, r.value);
    r.inverse = select(far, N(1) / z, r.inverse);
  }
  return r;
}

/// log(1 + x) for x >= 0, with as little absolute error as 1 + x rounded has: what is cheaper than
/// log1p on some targets, and as good where x is not small.
template <class N>
CONELAB_FORMULA inline N log_above_one(N x) {
  return log1p(x);
}

/// a / b, to 2 ulp, of numbers whose quotient is far from the ends of the number type.
template <class N>
CONELAB_FORMULA inline N quotient(N a, N b) {
  return a / b;
}

/// Whether a number type of floats has `over_sqrt(scale, x)`, scale / sqrt(x) of normal, finite x,
/// at less than the cost of a root, `multiply_add(a, b, c)`, a * b + c in one rounding, and
/// `may_overflow(x)`, the vote whether a lane of x >= 0 might be infinite.
template <class N>
inline constexpr bool has_over_sqrt = false;

}  // namespace conelab
