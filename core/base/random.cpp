#include "core/base/random.h"

#include <cmath>
#include <limits>

namespace conelab {
namespace {

std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::next() {
  auto& s = state_;
  const std::uint64_t result = rotate_left(s[1] * 5, 7) * 9;
  const std::uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotate_left(s[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double x = 0, y = 0, r2 = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    r2 = x * x + y * y;
  } while (r2 >= 1 || r2 == 0);
  const double scale = std::sqrt(-2 * portable::log(r2) / r2);
  spare_ = y * scale;
  has_spare_ = true;
  return x * scale;
}

std::uint64_t Random::below(std::uint64_t count) {
  // Without this test, the lowest 2^64 mod count values would occur too often.
  const std::uint64_t uneven = (0 - count) % count;
  std::uint64_t value = next();
  while (value < uneven) value = next();
  return value % count;
}

}  // namespace conelab

namespace conelab::portable {
namespace {

/// π/2 and log 2 in parts whose products with whole numbers below 2^20 are exact, but for the last.
constexpr double half_pi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
constexpr double log_2[] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};

/// Returns sin(r) and cos(r) for |r| <= π/4 by their Taylor series.
double sine_series(double r) {
  double sum = 0;
  for (int k = 19; k >= 3; k -= 2) sum = (1 - sum) * (r * r) / (k * (k - 1));
  return r - r * sum;
}
double cosine_series(double r) {
  double sum = 0;
  for (int k = 20; k >= 2; k -= 2) sum = (1 - sum) * (r * r) / (k * (k - 1));
  return 1 - sum;
}

/// Returns sin(x + quarters π/2).
double sine_of(double x, int quarters) {
  const double turns = std::floor(x / half_pi[0] + 0.5);
  const double r = ((x - turns * half_pi[0]) - turns * half_pi[1]) - turns * half_pi[2];
  const int quarter = static_cast<int>((static_cast<long long>(turns) + quarters) & 3);
  const double value = quarter % 2 == 0 ? sine_series(r) : cosine_series(r);
  return quarter < 2 ? value : -value;
}

}  // namespace

// x = m 2^e with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s) with s = (m - 1) / (m + 1).
double log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
  return 2 * s * series + exponent * 0.69314718055994531;
}

double exp(double x) {
  if (x < -745.2) return 0;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  const double k = std::floor(x / 0.69314718055994531 + 0.5);
  const double r = (x - k * log_2[0]) - k * log_2[1];
  double series = 1;
  for (int i = 14; i >= 1; --i) series = 1 + r * series / i;
  return std::ldexp(series, static_cast<int>(k));
}

double sin(double x) { return sine_of(x, 0); }
double cos(double x) { return sine_of(x, 1); }

double acosh(double x) { return log(x + std::sqrt(x * x - 1)); }

}  // namespace conelab::portable
