// Computes the weights and dL/d(measure) of a tile, row by row, given measures and dL/d(weight).
#pragma once

#include <limits>
#include <type_traits>

#include "core/simd/pair_rows.h"

namespace conelab::CONELAB_SIMD {

/// Computes sum += a b for the vectors of a pack, one after the other. The sum takes one register.
/// Its latency does not matter, since there is enough independent work in a pack.
template <class T, int n>
HWY_INLINE void add_products(const Pack<T, n>& a, const Pack<T, n>& b, Vector<T>& sum) {
  for (int i = 0; i < n; ++i) sum = hn::MulAdd(a.v[i], b.v[i], sum);
}

/// The sums over the columns of one row.
template <class T, int constants>
struct SlopeSums {
  Vector<T> query = hn::Zero(Tag<T>());
  Vector<T> constant[constants + 1];

  SlopeSums() {
    for (auto& c : constant) c = hn::Zero(Tag<T>());
  }
};

/// Stores dL/d(measure) of one pack of a row, given upstream = dL/dlogit and the derivatives of the
/// logit, and accumulates into the sums of the row and of the columns.
template <bool tokens, bool biased, class T, class P, int constants>
HWY_INLINE void collect(const SlopeTile<T>& t, int r, int c, const P& upstream,
                        const Slope<P, constants>& part, T* key_slope,
                        SlopeSums<T, constants>& sums) {
  (upstream * part.x).store(t.slope + r * t.score.stride + c);
  if constexpr (tokens) {
    add_products(upstream, part.query, sums.query);
    multiply_add(upstream, part.key, P::load(key_slope + c)).store(key_slope + c);
  }
  for (int i = 0; i < constants; ++i) add_products(upstream, part.constant[i], sums.constant[i]);
  if constexpr (biased) {
    if (t.logit_slope != nullptr) upstream.store(t.logit_slope + r * t.score.stride + c);
  }
}

/// Adds the sums of a row to its dL/dpotential and to dL/dconstant. Those of a far row are
/// converted first, since far_slope takes derivatives with respect to other quantities
/// (similarity.h).
template <class S, bool far, class T, int constants>
HWY_INLINE void add_sums(const SlopeTile<T>& t, int r, const SlopeSums<T, constants>& sums) {
  const T query = lane_sum<T>(sums.query);
  if constexpr (far) {
    T token[S::values], by_constant[S::constants] = {};
    for (int v = 0; v < S::values; ++v)
      token[v] = t.score.query_values[v * t.score.query_stride + r];
    t.query_slope[r] += S::far_potential(query, token, by_constant);
    for (int i = 0; i < S::constants; ++i) t.constant_slope[i] += by_constant[i];
  } else if constexpr (S::token_slope) {
    t.query_slope[r] += query;
  }
  for (int i = 0; i < constants; ++i) {
    const T sum = lane_sum<T>(sums.constant[i]);
    t.constant_slope[i] += far ? sum / t.score.constants[i] : sum;
  }
}

template <class S, class Law, bool far, class T, bool biased>
HWY_INLINE void slope_row(const SlopeTile<T>& t, int r, const Pack<T, slope_vectors>* constants) {
  using P = Pack<T, slope_vectors>;
  T* tile = t.score.tile + r * t.score.stride;
  const T* slope = t.slope + r * t.score.stride;
  T* key_slope = far ? t.far_key_slope : t.key_slope;
  P query[S::values + 1], key[S::values + 1];
  broadcast_query<S>(t.score.query_values, t.score.query_stride, r, query);
  const T reference = t.reference[r], inverse_sum = t.inverse_sum[r], delta = t.delta[r];
  using Part = decltype(slope_of<S, far>(P(0), query, key, constants));
  SlopeSums<T, std::extent_v<decltype(Part::constant)>> sums;
  [[maybe_unused]] const P hidden(-std::numeric_limits<T>::infinity());
  for (int c = 0; c < t.score.columns; c += P::size) {
    load_key<S>(t.score.key_values, t.score.key_stride, c, key);
    Part part = slope_of<S, far>(P::load(tile + c), query, key, constants);
    P logit = part.logit;
    if constexpr (biased) logit = add_bias(logit, t.score.addend + r * t.score.addend_stride + c);
    P weight = Law::weight(rounded(logit), reference, inverse_sum);
    // A row that sees a token that is not finite has the reference NaN.
    if constexpr (biased) weight = select(logit == hidden, P(0), weight);
    P upstream = Law::slope(weight, P::load(slope + c), delta);
    weight.store(tile + c);
    // A masked pair has weight 0; its slope is 0 even where dL/dweight or the formula is not
    // finite.
    const auto masked = weight == P(0);
    if (any(masked)) {
      upstream = select(masked, P(0), upstream);
      if constexpr (biased || !far) part = select(masked, Part(), part);
    }
    collect<S::token_slope, biased>(t, r, c, upstream, part, key_slope, sums);
  }
  add_sums<S, far>(t, r, sums);
}

/// Converts the sums of the far rows in far_key_slope and adds them to key_slope.
template <class S, class T>
void add_far_keys(const SlopeTile<T>& t) {
  using P = Pack<T, slope_vectors>;
  Vector<T> sums[S::constants];
  for (auto& sum : sums) sum = hn::Zero(Tag<T>());
  for (int c = 0; c < t.score.columns; c += P::size) {
    P key[S::values], by_constant[S::constants];
    for (auto& b : by_constant) b = P(0);
    load_key<S>(t.score.key_values, t.score.key_stride, c, key);
    const P slope = S::far_potential(P::load(t.far_key_slope + c), key, by_constant);
    (P::load(t.key_slope + c) + slope).store(t.key_slope + c);
    for (int i = 0; i < S::constants; ++i) sums[i] = hn::Add(sums[i], folded_sum(by_constant[i]));
  }
  for (int i = 0; i < S::constants; ++i) t.constant_slope[i] += lane_sum<T>(sums[i]);
}

template <class S, class Law, class T, bool biased>
void slope_rows(const SlopeTile<T>& t) {
  Pack<T, slope_vectors> constants[S::constants + 1];
  broadcast_constants<S>(t.score.constants, constants);
  const bool may_be_far = HasFar<S> && t.score.least != nullptr;
  for (int c = 0; may_be_far && c < t.score.columns; ++c) t.far_key_slope[c] = T(0);
  for_rows<S, T>(
      t.score, [&](auto far, int r) __attribute__((always_inline)) {
        slope_row<S, Law, far, T, biased>(t, r, constants);
      });
  if constexpr (HasFar<S>) {
    if (may_be_far) add_far_keys<S>(t);
  }
}

template <class S, class Law, class T>
void slopes(const SlopeTile<T>& t) {
  if (t.score.addend == nullptr) {
    slope_rows<S, Law, T, false>(t);
  } else {
    slope_rows<S, Law, T, true>(t);
  }
}

}  // namespace conelab::CONELAB_SIMD
