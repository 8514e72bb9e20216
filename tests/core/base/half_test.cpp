#include "core/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace conelab {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Half, KnowsTheLandmarks) {
  EXPECT_EQ(to_f16(1.0), 0x3C00);
  EXPECT_EQ(to_f16(-2.0), 0xC000);
  EXPECT_EQ(to_f16(65504.0), 0x7BFF);
  EXPECT_EQ(to_f16(65519.999), 0x7BFF);
  EXPECT_EQ(to_f16(65520.0), 0x7C00);
  EXPECT_EQ(to_f16(1e300), 0x7C00);
  EXPECT_EQ(to_f16(-infinity), 0xFC00);
  EXPECT_EQ(to_f16(std::ldexp(1.0, -24)), 0x0001);
  EXPECT_EQ(to_f16(std::ldexp(1.0, -25)), 0x0000);  // a tie, to even
  EXPECT_EQ(to_f16(std::ldexp(1.0001, -25)), 0x0001);
  EXPECT_EQ(to_f16(-0.0), 0x8000);
  EXPECT_EQ(to_bf16(1.0), 0x3F80);
  EXPECT_EQ(to_bf16(3.4e38), 0x7F80);
  EXPECT_EQ(to_bf16(infinity), 0x7F80);
  EXPECT_TRUE(std::isnan(from_f16(to_f16(NAN))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(NAN))));
}

/// (All 2^32 floats were compared once; here every 997th, and the neighbours of where formulas
/// change.)
TEST(Half, FloatsAreRoundedAsDoublesAre) {
  const auto expect_alike = [](std::uint32_t bits) {
    const auto number = std::bit_cast<float>(bits);
    ASSERT_EQ(to_f16(number), to_f16(static_cast<double>(number))) << bits;
    ASSERT_EQ(to_bf16(number), to_bf16(static_cast<double>(number))) << bits;
  };
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 997) {
    expect_alike(static_cast<std::uint32_t>(bits));
  }
  for (const std::uint32_t edge : {0U, 0x33000000U, 0x38800000U, 0x477ff000U, 0x7f7f8000U,
                                   0x7f800000U, 0x7fffffffU, 0x80000000U, 0xb3000000U}) {
    for (std::uint32_t near = 0; near < 20000; ++near) expect_alike(edge + near - 10000);
  }
}

TEST(Half, EveryPatternSurvivesTheRoundTrip) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float half = from_f16(pattern), brain = from_bf16(pattern);
    ASSERT_TRUE(std::isnan(half) || to_f16(half) == pattern) << bits;
    ASSERT_TRUE(std::isnan(brain) || to_bf16(brain) == pattern) << bits;
  }
}

/// Between neighbours a and b the midpoint goes to the even one, everything else to the nearer one.
TEST(Half, RoundsToNearestTiesToEven) {
  for (unsigned bits = 0; bits + 1 < 0x7C00; ++bits) {
    const double a = from_f16(static_cast<std::uint16_t>(bits));
    const double b = from_f16(static_cast<std::uint16_t>(bits + 1));
    const double middle = (a + b) / 2;
    ASSERT_EQ(to_f16(middle), bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(to_f16(std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(to_f16(std::nextafter(middle, infinity)), bits + 1);
  }
}

TEST(Half, RoundsOnceFromDouble) {
  // Through float this would round to the tie first, and then down to even.
  EXPECT_EQ(to_f16(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)), 0x3C01);
  EXPECT_EQ(to_bf16(1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)), 0x3F81);
}

}  // namespace
}  // namespace conelab
