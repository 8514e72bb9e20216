// Random numbers that are the same everywhere: equal seeds give equal bits on every platform.
//
// The standard library's distributions differ between libraries and its logarithm between versions,
// so both are written out here. Generator: xoshiro256** (Blackman, Vigna 2021), seeded through
// splitmix64. Normal numbers: the polar method (Marsaglia, Bray 1964).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace conelab {

/// splitmix64: the state moves on by one step; returns 64 well mixed bits.
std::uint64_t splitmix64(std::uint64_t& state);

class Random {
 public:
  explicit Random(std::uint64_t seed);
  /// 64 random bits.
  std::uint64_t next();
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  /// Standard normal.
  double normal();
  /// Uniform in 0 .. count - 1, without bias; count >= 1.
  std::uint64_t below(std::uint64_t count);

  /// Puts a random-access range in random order (Fisher-Yates, every order equally likely).
  template <class Range>
  void shuffle(Range& range) {
    for (std::size_t i = range.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(below(i));
      std::swap(range[i - 1], range[j]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace conelab
