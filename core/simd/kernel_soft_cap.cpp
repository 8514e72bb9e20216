// The kernels of soft_cap.h.
#include "core/simd/similarity_kernels.h"

namespace conelab::CONELAB_SIMD {
namespace {

/// Returns tanh u within 4 ulp (Highway's Tanh), also for small u, where it is close to u. NaN
/// gives NaN.
template <class T, int n>
HWY_INLINE Pack<T, n> tanh(const Pack<T, n>& u) {
  return each(u, [](auto a) { return hn::IfThenElse(hn::IsNaN(a), a, hn::Tanh(Tag<T>(), a)); });
}

struct SoftCap {
  static constexpr int values = 0;
  static constexpr int constants = 1;
  static constexpr bool token_slope = false;

  template <class P>
  HWY_INLINE static P score(const P& x, const P*, const P*, const P* c) {
    return c[0] * tanh(x / c[0]);
  }
  /// With u = x / c and t = tanh u: d/dx = 1 - t^2, d/dc = t - u (1 - t^2), and 1 or -1 where u is
  /// infinite.
  template <class P>
  HWY_INLINE static Slope<P, constants> slope(const P& x, const P*, const P*, const P* c) {
    const P u = x / c[0], t = tanh(u), by_x = P(1) - t * t;
    return {c[0] * t, by_x, P(0), P(0), {select(by_x == P(0), t, t - u * by_x)}};
  }
};

}  // namespace

template <class T>
SimilarityKernels<T> soft_cap_kernels() {
  return kernels_of<SoftCap, T>();
}
template SimilarityKernels<float> soft_cap_kernels();
template SimilarityKernels<double> soft_cap_kernels();

}  // namespace conelab::CONELAB_SIMD
