#include "core/base/random.h"

#include <cmath>

#include "core/base/portable_math.h"

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
