#include "core/figure/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/figure/style.h"

namespace conelab::figure {
namespace {

std::vector<TextRun> run(std::string text) {
  return {{std::move(text), Face::regular, Script::normal}};
}

std::vector<TextRun> power(const std::string& base, int exponent) {
  return {{base, Face::regular, Script::normal},
          {with_minus(std::to_string(exponent)), Face::regular, Script::super}};
}

std::vector<TextRun> scientific_label(double value, int digits) {
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  std::string mantissa = fmt::format("{:.{}g}", value / std::pow(10, exponent), digits);
  if (mantissa == "10" || mantissa == "-10") mantissa.pop_back(), ++exponent;
  if (mantissa == "1") return power("10", exponent);
  return power(with_minus(mantissa) + "×10", exponent);
}

/// Returns whether the value is a power of ten up to rounding.
bool is_power_of_ten(double value) {
  const double e = std::round(std::log10(value));
  return std::abs(value / std::pow(10, e) - 1) < 1e-9;
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `raw`.
double nice_step(double raw) {
  const double unit = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * unit >= raw * (1 - 1e-9)) return m * unit;
  }
  return 10 * unit;
}

/// Returns every `stride`-th whole exponent in [low, high], or all of them if fewer than two would
/// remain.
std::vector<int> exponents(double low, double high, int most) {
  const int first = static_cast<int>(std::ceil(low - 1e-9));
  const int last = static_cast<int>(std::floor(high + 1e-9));
  const int count = last - first + 1;
  const int stride = std::max(1, (count + most - 1) / std::max(1, most));
  std::vector<int> out;
  for (int e = first; e <= last; ++e) {
    if (e % stride == 0) out.push_back(e);
  }
  if (out.size() < 2 && stride > 1) return exponents(low, high, count);
  return out;
}

bool is_power(const std::vector<TextRun>& label) {
  return !label.empty() && label.back().script == Script::super;
}

/// Writes all labels as powers of ten if one of them is: 0.001 becomes 10⁻³ if there is a 5×10⁻⁴.
void write_alike(std::vector<Tick>& ticks) {
  const auto power_label = [](const Tick& t) { return is_power(t.label); };
  if (std::none_of(ticks.begin(), ticks.end(), power_label)) return;
  for (Tick& t : ticks) {
    if (t.major() && !power_label(t)) t.label = scientific_label(t.value, 4);
  }
}

/// Returns ticks at the digits 1–9 of each decade. Those in `labelled` have a number.
std::vector<Tick> digit_ticks(double low, double high, const std::vector<int>& labelled) {
  std::vector<Tick> ticks;
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  for (int e = first; e <= last; ++e) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10, e);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool label = std::find(labelled.begin(), labelled.end(), digit) != labelled.end();
      ticks.push_back({value, label ? number_label(value) : std::vector<TextRun>{}});
    }
  }
  write_alike(ticks);
  return ticks;
}

/// Returns the multiples of a step in [low, high].
std::vector<Tick> ticks_by(double step, double low, double high) {
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k <= high / step + 1e-9; ++k) {
    const double value = k * step;
    ticks.push_back({value, number_label(k == 0 ? 0 : value, 6)});
    // A step that is below the rounding of the values cannot advance.
    if (ticks.size() > 64) break;
  }
  return ticks;
}

bool bad_range(double low, double high) {
  return !(std::isfinite(low) && std::isfinite(high)) || high < low;
}

}  // namespace

std::vector<TextRun> number_label(double value, int digits) {
  if (std::isnan(value)) return run("NaN");
  if (std::isinf(value)) return run(value > 0 ? "∞" : "−∞");
  const double size = std::abs(value);
  if (size == 0 || (size >= 0.9999e-3 && size < 0.99995e5)) {
    return run(with_minus(fmt::format("{:.{}g}", value == 0 ? 0.0 : value,
                                      std::max(digits, size >= 1e4 ? 5 : digits))));
  }
  return scientific_label(value, digits);
}

std::vector<Tick> whole_ticks(double low, double high, int most) {
  if (bad_range(low, high) || !std::isfinite(high - low)) return {};
  const double step = std::max(1.0, nice_step((high - low) / std::max(1, most - 1)));
  std::vector<Tick> ticks = ticks_by(step, low, high);
  if (ticks.size() < 2 && step > 1 && most < 6) return whole_ticks(low, high, 6);
  return ticks;
}

std::vector<Tick> linear_ticks(double low, double high, int most) {
  if (bad_range(low, high)) return {};
  if (low == high) return {{low, number_label(low)}};
  if (!std::isfinite(high - low)) return {{low, number_label(low)}, {high, number_label(high)}};
  const double step = nice_step((high - low) / std::max(1, most - 1));
  std::vector<Tick> ticks = ticks_by(step, low, high);
  // A step may leave one tick or none between the ends. A fifth of the range never does.
  if (ticks.size() < 2 && most < 6) return linear_ticks(low, high, 6);
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int most) {
  if (bad_range(low, high) || low <= 0) return {};
  if (low == high) return {{low, number_label(low)}};
  const double decades = std::log10(high / low);
  if (decades < 0.5) return linear_ticks(low, high, most);
  const bool two_powers = std::floor(std::log10(high) + 1e-9) > std::ceil(std::log10(low) - 1e-9);
  if (decades < 2 && (most >= 4 || !two_powers)) {
    std::vector<Tick> ticks = digit_ticks(low, high, {1, 2, 5});
    const auto labelled = std::count_if(ticks.begin(), ticks.end(), std::mem_fn(&Tick::major));
    return labelled < 2 ? linear_ticks(low, high, most) : ticks;
  }
  const std::vector<int> labelled = exponents(std::log10(low), std::log10(high), most);
  std::vector<Tick> ticks = decades > 8 ? std::vector<Tick>{} : digit_ticks(low, high, {});
  std::erase_if(ticks, [](const Tick& t) { return is_power_of_ten(t.value); });
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  for (int e = first; e <= std::log10(high) + 1e-9; ++e) {
    const bool label = std::find(labelled.begin(), labelled.end(), e) != labelled.end();
    if (label || decades <= 40) {
      ticks.push_back({std::pow(10, e), label ? power("10", e) : std::vector<TextRun>{}});
    }
  }
  std::sort(ticks.begin(), ticks.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return ticks;
}

std::vector<Tick> binary_ticks(double low, double high, int most) {
  if (bad_range(low, high) || low <= 0) return {};
  std::vector<Tick> ticks;
  for (const int e : exponents(std::log2(low), std::log2(high), most)) {
    const double value = std::pow(2, e);
    const bool plain_number = e >= 0 && e <= 16;
    ticks.push_back({value, plain_number ? run(fmt::format("{:.0f}", value)) : power("2", e)});
  }
  if (ticks.size() >= 2) return ticks;
  ticks = whole_ticks(low, high, most);
  return ticks.size() < 2 ? log_ticks(low, high, most) : ticks;
}

}  // namespace conelab::figure
