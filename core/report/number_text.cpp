#include "core/report/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace conelab {
namespace {

constexpr int digits_without_interval = 4;

int order_of(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

/// Returns the decimal at which a number ends that is uncertain by `half`: -3 for thousandths.
int last_decimal(double half) {
  const int order = order_of(half);
  const double three = std::round(half * std::pow(10.0, 2 - order));
  return three < 355 ? order - 1 : order;  // From 950 on, it is rounded to 10 in this decimal.
}

/// Returns x / 10^exponent, rounded at 10^decimal, without a minus sign before zero.
std::string fixed(double x, int exponent, int decimal) {
  const int places = exponent - decimal;
  const double unit = std::pow(10.0, std::abs(places));
  double scaled = exponent >= 0 ? x / std::pow(10.0, exponent) : x * std::pow(10.0, -exponent);
  if (places < 0) scaled = std::round(scaled / unit) * unit;
  if (places >= 0 && std::round(scaled * unit) == 0) scaled = 0;
  return fmt::format("{:.{}f}", scaled + 0.0, std::max(places, 0));
}

/// Returns the power of ten, a multiple of 3, by which a number of this size is divided.
int exponent_for(double largest) {
  const int order = largest == 0 ? 0 : order_of(largest);
  if (order >= -3 && order <= 5) return 0;
  return 3 * (order >= 0 ? order / 3 : (order - 2) / 3);
}

/// Returns a number that has no interval.
NumberText lone_number(double value) {
  if (value == std::round(value) && std::abs(value) < 1e7)
    return {fmt::format("{:.0f}", value + 0.0)};
  const int decimal = order_of(value) - digits_without_interval + 1;
  const int exponent = exponent_for(std::abs(value));
  return {fixed(value, exponent, std::min(decimal, exponent)), "", "", "", exponent};
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

std::string with_minus_sign(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

}  // namespace

NumberText number_text(const Interval& number) {
  if (!std::isfinite(number.value)) return {"–"};
  const double below = number.value - number.low, above = number.high - number.value;
  const double half = std::max(below, above);
  if (!std::isfinite(half) || !std::isfinite(below)) return lone_number(number.value);
  if (half <= 1e-12 * std::abs(number.value) || half == 0) {
    NumberText exact = lone_number(number.value);
    exact.spread = "0";
    return exact;
  }
  const int decimal = last_decimal(half);
  const int exponent = exponent_for(std::max(std::abs(number.value), half));
  NumberText text{fixed(number.value, exponent, decimal), "", "", "", exponent};
  if (std::abs(above - below) < 0.5 * std::pow(10.0, decimal)) {
    text.spread = fixed(half, exponent, decimal);
  } else {
    text.low = fixed(number.low, exponent, decimal);
    text.high = fixed(number.high, exponent, decimal);
  }
  return text;
}

std::string plain_number(const NumberText& number) {
  std::string text = with_minus_sign(number.value);
  if (!number.spread.empty()) text += " ± " + number.spread;
  if (!number.low.empty()) {
    text += fmt::format(" [{}, {}]", with_minus_sign(number.low), with_minus_sign(number.high));
  }
  if (number.exponent == 0) return text;
  if (!number.spread.empty()) text = "(" + text + ")";
  return text + " · 10" + superscript(number.exponent);
}

std::string latex_number(const NumberText& number) {
  std::string text = number.value == "–" ? "\\mbox{--}" : number.value;
  if (!number.spread.empty()) text += " \\pm " + number.spread;
  if (!number.low.empty()) text += fmt::format("\\;[{},\\,{}]", number.low, number.high);
  if (number.exponent == 0) return text;
  if (!number.spread.empty()) text = "(" + text + ")";
  return text + fmt::format(" \\cdot 10^{{{}}}", number.exponent);
}

}  // namespace conelab
