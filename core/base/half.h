// The two 16-bit number types of tensors, IEEE binary16 and bfloat16. They exist as bit patterns
// and as types that hold one number and compute as float.
//
// Numbers are narrowed from double or from float with one rounding (to nearest, ties to even).
// Overflow gives infinity, subnormals are kept, NaN stays NaN. Widening is exact.
//
// This is own code for two promises that Eigen::half and Eigen::bfloat16 do not keep: a double is
// rounded once (Eigen converts it to float first, which rounds twice), and widening has no branch,
// so that a loop over a tensor becomes a vector loop on every target.
#pragma once

#include <bit>
#include <cstdint>

namespace conelab {

namespace detail {

/// Returns `bits` / 2^shift rounded to nearest, ties to even; shift >= 0.
constexpr std::uint64_t shift_to_nearest_even(std::uint64_t bits, int shift) {
  if (shift == 0) return bits;
  if (shift > 62) return 0;
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = bits & ((half << 1) - 1);
  const std::uint64_t kept = bits >> shift;
  return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

/// Returns a double in the format of 1 sign, `Exponent` exponent and `Mantissa` mantissa bits.
template <int Exponent, int Mantissa>
constexpr std::uint16_t narrow(double number) {
  constexpr int bias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint64_t infinity = ((std::uint64_t{1} << Exponent) - 1) << Mantissa;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t result = infinity;
  if (exponent == 1024 && mantissa != 0) {
    result = infinity | (std::uint64_t{1} << (Mantissa - 1)) | (mantissa >> (52 - Mantissa));
  } else if (exponent < 1 - bias) {
    result = shift_to_nearest_even(mantissa | (std::uint64_t{1} << 52),
                                   52 - Mantissa + 1 - bias - exponent);
  } else if (exponent <= bias) {
    const auto biased = static_cast<std::uint64_t>(exponent + bias);
    result = shift_to_nearest_even(biased << 52 | mantissa, 52 - Mantissa);
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// Returns a float in the same format, rounded in the same way. It has no branch, so that loops
/// over it can be vectorised.
template <int Exponent, int Mantissa>
constexpr std::uint16_t narrow(float number) {
  constexpr int dropped = 23 - Mantissa;
  constexpr std::uint32_t rebias = static_cast<std::uint32_t>(128 - (1 << (Exponent - 1))) << 23;
  constexpr std::uint32_t infinity = ((1u << Exponent) - 1) << Mantissa;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t rebiased = magnitude - rebias;
  std::uint32_t result =
      (rebiased + ((1u << (dropped - 1)) - 1) + (rebiased >> dropped & 1u)) >> dropped;
  if constexpr (rebias != 0) {
    // Below the least normal number. The last place of the sum is the least subnormal number.
    constexpr std::uint32_t least_normal = rebias + (1u << 23);
    constexpr std::uint32_t shifter = least_normal + (static_cast<std::uint32_t>(dropped) << 23);
    const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(shifter);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - shifter;
    result = magnitude < least_normal ? subnormal : result;
    result = result > infinity ? infinity : result;
  }
  const std::uint32_t not_a_number =
      infinity | (1u << (Mantissa - 1)) | ((magnitude & 0x7fffffu) >> dropped);
  result = magnitude > 0x7f800000u ? not_a_number : result;
  return static_cast<std::uint16_t>(bits >> 31 << 15 | result);
}

/// Returns the float of the same value, exactly. It has no branch, so that loops over it can be
/// vectorised. A float whose exponent field has the bias of the narrow type is wrong by a power of
/// two only, also if it is subnormal.
template <int Exponent, int Mantissa>
constexpr float widen(std::uint16_t bits) {
  constexpr int bias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint32_t infinity = 255u << 23;
  constexpr float rebias = std::bit_cast<float>(static_cast<std::uint32_t>(127 + 127 - bias) << 23);
  constexpr std::uint32_t least_beyond = ((1u << Exponent) - 1) << 23;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 15) << 31;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7FFF) << (23 - Mantissa);
  const auto value = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * rebias);
  return std::bit_cast<float>(sign | value | (magnitude >= least_beyond ? infinity : 0u));
}

}  // namespace detail

/// Return the nearest binary16 (the largest finite one is 65,504, the least positive one 2^-24).
constexpr std::uint16_t to_f16(double number) { return detail::narrow<5, 10>(number); }
constexpr std::uint16_t to_f16(float number) { return detail::narrow<5, 10>(number); }
/// Return the nearest bfloat16 (the upper half of a float).
constexpr std::uint16_t to_bf16(double number) { return detail::narrow<8, 7>(number); }
constexpr std::uint16_t to_bf16(float number) { return detail::narrow<8, 7>(number); }
constexpr float from_f16(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  float number;
  asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
  return number;
#else
  return detail::widen<5, 10>(bits);
#endif
}
constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// A number of a tensor: two bytes that convert to float, and to which numbers are rounded once.
struct Float16 {
  std::uint16_t bits = 0;
  constexpr Float16() = default;
  constexpr explicit Float16(double number) : bits(to_f16(number)) {}
  constexpr explicit Float16(int number) : Float16(static_cast<double>(number)) {}
  constexpr explicit Float16(float number) : bits(to_f16(number)) {}
  constexpr operator float() const { return from_f16(bits); }
};
struct Bfloat16 {
  std::uint16_t bits = 0;
  constexpr Bfloat16() = default;
  constexpr explicit Bfloat16(double number) : bits(to_bf16(number)) {}
  constexpr explicit Bfloat16(int number) : Bfloat16(static_cast<double>(number)) {}
  constexpr explicit Bfloat16(float number) : bits(to_bf16(number)) {}
  constexpr operator float() const { return from_bf16(bits); }
};

namespace detail {
template <class Stored>
struct ComputeType {
  using type = Stored;
};
template <>
struct ComputeType<Float16> {
  using type = float;
};
template <>
struct ComputeType<Bfloat16> {
  using type = float;
};
}  // namespace detail

/// The type in which the engine computes on tensors of `Stored`: float for the 16-bit types.
template <class Stored>
using Compute = typename detail::ComputeType<Stored>::type;

}  // namespace conelab
