// Random numbers that are equal on every platform: equal seeds give equal bits.
//
// The distributions of the standard library differ between implementations, and are therefore
// implemented here; the logarithm is that of portable_math.h. The generator is xoshiro256**
// (Blackman, Vigna 2021), seeded by splitmix64. Normal numbers use the polar method (Marsaglia,
// Bray 1964).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace conelab {

/// Advances the state of the generator splitmix64 by one step and returns 64 random bits.
std::uint64_t splitmix64(std::uint64_t& state);

class Random {
 public:
  explicit Random(std::uint64_t seed);
  /// Returns 64 random bits.
  std::uint64_t next();
  /// Returns a uniform number in [0, 1), a multiple of 2^-53.
  double uniform();
  /// Returns a standard normal number.
  double normal();
  /// Returns a uniform integer in 0 .. count - 1 without bias; count >= 1.
  std::uint64_t below(std::uint64_t count);

  /// Shuffles a random-access range (Fisher-Yates; every order is equally likely).
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
