// The weights of a tile, row by row.
#pragma once

#include <math.h>

#include <limits>
#include <numbers>
#include <type_traits>

#include "core/simd/row_reference.h"
#include "core/simd/tail_rows.h"

namespace conelab::CONELAB_SIMD {

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

/// Whether rows whose reference is 0 take logits to base 2: the constants of their formulas are
/// such that log2 e is in c[0]. That product is rounded once, so that all logits of such rows are
/// stretched alike, by up to 6e-8: where they are near -16 their weights, and the sum of them, are
/// 1e-6 apart from those that a row's first tile, masks, biases and the way back find by natural
/// logits. Of larger references it would be more than the logits are rounded by. (Dot's formula and
/// exponential take 5.8 cycles per 8 pairs in place of 7.3, laplacian's 7.9 in place of 9.0; with
/// AVX-512 dot's and laplacian's forward pass .99 of the time.)
template <class S, class Law, class T, bool biased>
constexpr bool has_binary = [] {
  if constexpr (requires { S::proportional; })
    return S::proportional && Law::refers && std::is_same_v<T, float> && !biased;
  return false;
}();

/// The constants of a head, one by one in all lanes; `binary` make logits to base 2.
template <class S, class T>
struct Constants {
  Vector<T> natural[S::constants + 1], binary[S::constants + 1];

  explicit Constants(const T* values) {
    for (int i = 0; i < S::constants; ++i) {
      natural[i] = hn::Set(Tag<T>(), values[i]);
      binary[i] = hn::Set(Tag<T>(), i == 0 ? values[i] * T(log2_e) : values[i]);
    }
  }
};

/// The weight of a logit; `binary`: of one to base 2, whose reference is 0.
template <class Law, bool binary, class T, int n>
HWY_INLINE Pack<T, n> weight_of(const Pack<T, n>& logit, T reference) {
  if constexpr (binary)
    return exp2(logit);
  else
    return Law::weight(logit, reference, T(1));
}

/// Logits in the first-level cache to weights; returns their sum.
template <class Law, bool binary, class T>
HWY_INLINE T weigh(T* row, int columns, T reference) {
  auto total = hn::Zero(Tag<T>());
  for_packs<T>(
      columns, [&](auto n, int c) __attribute__((always_inline)) {
        using P = Pack<T, n>;
        const P weight = weight_of<Law, binary>(P::load(row + c), reference);
        weight.store(row + c);
        total = hn::Add(total, folded_sum(weight));
      });
  return lane_sum<T>(total);
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
    P logit = of_pairs<n>(
        c, [](const P& x, const P* q, const P* k, const P* all)
               __attribute__((always_inline)) { return score_of<S, far>(x, q, k, all); });
    if constexpr (biased) logit = add_bias(logit, addend + c);
    logit = rounded(logit);
    greatest = hn::Max(greatest, folded_max(logit));
    return logit;
  }
  /// e^logit of a pack's columns, times `scale`; the greatest are of these.
  template <int n>
  HWY_INLINE Pack<T, n> exponentials(int c, const Vector<T>& scale) {
    using P = Pack<T, n>;
    const P e = P(scale) *
                of_pairs<n>(
                    c, [](const P& x, const P* q, const P* k, const P* all)
                           __attribute__((always_inline)) { return S::exponential(x, q, k, all); });
    greatest = hn::Max(greatest, folded_max(e));
    return e;
  }
  [[nodiscard]] HWY_INLINE T maximum() const {
    return hn::GetLane(hn::MaxOfLanes(Tag<T>(), greatest));
  }
  /// A branch, so that nobody waits for the maximum where the reference stays.
  [[nodiscard]] HWY_INLINE bool exceeds(T limit) const {
    return HWY_UNLIKELY(!hn::AllTrue(Tag<T>(), hn::Le(greatest, hn::Set(Tag<T>(), limit))));
  }

 private:
  template <int n, class F>
  HWY_INLINE Pack<T, n> of_pairs(int c, const F& formula) {
    using P = Pack<T, n>;
    P q[S::values + 1], k[S::values + 1], all[S::constants + 1];
    for (int v = 0; v < S::values; ++v) q[v] = P(query[v]);
    for (int i = 0; i < S::constants; ++i) all[i] = P(constants[i]);
    load_key<S>(key_values, key_stride, c, k);
    return formula(P::load(row + c), q, k, all);
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

/// Moves the reference of a row that has its weights, where its largest logit exceeds it by far. By
/// too much, and they are lost.
template <class T>
HWY_INLINE void follow(const WeightTile<T>& w, int r, T* row, T reference) {
  const T moved = moved_reference(reference, w.row_maximum[r]);
  if (!may_follow(reference, moved)) return;
  w.row_sum[r] = rescale(row, w.score.columns, reference, moved);
  w.reference[r] = moved;
}

/// A row of weights that has a reference, logits and exponentials side by side.
template <class S, class Law, bool far, bool binary, class T, bool biased>
HWY_INLINE void weight_beside(const WeightTile<T>& w, int r, T reference,
                              const Vector<T>* constants) {
  constexpr int n = one_pass_vectors;
  constexpr T unit = binary ? T(std::numbers::ln2) : T(1);
  using P = Pack<T, n>;
  WeightRow<S, far, T, biased> parts(w.score, r, constants);
  const int columns = parts.columns;
  T* row = parts.row;
  auto total = hn::Zero(Tag<T>());
  P logit = parts.template logits<n>(0);
  for (int c = 0; c < columns; c += P::size) {
    const P next = parts.template logits<n>(c + P::size < columns ? c + P::size : c);
    const P weight = weight_of<Law, binary>(logit, reference);
    weight.store(row + c);
    total = hn::Add(total, folded_sum(weight));
    logit = next;
  }
  w.row_sum[r] = lane_sum<T>(total);
  w.row_maximum[r] = unit * parts.maximum();
  if (Law::refers && parts.exceeds(highest_logit(reference) / unit)) follow(w, r, row, reference);
}

/// All logits of a row, then all weights.
template <class S, class Law, bool far, bool binary, class T, bool biased>
HWY_INLINE void weight_after(const WeightTile<T>& w, int r, T reference,
                             const Vector<T>* constants) {
  constexpr T none = no_reference<T>;
  constexpr T unit = binary ? T(std::numbers::ln2) : T(1);
  WeightRow<S, far, T, biased> parts(w.score, r, constants);
  const int columns = parts.columns;
  T* row = parts.row;
  for_packs<T>(
      columns, [&](auto n, int c)
                   __attribute__((always_inline)) { parts.template logits<n>(c).store(row + c); });
  w.row_maximum[r] = unit * parts.maximum();
  const bool moves =
      Law::refers && (reference == none || parts.exceeds(highest_logit(reference) / unit));
  if (moves && !binary) {
    reference = w.reference[r] = moved_reference(reference, w.row_maximum[r]);
    if (reference == none) reference = T(0);  // It sees nothing: any number serves.
  }
  w.row_sum[r] = weigh<Law, binary>(row, columns, reference);
  if (moves && binary) follow(w, r, row, reference);
}

template <class S, class Law, bool far, bool binary, class T, bool biased>
HWY_INLINE void weight_referred(const WeightTile<T>& w, int r, T reference,
                                const Vector<T>* constants) {
  if (one_pass<S> && reference != no_reference<T>) {
    weight_beside<S, Law, far, binary, T, biased>(w, r, reference, constants);
  } else {
    weight_after<S, Law, far, binary, T, biased>(w, r, reference, constants);
  }
}

template <class S, class Law, bool far, class T, bool biased>
HWY_INLINE void weight_row(const WeightTile<T>& w, int r, const Constants<S, T>& constants) {
  const T reference = Law::refers ? w.reference[r] : T(0);
  if constexpr (has_binary<S, Law, T, biased>) {
    if (reference == T(0)) {
      return weight_referred<S, Law, far, true, T, biased>(w, r, reference, constants.binary);
    }
  }
  weight_referred<S, Law, far, false, T, biased>(w, r, reference, constants.natural);
}

/// e^x and log x of one number, of any size.
HWY_INLINE float exp_of(float x) { return ::expf(x); }
HWY_INLINE double exp_of(double x) { return ::exp(x); }
HWY_INLINE float log_of(float x) { return ::logf(x); }
HWY_INLINE double log_of(double x) { return ::log(x); }

/// A row of weights e^logit e^-reference by the closed form of e^logit; lost where its largest
/// logit is beyond closed_limit.
template <class S, class T>
HWY_INLINE void weight_closed(const WeightTile<T>& w, int r, const Constants<S, T>& constants) {
  WeightRow<S, false, T, false> parts(w.score, r, constants.natural);
  const bool begins = w.reference[r] == no_reference<T>;
  const T from = begins ? T(0) : w.reference[r];
  const auto scale = hn::Set(Tag<T>(), exp_of(-from));
  T* row = parts.row;
  auto total = hn::Zero(Tag<T>());
  for_packs<T>(
      parts.columns, [&](auto n, int c) __attribute__((always_inline)) {
        const auto weight = parts.template exponentials<n>(c, scale);
        weight.store(row + c);
        total = hn::Add(total, folded_sum(weight));
      });
  w.row_sum[r] = lane_sum<T>(total);
  const T maximum = from + log_of(parts.maximum());
  // Far below a reference that it has, a row's weights vanish, and may. NaN is not lost.
  if (maximum > T(closed_limit) || (begins && maximum < T(-closed_limit))) {
    w.row_maximum[r] = std::numeric_limits<T>::infinity();
    return;
  }
  w.row_maximum[r] = maximum;
  const T to = moved_reference(w.reference[r], maximum);
  if (to != from) w.row_sum[r] = rescale(row, parts.columns, from, to);
  w.reference[r] = to;
}

template <class S, class T>
void weight_closed_rows(const WeightTile<T>& w) {
  const Constants<S, T> constants(w.score.constants);
  for (int r = 0; r < w.score.rows; ++r) {
    const T reference = w.reference[r];
    if (is_held(reference) || reference == no_reference<T>) {
      weight_closed<S>(w, r, constants);
    } else {
      weight_row<S, SoftmaxLaw, false, T, false>(w, r, constants);
    }
  }
}

template <class S, class Law, class T, bool biased>
void weight_rows(const WeightTile<T>& w) {
  const Constants<S, T> constants(w.score.constants);
  for_rows<S, T>(
      w.score, [&](auto far, int r) __attribute__((always_inline)) {
        weight_row<S, Law, far, T, biased>(w, r, constants);
      });
}

template <class S, class Law, class T>
void weights(const WeightTile<T>& w) {
  if (w.score.addend != nullptr) return weight_rows<S, Law, T, true>(w);
  if constexpr (HasExponential<S> && Law::refers) {
    if (!w.by_logits && S::is_closed(w.score.constants)) return weight_closed_rows<S>(w);
  }
  weight_rows<S, Law, T, false>(w);
}

}  // namespace conelab::CONELAB_SIMD
