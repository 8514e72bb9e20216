// The loops around a similarity's formula, written once for all similarities.
#pragma once

#include <limits>
#include <type_traits>

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

/// The logits as rounded numbers: no compiler may join their last product with what follows, be it
/// a bias. Forward and backward, and short and long formulas, must come to the same number; at
/// logits of a thousand a difference in the last bit is 6e-5 of a weight.
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

template <class S, class T, bool biased>
void score_rows(const ScoreTile<T>& t) {
  using P = Pack<T>;
  P constants[S::constants + 1];
  broadcast_constants<S>(t.constants, constants);
  for (int r = 0; r < t.rows; ++r) {
    T* row = t.tile + r * t.stride;
    P query[S::values + 1], key[S::values + 1];
    broadcast_query<S>(t.query_values, t.query_stride, r, query);
    for (int c = 0; c < t.columns; c += P::size) {
      load_key<S>(t.key_values, t.key_stride, c, key);
      P logit = S::score(P::load(row + c), query, key, constants);
      if constexpr (biased) logit = add_bias(logit, t.addend + r * t.addend_stride + c);
      logit.store(row + c);
    }
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

/// sum += a b, the vectors one after the other: a sum is one register, and waits for nobody, for
/// much else happens in a pack.
template <class T, int n>
HWY_INLINE void add_products(const Pack<T, n>& a, const Pack<T, n>& b, Vector<T>& sum) {
  for (int i = 0; i < n; ++i) sum = hn::MulAdd(a.v[i], b.v[i], sum);
}

/// What the rows of a slope tile add up across columns.
template <class T, int constants>
struct SlopeSums {
  Vector<T> query = hn::Zero(Tag<T>());
  Vector<T> constant[constants + 1];
  Vector<T> bias[max_bias_slopes];

  SlopeSums() {
    for (auto& c : constant) c = hn::Zero(Tag<T>());
    for (auto& b : bias) b = hn::Zero(Tag<T>());
  }
};

/// The slopes of one pack added to what the rows and columns collect.
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
    for (int b = 0; b < t.bias_slopes; ++b) {
      add_products(upstream, P::load(t.bias_slope[b] + r * t.bias_stride + c), sums.bias[b]);
    }
  }
}

/// Adds a row's sums; those of far pairs as their similarity has them.
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
  for (int b = 0; b < t.bias_slopes; ++b) t.bias_gradient[b] += lane_sum<T>(sums.bias[b]);
}

template <class S, class Law, bool far, class T, bool biased>
HWY_INLINE void slope_row(const SlopeTile<T>& t, int r, const Pack<T, slope_vectors>* constants) {
  using P = Pack<T, slope_vectors>;
  T* tile = t.score.tile + r * t.score.stride;
  const T* slope = t.slope + r * t.score.stride;
  T* key_slope = far ? t.far_key_slope : t.key_slope;
  P query[S::values + 1], key[S::values + 1];
  broadcast_query<S>(t.score.query_values, t.score.query_stride, r, query);
  using Part = decltype(slope_of<S, far>(P(0), query, key, constants));
  SlopeSums<T, std::extent_v<decltype(Part::constant)>> sums;
  auto greatest = hn::Zero(Tag<T>());
  for (int c = 0; c < t.score.columns; c += P::size) {
    load_key<S>(t.score.key_values, t.score.key_stride, c, key);
    Part part = slope_of<S, far>(P::load(tile + c), query, key, constants);
    P logit = part.logit;
    if constexpr (biased) logit = add_bias(logit, t.score.addend + r * t.score.addend_stride + c);
    const P weight = Law::weight(rounded(logit), t.reference[r], t.inverse_sum[r]);
    P upstream = Law::slope(weight, P::load(slope + c), t.delta[r]);
    weight.store(tile + c);
    greatest = hn::Max(greatest, folded_max(weight));
    // A masked pair has weight 0; its slope is 0 even where dL/dweight or the formula is not
    // finite.
    const auto masked = weight == P(0);
    if (any(masked)) {
      upstream = select(masked, P(0), upstream);
      if constexpr (biased || !far) part = select(masked, Part(), part);
    }
    collect<S::token_slope, biased>(t, r, c, upstream, part, key_slope, sums);
  }
  t.largest_weight[r] = hn::GetLane(hn::MaxOfLanes(Tag<T>(), greatest));
  add_sums<S, far>(t, r, sums);
}

/// What far rows have left in far_key_slope, to the columns' slopes.
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

/// Calls f(constant, column) for packs of so many vectors that cover a tile's columns.
template <class T, class F>
HWY_INLINE void for_packs(int columns, const F& f) {
  int c = 0;
  if constexpr (weight_vectors > pack_vectors) {
    for (; c + weight_vectors * lanes<T> <= columns; c += weight_vectors * lanes<T>)
      f(std::integral_constant<int, weight_vectors>(), c);
  }
  for (; c < columns; c += pack_vectors * lanes<T>)
    f(std::integral_constant<int, pack_vectors>(), c);
}

/// Logits in the first-level cache to weights; returns their sum.
template <class Law, class T>
HWY_INLINE T weigh(T* row, int columns, T reference) {
  auto total = hn::Zero(Tag<T>());
  for_packs<T>(
      columns, [&](auto n, int c) __attribute__((always_inline)) {
        using P = Pack<T, n>;
        const P weight = Law::weight(P::load(row + c), reference, T(1));
        weight.store(row + c);
        total = hn::Add(total, folded_sum(weight));
      });
  return lane_sum<T>(total);
}

/// The reference of a row whose largest logit is `maximum`. Written so that NaN moves nothing.
template <class T>
T moved_reference(T reference, T maximum) {
  constexpr T none = -std::numeric_limits<T>::infinity();
  if (reference == none) {
    if (maximum == none) return none;
    return maximum > T(stale_limit) || maximum < T(-stale_limit) ? maximum : T(0);
  }
  return maximum > reference + T(stale_limit) ? maximum : reference;
}

/// Whether a similarity says that its formula is short enough to share registers with exp: then the
/// next pack's square roots run beside this pack's multiply-adds, 6.8 cycles per 8 pairs of dot in
/// place of 7.6, 9.1 of laplacian in place of 11.6 (avx2). A long formula runs out of registers
/// (penumbral 16.5 in place of 14.9). With 32 registers eight vectors side by side hide as much.
template <class S>
constexpr bool one_pass = [] {
  if constexpr (HWY_TARGET != HWY_AVX3 && requires { S::one_pass; }) return S::one_pass;
  return false;
}();

/// What a row of weights is made of. In copies: what is stored to the row might, for all that the
/// compiler knows, be part of the tile's description, which would be loaded again for each pack.
template <class S, bool far, class T, bool biased>
struct WeightRow {
  T* row;
  int columns;
  const T* key_values;
  std::ptrdiff_t key_stride;
  const T* addend;
  const Vector<T>* constants;
  Vector<T> query[S::values + 1];
  Vector<T> greatest = hn::Set(Tag<T>(), -std::numeric_limits<T>::infinity());

  HWY_INLINE WeightRow(const ScoreTile<T>& t, int r, const Vector<T>* of_all)
      : row(t.tile + r * t.stride),
        columns(t.columns),
        key_values(t.key_values),
        key_stride(t.key_stride),
        addend(biased ? t.addend + r * t.addend_stride : nullptr),
        constants(of_all) {
    for (int v = 0; v < S::values; ++v)
      query[v] = hn::Set(Tag<T>(), t.query_values[v * t.query_stride + r]);
  }

  /// The logits of a pack's columns.
  template <int n>
  HWY_INLINE Pack<T, n> logits(int c) {
    using P = Pack<T, n>;
    P q[S::values + 1], k[S::values + 1], all[S::constants + 1];
    for (int v = 0; v < S::values; ++v) q[v] = P(query[v]);
    for (int i = 0; i < S::constants; ++i) all[i] = P(constants[i]);
    load_key<S>(key_values, key_stride, c, k);
    P logit = score_of<S, far>(P::load(row + c), q, k, all);
    if constexpr (biased) logit = add_bias(logit, addend + c);
    logit = rounded(logit);
    greatest = hn::Max(greatest, folded_max(logit));
    return logit;
  }
  [[nodiscard]] HWY_INLINE T maximum() const {
    return hn::GetLane(hn::MaxOfLanes(Tag<T>(), greatest));
  }
  /// A branch, so that nobody waits for the maximum where the reference stays.
  [[nodiscard]] HWY_INLINE bool exceeds(T reference) const {
    const auto limit = hn::Set(Tag<T>(), reference + T(stale_limit));
    return HWY_UNLIKELY(!hn::AllTrue(Tag<T>(), hn::Le(greatest, limit)));
  }
};

/// Weights whose reference has moved, without their logits; returns their sum.
template <class T>
HWY_INLINE T rescale(T* row, int columns, T from, T to) {
  using P = Pack<T, one_pass_vectors>;
  const P scale = exp(P(from - to));
  auto total = hn::Zero(Tag<T>());
  for (int c = 0; c < columns; c += P::size) {
    const P weight = P::load(row + c) * scale;
    weight.store(row + c);
    total = hn::Add(total, folded_sum(weight));
  }
  return lane_sum<T>(total);
}

/// A row of weights that has a reference, logits and exponentials side by side.
template <class S, class Law, bool far, class T, bool biased>
HWY_INLINE void weight_beside(const WeightTile<T>& w, int r, T reference,
                              WeightRow<S, far, T, biased>& parts) {
  constexpr int n = one_pass_vectors;
  using P = Pack<T, n>;
  const int columns = parts.columns;
  T* row = parts.row;
  auto total = hn::Zero(Tag<T>());
  P logit = parts.template logits<n>(0);
  for (int c = 0; c < columns; c += P::size) {
    const P next = parts.template logits<n>(c + P::size < columns ? c + P::size : c);
    const P weight = Law::weight(logit, reference, T(1));
    weight.store(row + c);
    total = hn::Add(total, folded_sum(weight));
    logit = next;
  }
  w.row_sum[r] = lane_sum<T>(total);
  w.row_maximum[r] = parts.maximum();
  if (!Law::refers || !parts.exceeds(reference)) return;
  const T moved = moved_reference(reference, w.row_maximum[r]);
  if (!(moved - reference < T(most_rise))) return;
  w.row_sum[r] = rescale(row, columns, reference, moved);
  w.reference[r] = moved;
}

template <class S, class Law, bool far, class T, bool biased>
HWY_INLINE void weight_row(const WeightTile<T>& w, int r, const Vector<T>* constants) {
  constexpr T none = -std::numeric_limits<T>::infinity();
  WeightRow<S, far, T, biased> parts(w.score, r, constants);
  T reference = Law::refers ? w.reference[r] : T(0);
  if (one_pass<S> && reference != none)
    return weight_beside<S, Law, far, T, biased>(w, r, reference, parts);
  const int columns = parts.columns;
  T* row = parts.row;
  for_packs<T>(
      columns, [&](auto n, int c)
                   __attribute__((always_inline)) { parts.template logits<n>(c).store(row + c); });
  w.row_maximum[r] = parts.maximum();
  if (Law::refers && (reference == none || parts.exceeds(reference))) {
    reference = w.reference[r] = moved_reference(reference, w.row_maximum[r]);
    if (reference == none) reference = T(0);  // It sees nothing: any number serves.
  }
  w.row_sum[r] = weigh<Law>(row, columns, reference);
}

template <class S, class Law, class T, bool biased>
void weight_rows(const WeightTile<T>& w) {
  Vector<T> constants[S::constants + 1];
  for (int i = 0; i < S::constants; ++i) constants[i] = hn::Set(Tag<T>(), w.score.constants[i]);
  for_rows<S, T>(
      w.score, [&](auto far, int r) __attribute__((always_inline)) {
        weight_row<S, Law, far, T, biased>(w, r, constants);
      });
}

template <class S, class Law, class T>
void weights(const WeightTile<T>& w) {
  if (w.score.addend == nullptr) {
    weight_rows<S, Law, T, false>(w);
  } else {
    weight_rows<S, Law, T, true>(w);
  }
}

/// The tails of all similarities, in the order of the list.
template <class T, class... S>
const Tail<T>* tail_table(TypeList<S...>) {
  static const Tail<T> table[] = {{&score<S, T>, &weights<S, SoftmaxLaw, T>,
                                   &weights<S, SigmoidLaw, T>, &slopes<S, SoftmaxLaw, T>,
                                   &slopes<S, SigmoidLaw, T>}...};
  return table;
}

}  // namespace conelab::CONELAB_SIMD
