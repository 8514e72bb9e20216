// Measure::tanh_sum of a tile of pairs, and its derivatives.
//
// Vectors run along the terms of one pair's sum, over rows of tokens that are not packed: packing
// would save little next to the time of the hyperbolic tangent. Its error is at most 4 ulp
// (Highway's Tanh).
#include "core/simd/kernel_parts.h"
#include "core/simd/pack.h"
#include "core/similarity/similarity.h"

namespace conelab::CONELAB_SIMD {
namespace {

static_assert(tanh_sum_multiple % lanes<float> == 0 && tanh_sum_multiple % lanes<double> == 0);

template <class T>
HWY_INLINE Vector<T> tanh_of_sum(const T* q, const T* k) {
  const Tag<T> tag;
  return hn::Tanh(tag, hn::Add(hn::LoadU(tag, q), hn::LoadU(tag, k)));
}

template <class T>
HWY_INLINE void add(Vector<T> x, T* to) {
  const Tag<T> tag;
  hn::StoreU(hn::Add(hn::LoadU(tag, to), x), tag, to);
}

template <class T>
void tanh_sum(int rows, int columns, int size, const T* q, std::ptrdiff_t q_stride, const T* k,
              std::ptrdiff_t k_stride, T* c, std::ptrdiff_t stride) {
  const Tag<T> tag;
  for (int r = 0; r < rows; ++r, q += q_stride, c += stride) {
    const T* key = k;
    for (int j = 0; j < columns; ++j, key += k_stride) {
      auto sum = hn::Zero(tag);
      for (int f = 0; f < size; f += lanes<T>) {
        sum = hn::MulAdd(hn::LoadU(tag, key + size + f), tanh_of_sum(q + f, key + f), sum);
      }
      c[j] = lane_sum<T>(sum);
    }
  }
}

template <class T>
void tanh_sum_slopes(int rows, int columns, int size, const T* q, std::ptrdiff_t q_stride,
                     const T* k, std::ptrdiff_t k_stride, const T* slope, std::ptrdiff_t stride,
                     T* dq, T* dk) {
  const Tag<T> tag;
  for (int r = 0; r < rows; ++r, q += q_stride, slope += stride, dq += q_stride) {
    for (int j = 0; j < columns; ++j) {
      if (slope[j] == 0) continue;  // The pair is masked.
      const T* key = k + j * k_stride;
      T* by_key = dk + j * k_stride;
      const auto upstream = hn::Set(tag, slope[j]);
      for (int f = 0; f < size; f += lanes<T>) {
        const auto t = tanh_of_sum(q + f, key + f);
        const auto part = hn::Mul(upstream, hn::LoadU(tag, key + size + f));
        const auto by_sum = hn::Mul(part, hn::NegMulAdd(t, t, hn::Set(tag, T(1))));
        add(by_sum, dq + f);
        add(by_sum, by_key + f);
        add(hn::Mul(upstream, t), by_key + size + f);
      }
    }
  }
}

}  // namespace

template <class T>
void add_tanh_sums(Kernels<T>& k) {
  k.tanh_sum = &tanh_sum<T>;
  k.tanh_sum_slopes = &tanh_sum_slopes<T>;
}
template void add_tanh_sums(Kernels<float>&);
template void add_tanh_sums(Kernels<double>&);

}  // namespace conelab::CONELAB_SIMD
