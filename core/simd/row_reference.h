// The reference m of a row in an online softmax: the weights of the row are exp(logit - m).
//
// The reference is usually below the maximum of the row, so that sums and outputs are seldom
// rescaled. It never lies so far above the row's largest logit that all its weights underflow. A
// reference
// - is `no_reference` while the row has seen no key;
// - starts at 0 if the largest logit of the row's first tile is close to 0, and at that logit
//   otherwise;
// - stays as it is while no logit exceeds it by more than stale_limit;
// - rises to the largest logit of a tile otherwise. A kernel that computes all logits of the tile
//   first does this before the exponentials, another one afterwards, by scaling the weights of the
//   tile;
// - is lost if it would have to rise too far for such scaling. The weights of the tile have
//   overflowed then, and the driver computes them again from the measures, starting with
//   no_reference.
// The weights of a sigmoid are sigmoid(logit) e^-m. Its reference moves in the same way as if no
// logit were above 0.
//
// All functions are always inlined. The kernels of every SIMD target and their drivers include this
// header, and the linker would otherwise keep one target's copy for all of them.
#pragma once

#include <cmath>
#include <limits>

namespace conelab {

/// The largest logit of a row may exceed its reference by this: 8 ln 2, so that weights stay below
/// 2^8. A larger limit would increase the error of the exponential, which grows with its argument.
constexpr double stale_limit = 5.54;

/// The first reference of a row is 0 if its largest logit lies between this and stale_limit. At a
/// logit of -16 the exponential has an additional relative error of 2e-7. Where log2 e is folded
/// into a factor of the formula (core/simd/weight_rows.h), the rounding of that factor changes such
/// a weight by at most 1e-6. Rounding changes logits of that size by as much.
constexpr double lowest_start = -16;

/// A reference that rises by less than this may be changed after the weights are computed. They
/// have not overflowed, and the exponential has lost no more than the rounding of logits of that
/// size.
constexpr double most_rise = 80;

/// References of at most this size may scale a closed form of e^logit. The weights of a row then
/// lie between e^-44 and e^44: they do not overflow, and are not negligible next to the largest
/// one.
constexpr double closed_limit = 40;

/// The reference of a row that has seen no key.
template <class T>
constexpr T no_reference = -std::numeric_limits<T>::infinity();

/// Returns the largest logit that a reference allows.
template <class T>
[[gnu::always_inline]] inline T highest_logit(T reference) {
  return reference + T(stale_limit);
}

/// Returns whether a row's largest logit is too large for its reference. If this is so after a
/// kernel had the chance to move the reference, the weights of the row are unusable.
template <class T>
[[gnu::always_inline]] inline bool is_lost(T reference, T maximum) {
  return maximum > highest_logit(reference);
}

/// Returns the reference after a tile whose largest logit is `maximum`. It stays the same if
/// `maximum` is NaN.
template <class T>
[[gnu::always_inline]] inline T moved_reference(T reference, T maximum) {
  if (reference == no_reference<T>) {
    if (maximum == no_reference<T>) return no_reference<T>;
    return is_lost(T(0), maximum) || maximum < T(lowest_start) ? maximum : T(0);
  }
  return is_lost(reference, maximum) ? maximum : reference;
}

/// Returns whether weights can be rescaled from one reference to another.
template <class T>
[[gnu::always_inline]] inline bool may_follow(T from, T to) {
  return to - from < T(most_rise);
}

/// Returns whether a closed form of e^logit may be scaled by this reference.
template <class T>
[[gnu::always_inline]] inline bool is_held(T reference) {
  return std::abs(reference) <= T(closed_limit);
}

}  // namespace conelab
