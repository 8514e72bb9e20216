// The ticks of an axis and their labels.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

struct Tick {
  double value = 0;
  std::vector<TextRun> label;  ///< Empty for a minor tick.
  [[nodiscard]] bool major() const { return !label.empty(); }
};

/// Returns a number as figures show it, with a true minus sign: "0.25", "−3", "1.5×10⁻⁶" (as runs).
/// Numbers from 10^5 on and below 10^-3 have a power of ten. At most `digits` significant digits
/// are shown (five from 10^4 on), without trailing zeros.
[[nodiscard]] std::vector<TextRun> number_label(double value, int digits = 4);

/// Returns ticks at multiples of 1, 2 or 5 times a power of ten over [low, high]: at most about
/// `most`, but at least two. Returns none for an empty range and one if low = high.
[[nodiscard]] std::vector<Tick> linear_ticks(double low, double high, int most);

/// Returns ticks at powers of ten over [low, high] (positive). At most about `most` are labelled;
/// the digits 2–9 are minor ticks. Below two decades, 1, 2 and 5 are labelled if `most` allows it,
/// all as powers if one of them is. Below half a decade, or if fewer than two labels would remain,
/// the ticks are those of linear_ticks.
[[nodiscard]] std::vector<Tick> log_ticks(double low, double high, int most);

/// Returns ticks at whole numbers, at multiples of 1, 2 or 5 times a power of ten over [low, high],
/// at most about `most`, for axes that count things. There are fewer than two only if the range
/// contains fewer.
[[nodiscard]] std::vector<Tick> whole_ticks(double low, double high, int most);

/// Returns ticks at powers of two, for lengths of sequences: 256, 512, …; from 2^17 on as 2^k. If
/// the range contains fewer than two, the ticks are those of whole_ticks, or else of log_ticks.
[[nodiscard]] std::vector<Tick> binary_ticks(double low, double high, int most);

}  // namespace conelab::figure
