// That the emulated backward block forgives nothing either.
#include "tests/gpu/emulated_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/similarity/laplacian.h"
#include "gpu/hopper/numbers.h"

namespace conelab::gpu::tests {
namespace {

using namespace hopper;

enum class Mistake {
  none,
  lane_forgets_to_release,
  handed_back_before_its_sums_ended,
  products_not_awaited,
  copy_not_awaited,
  barrier_not_told_of_the_facts,
  reads_not_ended,
  skipped_tile_not_handed_back
};
Mistake mistake = Mistake::none;

// Keys 128 numbers wide: tiles in two parts.
using Block = GradientBlock<Laplacian, Bf16, 128, Owner::key>;

/// A warpgroup that makes the mistake.
class Mistaken : public EmulatedGradientGroup<Block> {
 public:
  using Base = EmulatedGradientGroup<Block>;
  using Base::Base;

  void wait(Gate gate, int stage, int parity) {
    if (mistake != Mistake::copy_not_awaited || gate != Gate::key) Base::wait(gate, stage, parity);
  }
  void release(Gate gate, int stage) {
    if (mistake == Mistake::handed_back_before_its_sums_ended) return;
    if (mistake == Mistake::lane_forgets_to_release) return shared_.arrive(gate, stage, 3);
    if (mistake == Mistake::skipped_tile_not_handed_back && consumer_ == 1 && !met_) return;
    met_ = false;
    Base::release(gate, stage);
  }
  void expect(Gate gate, int stage, int bytes) {
    const bool forget = mistake == Mistake::barrier_not_told_of_the_facts && gate == Gate::key;
    Base::expect(gate, stage, forget ? 2 * Block::bytes : bytes);
  }
  void start_sums(int stage, int part) {
    Base::start_sums(stage, part);
    met_ = true;
    if (mistake == Mistake::handed_back_before_its_sums_ended && part == 1)
      Base::release(Gate::key_empty, stage);
  }
  void finish() {
    if (mistake != Mistake::products_not_awaited) Base::finish();
  }
  void end_reads() {
    if (mistake != Mistake::reads_not_ended) Base::end_reads();
  }

 private:
  bool met_ = false;
};

/// One head of 384 queries and 128 keys under a causal mask, all numbers drawn from few: the second
/// consumer's keys are not seen by the first queries.
class EmulatedGradient : public testing::Test {
 protected:
  static constexpr int queries = 384, keys = 128, width = 128;
  static constexpr int query_tiles = queries / group_rows, key_tiles = keys / group_rows;

  EmulatedGradient()
      : query_(numbers(queries * width)),
        key_(numbers(keys * width)),
        query_facts_(facts(query_tiles)),
        key_facts_(facts(key_tiles)) {
    for (int i = 0; i < queries; ++i) span_.push_back({0, std::min(i + 1, keys)});
    for (int b = 0; b < query_tiles; ++b) {
      const int first = b * group_rows + 1;
      block_span_.push_back(
          {{0, std::min(first + group_rows - 1, keys)}, {0, std::min(first, keys)}});
    }
  }
  void SetUp() override { mistake = Mistake::none; }
  void TearDown() override { mistake = Mistake::none; }

  /// Empty after a fault.
  std::vector<float> run(std::uint64_t seed) {
    Problem<float> p;
    p.groups = p.heads = 1;
    p.base_size = p.base_stride = p.width = width;
    p.storage = Storage::bf16;
    p.query.count = queries;
    p.key.count = keys;
    p.constants = &rate_;
    p.span = span_.data();
    p.block_span = block_span_.data();
    const auto* query = reinterpret_cast<const unsigned char*>(query_.data());
    const auto* key = reinterpret_cast<const unsigned char*>(key_.data());
    const FastGradient g{p, query, key, key, query, query_facts_.data(), key_facts_.data()};
    std::vector<float> found(keys * (2 * width + 1), std::nanf(""));
    const GradientResult<float> result{
        nullptr, nullptr, found.data(), &found[2 * keys * width], &found[keys * width], nullptr};
    try {
      // What is right may be slow on a busy machine; what is wrong need not be waited for.
      run_block<Block, Mistaken>(0, g, result, seed, mistake == Mistake::none ? 60 : 0.5);
    } catch (const BlockFault&) {
      found.clear();
    }
    return found;
  }

 private:
  std::vector<std::uint16_t> query_, key_;
  std::vector<float> query_facts_, key_facts_;
  std::vector<KeySpan> span_;
  std::vector<BlockSpan> block_span_;
  float rate_ = 0.1f;

  static std::vector<std::uint16_t> numbers(int count) {
    static std::minstd_rand chance(7);
    std::vector<std::uint16_t> all;
    for (int i = 0; i < count; ++i) all.push_back(to_bf16(static_cast<double>(chance() % 5) - 2));
    return all;
  }
  /// Offsets far from every product, so that no pair is close; the rest is small.
  static std::vector<float> facts(int tiles) {
    constexpr int rows = Laplacian::values + 3;
    std::vector<float> all(static_cast<std::size_t>(tiles * rows * group_rows), 0.25f);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i / group_rows % rows == 0) all[i] = 2000;
    }
    return all;
  }
};

TEST_F(EmulatedGradient, GivesTheSameBitsWhateverTheOrder) {
  const std::vector<float> first = run(1);
  ASSERT_FALSE(first.empty());
  for (const float x : first) ASSERT_TRUE(std::isfinite(x));
  for (std::uint64_t seed = 2; seed <= 4; ++seed) EXPECT_EQ(run(seed), first) << seed;
}

TEST_F(EmulatedGradient, ForgivesNoMistake) {
  const std::vector<float> right = run(1);
  for (const Mistake made :
       {Mistake::lane_forgets_to_release, Mistake::handed_back_before_its_sums_ended,
        Mistake::products_not_awaited, Mistake::copy_not_awaited,
        Mistake::barrier_not_told_of_the_facts, Mistake::reads_not_ended,
        Mistake::skipped_tile_not_handed_back}) {
    mistake = made;
    // Threads meet the mistake in some orders alone; a slow machine takes long to come by one.
    bool noticed = false;
    for (std::uint64_t seed = 1; seed <= 100 && !noticed; ++seed) noticed = run(seed) != right;
    EXPECT_TRUE(noticed) << "mistake " << static_cast<int>(made);
  }
}

TEST(EmulatedThreads, MustMeetBetweenUsesOfSharedNumbers) {
  using Biased = GradientBlock<Laplacian, Bf16, 64, Owner::query, Law::biased>;
  EmulatedShared<Biased::stages> shared(Biased::barriers_at(), Biased::consumers, 1);
  EmulatedGradientGroup<Biased> group(shared, 0);
  const auto use = [&](int, auto&) { (void)group.numbers(0); };
  group.each(use);
  EXPECT_THROW(group.each(use), BlockFault);
  EXPECT_THROW((void)group.numbers(0), BlockFault);
  group.meet_group();
  EXPECT_NO_THROW((void)group.numbers(0));
  EXPECT_THROW(group.each(use), BlockFault);
}

}  // namespace
}  // namespace conelab::gpu::tests
