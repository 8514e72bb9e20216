// The loops around a similarity's formula, written once for all similarities.
#pragma once

#include "core/simd/exponential.h"
#include "core/simd/kernels.h"
#include "core/simd/pack.h"
#include "core/similarity/all.h"

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

/// Bias added, masked pairs at -inf whatever the logit was (a NaN token must not leak through).
template <class T, int n>
HWY_INLINE Pack<T, n> add_bias(const Pack<T, n>& logit, const T* addend) {
  const auto bias = Pack<T, n>::load(addend);
  const Pack<T, n> masked(-std::numeric_limits<T>::infinity());
  return select(bias == masked, masked, logit + bias);
}

template <class S, class T, bool biased>
void score_rows(const ScoreTile<T>& t) {
  using P = Pack<T>;
  P constants[S::constants + 1];
  broadcast_constants<S>(t.constants, constants);
  for (int r = 0; r < t.rows; ++r) {
    T* row = t.tile + r * t.stride;
    P query[S::values + 1], key[S::values + 1];
    broadcast_query<S>(t.query_values, t.query_stride, r, query);
    auto greatest = hn::Set(Tag<T>(), -std::numeric_limits<T>::infinity());
    for (int c = 0; c < t.columns; c += P::size) {
      load_key<S>(t.key_values, t.key_stride, c, key);
      P logit = S::score(P::load(row + c), query, key, constants);
      if constexpr (biased) logit = add_bias(logit, t.addend + r * t.addend_stride + c);
      logit.store(row + c);
      greatest = hn::Max(greatest, folded_max(logit));
    }
    t.row_maximum[r] = hn::GetLane(hn::MaxOfLanes(Tag<T>(), greatest));
  }
}

template <class S, class T>
void score(const ScoreTile<T>& t) {
  if (t.addend == nullptr) {
    score_rows<S, T, false>(t);
  } else {
    score_rows<S, T, true>(t);
  }
}

/// weight = exp(logit - m) / l and dL/dlogit = weight (dL/dweight - delta).
struct SoftmaxLaw {
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
  template <class T, int n>
  HWY_INLINE static Pack<T, n> weight(const Pack<T, n>& logit, T, T) {
    return sigmoid(logit);
  }
  template <class T, int n>
  HWY_INLINE static Pack<T, n> slope(const Pack<T, n>& weight, const Pack<T, n>& upstream, T) {
    return weight * (Pack<T, n>(1) - weight) * upstream;
  }
};

/// What the rows of a slope tile add up across columns, folded into one vector each.
template <class S, class T>
struct SlopeSums {
  Vector<T> query = hn::Zero(Tag<T>());
  Vector<T> constant[S::constants + 1];
  Vector<T> bias[max_bias_slopes];

  SlopeSums() {
    for (auto& c : constant) c = hn::Zero(Tag<T>());
    for (auto& b : bias) b = hn::Zero(Tag<T>());
  }
};

/// A masked pair has weight 0; its slope is 0 even where the formula is not finite.
template <class T, int n>
HWY_INLINE Pack<T, n> where_weighted(const Pack<T, n>& weight, const Pack<T, n>& slope) {
  return select(weight == Pack<T, n>(0), Pack<T, n>(0), slope);
}

template <class S, class Law, class T, bool biased>
void slope_rows(const SlopeTile<T>& t) {
  using P = Pack<T, slope_vectors>;
  P constants[S::constants + 1];
  broadcast_constants<S>(t.constants, constants);
  for (int r = 0; r < t.rows; ++r) {
    T* tile = t.tile + r * t.stride;
    T* slope = t.slope + r * t.stride;
    P query[S::values + 1], key[S::values + 1];
    broadcast_query<S>(t.query_values, t.query_stride, r, query);
    SlopeSums<S, T> sums;
    for (int c = 0; c < t.columns; c += P::size) {
      load_key<S>(t.key_values, t.key_stride, c, key);
      const P x = P::load(tile + c);
      const auto part = S::slope(x, query, key, constants);
      P logit = part.logit;
      if constexpr (biased) logit = add_bias(logit, t.addend + r * t.addend_stride + c);
      const P weight = Law::weight(logit, t.reference[r], t.inverse_sum[r]);
      const P upstream = Law::slope(weight, P::load(slope + c), t.delta[r]);
      weight.store(tile + c);
      where_weighted(weight, upstream * part.x).store(slope + c);
      if constexpr (S::token_slope) {
        sums.query = hn::Add(sums.query, folded_sum(where_weighted(weight, upstream * part.query)));
        const P to_key = where_weighted(weight, upstream * part.key);
        (P::load(t.key_slope + c) + to_key).store(t.key_slope + c);
      }
      for (int i = 0; i < S::constants; ++i) {
        sums.constant[i] = hn::Add(sums.constant[i],
                                   folded_sum(where_weighted(weight, upstream * part.constant[i])));
      }
      if constexpr (biased) {
        for (int b = 0; b < t.bias_slopes; ++b) {
          const P table = P::load(t.bias_slope[b] + r * t.bias_stride + c);
          sums.bias[b] =
              hn::Add(sums.bias[b], folded_sum(where_weighted(weight, upstream * table)));
        }
      }
    }
    if constexpr (S::token_slope) t.query_slope[r] += lane_sum<T>(sums.query);
    for (int i = 0; i < S::constants; ++i) t.constant_slope[i] += lane_sum<T>(sums.constant[i]);
    for (int b = 0; b < t.bias_slopes; ++b) t.bias_gradient[b] += lane_sum<T>(sums.bias[b]);
  }
}

template <class S, class Law, class T>
void slopes(const SlopeTile<T>& t) {
  if (t.addend == nullptr) {
    slope_rows<S, Law, T, false>(t);
  } else {
    slope_rows<S, Law, T, true>(t);
  }
}

/// A pass of its own over logits that are in the first-level cache: joined with the formulas, the
/// two run out of registers and penumbral pays 19.7 cycles per 8 pairs in place of 15.7.
template <class Law, class T>
void weights(const WeightTile<T>& t) {
  using P = Pack<T>;
  for (int r = 0; r < t.rows; ++r) {
    T* row = t.tile + r * t.stride;
    auto total = hn::Zero(Tag<T>());
    for (int c = 0; c < t.columns; c += P::size) {
      const P weight = Law::weight(P::load(row + c), t.reference[r], T(1));
      weight.store(row + c);
      total = hn::Add(total, folded_sum(weight));
    }
    t.row_sum[r] += static_cast<double>(lane_sum<T>(total));
  }
}

/// The tails of all similarities, in the order of the list.
template <class T, class... S>
const Tail<T>* tail_table(TypeList<S...>) {
  static const Tail<T> table[] = {
      {&score<S, T>, &slopes<S, SoftmaxLaw, T>, &slopes<S, SigmoidLaw, T>}...};
  return table;
}

}  // namespace conelab::CONELAB_SIMD
