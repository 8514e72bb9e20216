// How long a case would take on more ranks over a network, predicted from what was measured.
//
// A rank has the share g of the slabs of tokens (core/ring/blocks.h) and visits every slab with its
// queries. With T the time of one rank for all pairs, m slabs, of which it owns g m, and b bytes
// that it receives with a slab over a network of B bytes/s:
//
//   time = g m · c + (m - g m) · max(c, b / B),   c = g T / m
//
// b holds k and v in the type of the computation; in a backward pass in addition the sums of their
// gradients in double. These are waited for (added, not the maximum) where g m = 1, as nothing is
// computed meanwhile. T is the time with the fewest ranks above one, times these, or that of one
// rank where no more were measured; it grows as the operations do.
//
// Assumed: equal ranks; messages travel while ranks compute; any two ranks have the full bandwidth
// in both directions; messages need no time beside that of their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bench/measured.h"

namespace conelab {

/// The lengths, ranks and networks for which times are predicted.
struct RankForecast {
  std::int64_t length = 0;            ///< n, measured or not.
  std::vector<std::int64_t> ranks;    ///< Their numbers.
  std::vector<std::string> networks;  ///< Gbit/s in each direction: "10". Empty: nothing.
  double speed = 1;                   ///< Of a rank's processor over that of the one measured.
};

/// Returns the cases of one length with the number of ranks in the place of the length, and then,
/// as operators named "NAME, predicted for 10 Gbit/s", those that are predicted. Throws misuse if
/// nothing was measured at the length and nothing is predicted, and for a network that is no
/// number.
[[nodiscard]] std::vector<MeasuredCase> cases_by_ranks(const std::vector<MeasuredCase>& cases,
                                                       const RankForecast& forecast);

/// One pass of a case, for which all pairs take one rank `seconds`.
struct SharedPass {
  double seconds = 0;
  std::int64_t tokens = 0;
  double token_bytes = 0;     ///< Of k and v, with all heads and batch elements.
  double gradient_bytes = 0;  ///< Of the sums of their gradients; 0 in a forward pass.
};
/// Returns the time on `ranks` ranks. `bandwidth` is B in bytes/s.
[[nodiscard]] double predicted_seconds(const SharedPass& pass, std::int64_t ranks,
                                       double bandwidth);

}  // namespace conelab
