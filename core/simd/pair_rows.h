// Holds what the loops over a tile share: loading the values of tokens, adding biases, and the two
// laws that turn logits into weights.
#pragma once

#include <limits>
#include <type_traits>

#include "core/simd/exponential.h"
#include "core/simd/kernels.h"
#include "core/simd/pack.h"
#include "core/similarity/similarity.h"

namespace conelab::CONELAB_SIMD {

/// Loads the values of the keys of one pack.
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

/// Returns the logits, such that no compiler can fuse their last product with a later addition, as
/// of a bias. The forward and the backward pass, and the formulas for near and far pairs, must
/// arrive at the same number where references are not 0: for logits of a thousand, a difference in
/// the last bit changes a weight by 6e-5.
template <class T, int n>
HWY_INLINE Pack<T, n> rounded(Pack<T, n> logit) {
  for (auto& v : logit.v) {
    if constexpr (std::is_array_v<decltype(v.raw)>) {
      asm("" : "+m"(v.raw));  // The portable target's vectors are arrays.
    } else {
#if defined(__x86_64__)
      asm("" : "+x"(v.raw));
#elif defined(__aarch64__)
      asm("" : "+w"(v.raw));
#endif
    }
  }
  return logit;
}

/// Adds the bias to the rounded logits. Masked pairs become -inf whatever their logit was, because
/// a NaN token must not reach queries that do not see it.
template <class T, int n>
HWY_INLINE Pack<T, n> add_bias(const Pack<T, n>& logit, const T* addend) {
  const auto bias = Pack<T, n>::load(addend);
  const Pack<T, n> masked(-std::numeric_limits<T>::infinity());
  return select(bias == masked, masked, rounded(logit) + bias);
}

/// Finds the largest of each of the keys' values in a tile.
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

/// For a tile with fewer rows it does not pay to find the largest values of all keys first. The
/// number is an estimate.
constexpr int worthwhile_rows = 6;

/// Calls row(far, r) for every row of a tile. `far` is a constant: whether all pairs of the row are
/// far, so that the shorter formulas apply.
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

/// The law weight = exp(logit - m) / l, with dL/dlogit = weight (dL/dweight - delta).
struct SoftmaxLaw {
  static constexpr bool is_exponential = true;
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

/// The law weight = sigmoid(logit) e^-m / l with m <= 0, and dL/dlogit = weight (1 -
/// sigmoid(logit)) dL/dweight. `delta` is the factor that turns weight into sigmoid(logit).
struct SigmoidLaw {
  static constexpr bool is_exponential = false;
  template <class T, int n>
  HWY_INLINE static Pack<T, n> weight(const Pack<T, n>& logit, T reference, T inverse_sum) {
    return sigmoid(logit, reference) * Pack<T, n>(inverse_sum);
  }
  template <class T, int n>
  HWY_INLINE static Pack<T, n> slope(const Pack<T, n>& weight, const Pack<T, n>& upstream,
                                     T delta) {
    return weight * (Pack<T, n>(1) - weight * Pack<T, n>(delta)) * upstream;
  }
};

}  // namespace conelab::CONELAB_SIMD
