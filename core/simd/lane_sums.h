// The sums of the lanes of several vectors at once, which take a third of the instructions that one
// after another would.
#pragma once

#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {

/// So many sums fill 128 bits.
template <class T>
constexpr int summed_vectors = 16 / sizeof(T);

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
/// Returns the sums over blocks of 128 bits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sum_of_blocks(D tag, V a) {
  if constexpr (hn::MaxLanes(tag) * sizeof(hn::TFromD<D>) <= 16) {
    return a;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, a), hn::UpperHalf(half, a)));
  }
}

/// Stores the sums of the lanes of summed_vectors vectors.
HWY_INLINE void store_sums(const Vector<float>* v, float* out) {
  const Tag<float> tag;
  const hn::Repartition<double, Tag<float>> pairs;
  const auto joined = [&](auto a, auto b) {
    return hn::BitCast(pairs,
                       hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b)));
  };
  const auto ab = joined(v[0], v[1]), cd = joined(v[2], v[3]);
  const auto sums = hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, ab, cd)),
                            hn::BitCast(tag, hn::InterleaveUpper(pairs, ab, cd)));
  hn::StoreU(sum_of_blocks(tag, sums), hn::FixedTag<float, 4>(), out);
}
HWY_INLINE void store_sums(const Vector<double>* v, double* out) {
  const Tag<double> tag;
  const auto sums =
      hn::Add(hn::InterleaveLower(tag, v[0], v[1]), hn::InterleaveUpper(tag, v[0], v[1]));
  hn::StoreU(sum_of_blocks(tag, sums), hn::FixedTag<double, 2>(), out);
}
#else
template <class V, class T>
HWY_INLINE void store_sums(const V* v, T* out) {
  for (int i = 0; i < summed_vectors<T>; ++i) out[i] = lane_sum<T>(v[i]);
}
#endif

}  // namespace conelab::CONELAB_SIMD
