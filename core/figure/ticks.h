// Where an axis is marked and what stands there.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

struct Tick {
  double value = 0;
  std::vector<TextRun> label;  ///< Empty: a minor tick.
  [[nodiscard]] bool major() const { return !label.empty(); }
};

/// A number as figures print it, with a true minus: "0.25", "−3", "1.5×10⁻⁶" (as runs). Powers of
/// ten beyond `10^±4` are written as such. `digits` significant ones at most, no trailing zeros.
[[nodiscard]] std::vector<TextRun> number_label(double value, int digits = 4);

/// Steps of 1, 2 or 5 times a power of ten over [low, high], at most about `most` of them, but two
/// at least. Empty where the range is; one tick where low = high.
[[nodiscard]] std::vector<Tick> linear_ticks(double low, double high, int most);

/// Powers of ten over [low, high] (positive), thinned to at most `most` labels; the digits 2–9 are
/// minor. Below two decades, 1, 2 and 5 are labelled, all as powers where one of them is;
/// linear steps where that would leave fewer than two, or within one digit.
[[nodiscard]] std::vector<Tick> log_ticks(double low, double high, int most);

/// Whole numbers in steps of 1, 2 or 5 times a power of ten over [low, high], at most about `most`
/// of them: for axes that count whole things. Fewer than two only where the range holds fewer.
[[nodiscard]] std::vector<Tick> whole_ticks(double low, double high, int most);

/// Powers of two, as lengths of sequences are: 256, 512, …; from 2^17 on as 2^k. As whole_ticks
/// where the range has fewer than two: a length is a whole number.
[[nodiscard]] std::vector<Tick> binary_ticks(double low, double high, int most);

}  // namespace conelab::figure
