// A number kept as the exact sum of two doubles, about 106 bits: for differences of coordinates
// that are much larger than the differences.
//
// The additions are Knuth's, the product Dekker's with a fused multiply-add.
#pragma once

#include <cmath>
#include <compare>

namespace conelab {

struct Twofold {
  double high = 0, low = 0;  ///< |low| is at most half a unit in the last place of `high`.

  Twofold() = default;
  Twofold(double x) : high(x) {}
  /// The exact sum of two doubles.
  Twofold(double a, double b) : high(a + b) {
    const double rest = high - a;
    low = (a - (high - rest)) + (b - rest);
    if (!std::isfinite(high)) low = 0;
  }
  explicit operator double() const { return high; }

  friend Twofold operator+(Twofold a, Twofold b) {
    const Twofold sum(a.high, b.high);
    return {sum.high, sum.low + (a.low + b.low)};
  }
  friend Twofold operator-(Twofold a) {
    Twofold negative(-a.high);
    negative.low = -a.low;
    return negative;
  }
  friend Twofold operator-(Twofold a, Twofold b) { return a + -b; }
  friend Twofold operator*(Twofold a, Twofold b) {
    const double high = a.high * b.high;
    return {high, std::fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high)};
  }
  friend bool operator==(const Twofold&, const Twofold&) = default;
  friend auto operator<=>(const Twofold&, const Twofold&) = default;
};

}  // namespace conelab
