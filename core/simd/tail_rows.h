// What the loops around a similarity's formula share: a row's tokens and logits, and the laws from
// logits to weights.
#pragma once

#include <limits>
#include <type_traits>

#include "core/simd/exponential.h"
#include "core/simd/kernels.h"
#include "core/simd/pack.h"
#include "core/similarity/similarity.h"

namespace conelab::CONELAB_SIMD {

/// The per-token values of the keys of one pack.
template <class S, class T, int n>
HWY_INLINE void load_key(const T* values, std::ptrdiff_t stride, int column, Pack<T, n>* key) {
  for (int v = 0; v < S::values; ++v) key[v] = Pack<T, n>::load(values + v * stride + column);
}

template <class S, class T, int n>
HWY_INLINE void broadcast_query(const T* values, std::ptrdiff_t stride, int row,
                                Pack<T, n>* query) {
  for (int v = 0; v < S::values; ++v) query[v] = Pack<T, n>(values[v * stride + row]);
}

template <class S, class T, int n>
HWY_INLINE void broadcast_constants(const T* values, Pack<T, n>* constants) {
  for (int i = 0; i < S::constants; ++i) constants[i] = Pack<T, n>(values[i]);
}

/// The logits as rounded numbers: no compiler may join their last product with what follows, be it
/// a bias. Forward and backward, and short and long formulas, must come to the same number where
/// references are not 0: at logits of a thousand a difference in the last bit is 6e-5 of a weight.
template <class T, int n>
HWY_INLINE Pack<T, n> rounded(Pack<T, n> logit) {
#if defined(__x86_64__)
  for (auto& v : logit.v) asm("" : "+x"(v.raw));
#elif defined(__aarch64__)
  for (auto& v : logit.v) asm("" : "+w"(v.raw));
#endif
  return logit;
}

/// Bias added to rounded logits, masked pairs at -inf whatever the logit was (a NaN token must not
/// leak through).
template <class T, int n>
HWY_INLINE Pack<T, n> add_bias(const Pack<T, n>& logit, const T* addend) {
  const auto bias = Pack<T, n>::load(addend);
  const Pack<T, n> masked(-std::numeric_limits<T>::infinity());
  return select(bias == masked, masked, rounded(logit) + bias);
}

/// The largest of the keys' values of a tile.
template <class S, class T>
void largest_values(const ScoreTile<T>& t, T* key) {
  for (int v = 0; v < S::values; ++v) {
    auto largest = hn::Set(Tag<T>(), -std::numeric_limits<T>::infinity());
    for (int c = 0; c < t.columns; c += lanes<T>) {
      largest = hn::Max(largest, hn::LoadU(Tag<T>(), t.key_values + v * t.key_stride + c));
    }
    key[v] = hn::GetLane(hn::MaxOfLanes(Tag<T>(), largest));
  }
}

/// Fewer rows than these are not worth a look at all keys first; an estimate.
constexpr int worthwhile_rows = 6;

/// Calls row(far, r) for every row of a tile, `far` a constant: whether it has the short formulas.
template <class S, class T, class F>
HWY_INLINE void for_rows(const ScoreTile<T>& t, const F& row) {
  if constexpr (HasFar<S>) {
    T key[S::values], query[S::values];
    const bool known = t.least != nullptr && t.rows >= worthwhile_rows;
    if (known) largest_values<S>(t, key);
    for (int r = 0; r < t.rows; ++r) {
      for (int v = 0; v < S::values; ++v) query[v] = t.query_values[v * t.query_stride + r];
      if (known && S::is_far(t.least[r], t.most[r], query, key)) {
        row(std::true_type(), r);
      } else {
        row(std::false_type(), r);
      }
    }
  } else {
    for (int r = 0; r < t.rows; ++r) row(std::false_type(), r);
  }
}

template <class S, bool far, class P>
HWY_INLINE P score_of(const P& x, const P* query, const P* key, const P* constants) {
  if constexpr (far)
    return S::far_score(x, query, key, constants);
  else
    return S::score(x, query, key, constants);
}
template <class S, bool far, class P>
HWY_INLINE auto slope_of(const P& x, const P* query, const P* key, const P* constants) {
  if constexpr (far)
    return S::far_slope(x, query, key, constants);
  else
    return S::slope(x, query, key, constants);
}

/// weight = exp(logit - m) / l and dL/dlogit = weight (dL/dweight - delta).
struct SoftmaxLaw {
  static constexpr bool refers = true;
  template <class T, int n>
  HWY_INLINE static Pack<T, n> weight(const Pack<T, n>& logit, T reference, T inverse_sum) {
    return exp(logit - Pack<T, n>(reference)) * Pack<T, n>(inverse_sum);
  }
  template <class T, int n>
  HWY_INLINE static Pack<T, n> slope(const Pack<T, n>& weight, const Pack<T, n>& upstream,
                                     T delta) {
    return weight * (upstream - Pack<T, n>(delta));
  }
};

/// weight = sigmoid(logit) and dL/dlogit = weight (1 - weight) dL/dweight.
struct SigmoidLaw {
  static constexpr bool refers = false;
  template <class T, int n>
  HWY_INLINE static Pack<T, n> weight(const Pack<T, n>& logit, T, T) {
    return sigmoid(logit);
  }
  template <class T, int n>
  HWY_INLINE static Pack<T, n> slope(const Pack<T, n>& weight, const Pack<T, n>& upstream, T) {
    return weight * (Pack<T, n>(1) - weight) * upstream;
  }
};

}  // namespace conelab::CONELAB_SIMD
