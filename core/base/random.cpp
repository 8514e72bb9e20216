#include "core/base/random.h"

#include <cmath>

namespace conelab {
namespace {

std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/// Returns log(x) for x > 0 with an error below 2 ulp. It uses +, * and / only, so that its bits
/// are the same on every platform: x = m 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(s)
/// with s = (m - 1) / (m + 1).
double portable_log(double x) {
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
  const double scale = std::sqrt(-2 * portable_log(r2) / r2);
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
