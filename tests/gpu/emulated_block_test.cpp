// That the emulated block forgives nothing: each mistake that a kernel could make with its
// barriers, turns and asynchronous products ends in a fault or in a wrong result.
#include "tests/gpu/emulated_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/similarity/dot.h"
#include "gpu/hopper/forward_block.h"
#include "gpu/hopper/numbers.h"

namespace conelab::gpu::tests {
namespace {

using namespace hopper;

enum class Mistake {
  none,
  lane_forgets_to_release,
  value_released_before_its_product_ended,
  keys_product_not_awaited,
  value_not_awaited,
  barrier_not_told_of_the_facts,
  turn_passed_twice,
  reads_not_ended
};
Mistake mistake = Mistake::none;

constexpr int width = 64;
constexpr int stages = 2;
using Block = ForwardBlock<Dot, Bf16, width, 2, stages, true>;

/// A warpgroup that makes the mistake.
class Mistaken : public EmulatedGroup<Block, Bf16> {
 public:
  using Base = EmulatedGroup<Block, Bf16>;
  using Base::Base;

  void wait(Gate gate, int stage, int parity) {
    const bool skip = mistake == Mistake::value_not_awaited && gate == Gate::value;
    if (!skip) Base::wait(gate, stage, parity);
  }
  void release(Gate gate, int stage) {
    if (mistake == Mistake::value_released_before_its_product_ended && gate == Gate::value_empty)
      return;
    if (mistake == Mistake::lane_forgets_to_release) return shared_.arrive(gate, stage, 3);
    Base::release(gate, stage);
  }
  void expect(Gate gate, int stage, int bytes) {
    const bool forget = mistake == Mistake::barrier_not_told_of_the_facts && gate == Gate::key;
    Base::expect(gate, stage, forget ? Block::budget.key_bytes() : bytes);
  }
  void start_second(int stage) {
    Base::start_second(stage);
    if (mistake == Mistake::value_released_before_its_product_ended)
      Base::release(Gate::value_empty, stage);
  }
  template <int pending>
  void finish() {
    if (mistake != Mistake::keys_product_not_awaited || pending == 0) Base::finish<pending>();
  }
  void end_reads() {
    if (mistake != Mistake::reads_not_ended) Base::end_reads();
  }
  void pass_turn() {
    Base::pass_turn();
    if (mistake == Mistake::turn_passed_twice) Base::pass_turn();
  }
};

/// One head of 128 queries and 900 keys that all see each other, all numbers 1 but the values,
/// which count the keys' tiles.
class EmulatedBlock : public testing::Test {
 protected:
  static constexpr int queries = 128, keys = 900;
  static constexpr int tiles = (keys + key_tile - 1) / key_tile;

  EmulatedBlock()
      : query_(tile_bytes(group_rows, width) * 2),
        key_(tile_bytes(key_tile, width) * tiles),
        value_(key_.size()),
        facts_(static_cast<std::size_t>(key_tile) * tiles),
        span_(queries, KeySpan{0, keys}),
        block_span_(2, BlockSpan{{0, keys}, {0, keys}}),
        output_(queries * width),
        maximum_(queries),
        sum_(queries) {
    fill(query_, [](std::size_t) { return 1.0f; });
    fill(key_, [](std::size_t) { return 1.0f; });
    fill(value_, [](std::size_t i) {
      return static_cast<float>(i / static_cast<std::size_t>(key_tile * width));
    });
  }
  void SetUp() override { mistake = Mistake::none; }
  void TearDown() override { mistake = Mistake::none; }

  /// Whether the block ends without a fault and every number is right.
  bool is_right(std::uint64_t seed) {
    Problem<float> p;
    p.groups = p.heads = 1;
    p.base_size = p.base_stride = p.width = width;
    p.storage = Storage::bf16;
    p.query = {nullptr, nullptr, zeros_.data(), queries};
    p.key = {nullptr, nullptr, nullptr, keys};
    p.constants = &scale_;
    p.span = span_.data();
    p.block_span = block_span_.data();
    const FastProblem fast{p, query_.data(), key_.data(), value_.data(), facts_.data()};
    std::fill(output_.begin(), output_.end(), std::nanf(""));
    const ForwardResult<float> result{output_.data(), maximum_.data(), sum_.data()};
    try {
      // What is right may be slow on a busy machine; what is wrong need not be waited for.
      run_block<Block, Mistaken>(0, fast, result, seed, mistake == Mistake::none ? 60 : 0.5);
    } catch (const BlockFault&) {
      return false;
    }
    float expected = 0;
    for (int k = 0; k < keys; ++k) expected += static_cast<float>(k / key_tile) / keys;
    return std::all_of(output_.begin(), output_.end(),
                       [&](float x) { return std::abs(x - expected) < 1e-3f; });
  }

 private:
  std::vector<unsigned char> query_, key_, value_;
  std::vector<float> facts_;
  std::vector<KeySpan> span_;
  std::vector<BlockSpan> block_span_;
  std::vector<float> output_, maximum_, sum_;
  std::vector<float> zeros_ = std::vector<float>(queries);
  float scale_ = 0.125f;

  template <class Number>
  static void fill(std::vector<unsigned char>& tiles_of, Number number) {
    for (std::size_t i = 0; i < tiles_of.size() / 2; ++i) {
      const std::uint16_t bits = to_bf16(static_cast<double>(number(i)));
      std::memcpy(tiles_of.data() + 2 * i, &bits, 2);
    }
  }
};

TEST_F(EmulatedBlock, RunsRightWithoutMistakes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_TRUE(is_right(seed)) << seed;
}

TEST_F(EmulatedBlock, ForgivesNoMistake) {
  for (const Mistake made :
       {Mistake::lane_forgets_to_release, Mistake::value_released_before_its_product_ended,
        Mistake::keys_product_not_awaited, Mistake::value_not_awaited,
        Mistake::barrier_not_told_of_the_facts, Mistake::turn_passed_twice,
        Mistake::reads_not_ended}) {
    mistake = made;
    // Threads meet the mistake in some orders alone; a slow machine takes long to come by one.
    bool noticed = false;
    for (std::uint64_t seed = 1; seed <= 100 && !noticed; ++seed) noticed = !is_right(seed);
    EXPECT_TRUE(noticed) << "mistake " << static_cast<int>(made);
  }
}

}  // namespace
}  // namespace conelab::gpu::tests
