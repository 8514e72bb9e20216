// The fast path without a GPU: layouts by index arithmetic, budgets, and which calls it takes.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <utility>

#include "gpu/hopper/fast.h"
#include "gpu/hopper/forward_block.h"
#include "tests/gpu/matrix_unit.h"

namespace conelab::gpu::tests {
namespace {

using namespace hopper;

TEST(Swizzle, IsABijectionThatKeepsSixteenBytesTogether) {
  for (const int width : {64, 128}) {
    std::set<int> seen;
    for (int r = 0; r < key_tile; ++r) {
      for (int c = 0; c < width; ++c) {
        const int at = swizzled(key_tile, r, c);
        EXPECT_EQ(at - swizzled(key_tile, r, c / 8 * 8), c % 8 * 2);
        seen.insert(at);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(key_tile * width));
    EXPECT_EQ(*seen.rbegin(), tile_bytes(key_tile, width) - 2);
  }
}

TEST(Swizzle, SpreadsEightRowsOverAllBanks) {
  for (int chunk = 0; chunk < 8; ++chunk) {
    std::set<int> banks;
    for (int r = 0; r < 8; ++r) banks.insert(swizzled(64, r, 8 * chunk) % 128 / 16);
    EXPECT_EQ(banks.size(), 8u);
  }
}

TEST(Fragments, OfAccumulatorsCoverTheTileOnce) {
  std::set<std::pair<int, int>> seen;
  for (int t = 0; t < group_threads; ++t) {
    for (int i = 0; i < key_tile / 2; ++i) {
      seen.insert({accumulator_row(t, i), accumulator_column(t, i)});
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(group_rows * key_tile));
}

TEST(Fragments, OfWeightsAreTheAccumulatorsOfTheProductBefore) {
  for (int t = 0; t < group_threads; ++t) {
    for (int step = 0; step < key_tile / 16; ++step) {
      for (int r = 0; r < 4; ++r) {
        for (int half = 0; half < 2; ++half) {
          const int i = 8 * step + 2 * r + half;
          EXPECT_EQ(left_row(t, r), accumulator_row(t, i));
          EXPECT_EQ(16 * step + left_column(t, r, half), accumulator_column(t, i));
        }
      }
    }
  }
}

TEST(Descriptors, FindEveryElementOfBothOperands) {
  for (const int width : {64, 128}) {
    Image image(static_cast<std::size_t>(tile_bytes(key_tile, width)));
    const auto number = [&](int r, int c) { return static_cast<std::uint16_t>(r * width + c); };
    for (int r = 0; r < key_tile; ++r) {
      for (int c = 0; c < width; ++c) {
        const std::uint16_t bits = number(r, c);
        std::memcpy(image.data() + swizzled(key_tile, r, c), &bits, 2);
      }
    }
    for (int c = 0; c < width; ++c) {
      for (int r = 0; r < key_tile; ++r) {
        ASSERT_EQ(
            operand_element(image, depth_descriptor(0, key_tile, c / 16), Major::depth, r, c % 16),
            number(r, c));
        ASSERT_EQ(
            operand_element(image, outer_descriptor(0, key_tile, r / 16), Major::outer, c, r % 16),
            number(r, c));
      }
    }
  }
}

TEST(Budget, FitsForEveryKernelThatIsBuilt) {
  for (const auto& variant : hopper::variants) {
    for (const int width : {64, 128}) {
      const Budget budget{variant.consumers, width, 3, variant.stages};
      const int registers = producer_registers + variant.consumers * consumer_registers;
      EXPECT_LE(registers * group_threads, register_limit);
      EXPECT_LE(budget.total(), shared_limit);
      EXPECT_EQ(budget.query_bytes() % 1024, 0);
      EXPECT_EQ(budget.stage_bytes() % 1024, 0);
      EXPECT_EQ(budget.fact_bytes() % 16, 0);
    }
  }
}

TEST(FastWidth, LeavesOtherCallsToThePortablePath) {
  Problem<float> p;
  p.groups = 1;
  p.query.count = p.key.count = 5;
  p.base_size = p.base_stride = 64;
  p.width = 64;
  p.storage = Storage::bf16;
  EXPECT_EQ(fast_width(0, p), 64);
  p.width = 65;
  EXPECT_EQ(fast_width(0, p), 128);
  p.width = 129;
  EXPECT_EQ(fast_width(0, p), 0);
  p.width = 64;
  p.storage = Storage::f32;
  EXPECT_EQ(fast_width(0, p), 0);
  p.storage = Storage::f16;
  p.groups = 0;  // No block could be launched.
  EXPECT_EQ(fast_width(0, p), 0);
  p.groups = 1;
  p.sigmoid = true;
  EXPECT_EQ(fast_width(0, p), 0);
}

TEST(FastWidth, LeavesScalesThatAreNotPositiveToThePortablePath) {
  Problem<float> p;
  p.heads = 2;
  float scales[] = {0.5f, 0.25f};
  p.constants = scales;
  EXPECT_TRUE(fast_constants(0, p));
  for (const float scale : {0.0f, -0.5f}) {
    scales[1] = scale;
    EXPECT_FALSE(fast_constants(0, p)) << scale;
  }
}

}  // namespace
}  // namespace conelab::gpu::tests
