// The number types for which the formula of a similarity is compiled.
//
// Formulas are templates over a number type N: float and double (this file, on host and device),
// and on the CPU packs of SIMD vectors (core/simd/pack.h). The functions below are found by
// argument-dependent lookup. Constants are written N(0.5), so that a formula in float never
// computes in double.
#pragma once

#include <cmath>
#include <type_traits>

/// Marks a formula as callable on host and device, and as always inlined: a function call for each
/// pack would cost more than most formulas.
#if defined(__CUDACC__)
#define CONELAB_FORMULA __host__ __device__ __attribute__((always_inline))
#else
#define CONELAB_FORMULA [[gnu::always_inline]]
#endif

namespace conelab {

CONELAB_FORMULA inline float sqrt(float x) { return ::sqrtf(x); }
CONELAB_FORMULA inline double sqrt(double x) { return ::sqrt(x); }
CONELAB_FORMULA inline float log(float x) { return ::logf(x); }
CONELAB_FORMULA inline double log(double x) { return ::log(x); }
CONELAB_FORMULA inline float log1p(float x) { return ::log1pf(x); }
CONELAB_FORMULA inline double log1p(double x) { return ::log1p(x); }
/// Returns the larger argument, and b if one of them is NaN. An argument that may be NaN is
/// therefore passed second.
CONELAB_FORMULA inline float max(float a, float b) { return a > b ? a : b; }
CONELAB_FORMULA inline double max(double a, double b) { return a > b ? a : b; }

/// Returns the smallest positive normal number s. 3.99 / s is finite, 4 / s is not.
CONELAB_FORMULA inline float smallest(float) { return 1.17549435e-38f; }
CONELAB_FORMULA inline double smallest(double) { return 2.2250738585072014e-308; }

/// Returns `condition ? yes : no` for each lane.
CONELAB_FORMULA inline float select(bool condition, float yes, float no) {
  return condition ? yes : no;
}
CONELAB_FORMULA inline double select(bool condition, double yes, double no) {
  return condition ? yes : no;
}
/// Returns for each lane whether at least one of two conditions holds.
CONELAB_FORMULA inline bool either(bool a, bool b) { return a || b; }
/// `any` returns whether the condition holds in some lane, `all` whether it holds in every lane. A
/// formula uses them to skip a branch that no lane takes.
CONELAB_FORMULA inline bool any(bool condition) { return condition; }
CONELAB_FORMULA inline bool all(bool condition) { return condition; }

/// True for double and for packs of doubles.
template <class N>
inline constexpr bool is_double = std::is_same_v<N, double>;

/// A square root of x >= 0 and its inverse. At x = 0 the inverse is set to 0.
template <class N>
struct Root {
  N value, inverse;
};
template <class N>
CONELAB_FORMULA inline Root<N> root(N x) {
  const N value = sqrt(x);
  return {value, select(x > N(0), N(1) / value, N(0))};
}

/// Returns the square root of z (1 + z), z >= 0, and its inverse. From z = 1e18 on, where the
/// product might overflow in float, z itself is the root to rounding.
template <class N>
CONELAB_FORMULA inline Root<N> root_z_1_plus_z(N z) {
  Root<N> r = root(z * (N(1) + z));
  const auto far = z > N(1e18);
  if (any(far)) {
    r.value = select(far, z, r.value);
    r.inverse = select(far, N(1) / z, r.inverse);
  }
  return r;
}

/// Returns log(1 + x) for x >= 0. Its absolute error is that of rounding 1 + x, so it suits x that
/// are not small. On some targets it is cheaper than log1p.
template <class N>
CONELAB_FORMULA inline N log_above_one(N x) {
  return log1p(x);
}

/// Returns a / b with an error of at most 2 ulp. The quotient must be far from overflow and
/// underflow.
template <class N>
CONELAB_FORMULA inline N quotient(N a, N b) {
  return a / b;
}

/// True for packs of floats that provide three operations: `over_sqrt(scale, x)` computes scale /
/// sqrt(x) of normal, finite x at a lower cost than a root; `multiply_add(a, b, c)` computes a * b
/// + c with one rounding; `may_overflow(x)` returns whether some lane of x >= 0 might be infinite.
template <class N>
inline constexpr bool has_over_sqrt = false;

}  // namespace conelab
