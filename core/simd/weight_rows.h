// Computes the weights of a tile and their sums, row by row, given its measures.
#pragma once

#include <math.h>

#include <limits>
#include <numbers>
#include <type_traits>

#include "core/simd/pair_rows.h"
#include "core/simd/row_reference.h"

namespace conelab::CONELAB_SIMD {

/// Calls f(number of vectors as a constant, column) for packs that cover a tile's columns.
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

/// Says whether rows whose reference is 0 use logits to base 2: log2 e is folded into the constant
/// c[0] of their formula, so that the exponential needs no product. Rounding c[0] log2 e scales all
/// logits of such a row by the same factor, which differs from 1 by up to 6e-8. Where logits are
/// close to -16, weights and their sum then differ by 1e-6 from those that natural logits give, as
/// they are used in a row's first tile, with masks and biases, and in the backward pass. For larger
/// references the error would exceed the rounding of the logits.
template <class S, class Law, class T, bool biased>
constexpr bool has_binary = [] {
  if constexpr (requires { S::proportional; })
    return S::proportional && Law::is_exponential && std::is_same_v<T, float> && !biased;
  return false;
}();

/// The constants of a head, each broadcast to a vector. `binary` are those for logits to base 2.
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

/// Returns the weight of a logit. If `binary`, the logit is to base 2 and its reference is 0.
template <class Law, bool binary, class T, int n>
HWY_INLINE Pack<T, n> weight_of(const Pack<T, n>& logit, T reference) {
  if constexpr (binary)
    return exp2(logit);
  else
    return Law::weight(logit, reference, T(1));
}

/// Replaces a row of logits by their weights. Returns the sum of the weights.
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

/// Says whether the similarity declares its formula short enough to share the registers with exp.
/// The square roots of the next pack then overlap with the multiply-adds of this one. A long
/// formula would run out of registers. With 32 registers, a pack of eight vectors hides latencies
/// as well.
template <class S>
constexpr bool one_pass = [] {
  if constexpr (HWY_TARGET != HWY_AVX3 && requires { S::one_pass; }) return S::one_pass;
  return false;
}();

/// The inputs of one row of weights. They are copied from the tile, because the compiler must
/// assume that storing to the row changes the tile's description, and would load that again for
/// each pack.
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

  /// Returns the logits of a pack's columns and updates `greatest`.
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
  /// Returns e^logit of a pack's columns times `scale` and updates `greatest` with these.
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
  /// Returns whether any number exceeds `limit`. It is a branch, so that the usual case does not
  /// wait for the reduction to a maximum.
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

/// Returns how far a row's largest logit may raise its reference: that of a sigmoid is at most 0.
template <class Law, class T>
HWY_INLINE T bounded(T maximum) {
  return !Law::is_exponential && maximum > T(0) ? T(0) : maximum;
}

/// Rescales weights from one reference to another, without their logits. Returns their sum.
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

/// Moves the reference of a row whose weights have been computed if its largest logit exceeds the
/// reference by more than stale_limit. If it exceeds it by most_rise or more, nothing is changed:
/// the weights are lost.
template <class T>
HWY_INLINE void follow(const WeightTile<T>& w, int r, T* row, T reference) {
  const T moved = moved_reference(reference, w.row_maximum[r]);
  if (!may_follow(reference, moved)) return;
  w.row_sum[r] = rescale(row, w.score.columns, reference, moved);
  w.reference[r] = moved;
}

/// Returns whether a row with a logit that exceeds its reference by more than stale_limit moves it.
/// A sigmoid does so only as far as 0.
template <class Law, class T>
HWY_INLINE bool may_move(const WeightTile<T>& w, int r, T reference) {
  return Law::is_exponential || is_lost(reference, w.row_maximum[r]);
}

/// Computes the weights of a row that has a reference. The logits of each pack are computed
/// together with the exponentials of the pack before.
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
  w.row_maximum[r] = bounded<Law>(unit * parts.maximum());
  if (parts.exceeds(highest_logit(reference) / unit) && may_move<Law>(w, r, reference)) {
    follow(w, r, row, reference);
  }
}

/// Computes all logits of a row, then all its weights.
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
  w.row_maximum[r] = bounded<Law>(unit * parts.maximum());
  const bool moves = reference == none || (parts.exceeds(highest_logit(reference) / unit) &&
                                           may_move<Law>(w, r, reference));
  if (moves && !binary) {
    reference = w.reference[r] = moved_reference(reference, w.row_maximum[r]);
    if (reference == none) reference = T(0);  // The row sees no key, so any number will do.
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
  const T reference = w.reference[r];
  if constexpr (has_binary<S, Law, T, biased>) {
    if (reference == T(0)) {
      return weight_referred<S, Law, far, true, T, biased>(w, r, reference, constants.binary);
    }
  }
  weight_referred<S, Law, far, false, T, biased>(w, r, reference, constants.natural);
}

/// Return e^x and log x of one number of any size.
HWY_INLINE float exp_of(float x) { return ::expf(x); }
HWY_INLINE double exp_of(double x) { return ::exp(x); }
HWY_INLINE float log_of(float x) { return ::logf(x); }
HWY_INLINE double log_of(double x) { return ::log(x); }

/// Computes a row of weights e^logit e^-reference from the closed form of e^logit. If its largest
/// logit exceeds closed_limit, or is below -closed_limit in the row's first tile, the row is lost.
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
  // Weights far below a reference that the row already has may underflow. NaN does not make a row
  // lost.
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
  if constexpr (HasExponential<S> && Law::is_exponential) {
    if (!w.by_logits && S::is_closed(w.score.constants)) return weight_closed_rows<S>(w);
  }
  weight_rows<S, Law, T, false>(w);
}

}  // namespace conelab::CONELAB_SIMD
