// Random numbers that are equal on every platform: equal seeds give equal bits.
//
// The distributions of the standard library differ between implementations, and are therefore
// implemented here; the logarithm is `log` below. The generator is xoshiro256**
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

namespace conelab::portable {

// Elementary functions whose bits are the same on every machine, which those of the C library are
// not. They use +, -, *, / and exact functions only, each rounded once as IEEE 754 says, in a fixed
// order; the project is compiled without contraction. Errors are below 2 ulp.

/// x > 0 and finite.
[[nodiscard]] double log(double x);
/// Returns 0 below −745 and infinity above 709.79.
[[nodiscard]] double exp(double x);
/// |x| < 1e5; the error is absolute, at most 2^-52.
[[nodiscard]] double sin(double x);
[[nodiscard]] double cos(double x);
/// x >= 1.
[[nodiscard]] double acosh(double x);

}  // namespace conelab::portable
