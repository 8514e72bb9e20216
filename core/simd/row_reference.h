// The reference m of a row under an online softmax: its weights are exp(logit - m).
//
// It is stale on purpose, so that sums and outputs are almost never rescaled (1-3 % against 3-5 %
// for moving it with every tile) and no row can underflow:
//   none      the row has seen no key
//   begins    at 0 where the largest logit of its first tile is near that, else at that logit
//   stays     while no logit exceeds it by more than stale_limit
//   follows   rises to a tile's largest logit: before the tile's exponentials where all its logits
//             come first, else afterwards, by scaling the tile's weights
//   is lost   where it would have to rise too far for that: the tile's weights have overflowed, and
//             the driver weighs the row again from its measures, with no reference
//
// Functions are inlined always: the kernels of every SIMD target and their drivers share this
// header, and a linker would keep one target's copy for all.
#pragma once

#include <cmath>
#include <limits>

namespace conelab {

/// How far the largest logit of a row may lie above its reference: 8 ln 2, so that weights stay
/// below 2^8. (Some of an exponential's error grows with the distance.)
constexpr double stale_limit = 5.54;

/// A row's first reference is 0 where its largest logit is at most stale_limit, and no lower than
/// this: of -16 the exponential errs by 2e-7 of itself more, and log2 e times a formula's factor,
/// rounded (core/simd/weight_rows.h), moves it by 1e-6 at most, as rounding moves logits so large.
constexpr double lowest_start = -16;

/// A reference that rises by less may do so after the weights: they have not overflowed, and what
/// the exponential lost is no more than the rounding of logits so large.
constexpr double most_rise = 80;

/// The largest references by which a closed form of e^logit is scaled: weights of a row between
/// e^-44 and e^44 neither overflow nor vanish beside its largest.
constexpr double closed_limit = 40;

/// Of a row that has seen no key.
template <class T>
constexpr T no_reference = -std::numeric_limits<T>::infinity();

/// The largest logit that a reference bears.
template <class T>
[[gnu::always_inline]] inline T highest_logit(T reference) {
  return reference + T(stale_limit);
}

/// Whether a row whose largest logit this is has weights that are not to be used.
template <class T>
[[gnu::always_inline]] inline bool is_lost(T reference, T maximum) {
  return maximum > highest_logit(reference);
}

/// The reference after a tile whose largest logit is `maximum`. Written so that NaN moves nothing.
template <class T>
[[gnu::always_inline]] inline T moved_reference(T reference, T maximum) {
  if (reference == no_reference<T>) {
    if (maximum == no_reference<T>) return no_reference<T>;
    return is_lost(T(0), maximum) || maximum < T(lowest_start) ? maximum : T(0);
  }
  return is_lost(reference, maximum) ? maximum : reference;
}

/// Whether weights can be rescaled from one reference to another.
template <class T>
[[gnu::always_inline]] inline bool may_follow(T from, T to) {
  return to - from < T(most_rise);
}

/// Whether a closed form of e^logit may be scaled by a reference.
template <class T>
[[gnu::always_inline]] inline bool is_held(T reference) {
  return std::abs(reference) <= T(closed_limit);
}

}  // namespace conelab
