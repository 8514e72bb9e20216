// A warpgroup of the backward kernel on the host: the Machine of gradient_block.h, to be run by
// run_block of emulated_block.h.
#pragma once

#include <atomic>
#include <cmath>

#include "gpu/hopper/gradient_block.h"
#include "tests/gpu/emulated_block.h"

namespace conelab::gpu::tests {

template <class Block>
class EmulatedGradientGroup : public EmulatedMachine<Block> {
 public:
  using Base = EmulatedMachine<Block>;
  using Tail = typename Block::Tail;
  using Type = typename Block::Type;
  using Base::Base;
  static constexpr int width = Block::width;

  void release(hopper::Gate gate, int stage) {
    this->hand_back(gate, stage, Block::other_at(stage));
  }

  void start_products(int stage, int part) {
    this->begin(Block::other_at(stage), 2 * Block::bytes, [this, stage, part] {
      product(Block::own_at(this->consumer_), Block::other_at(stage), part,
              [this](int t, int i) -> float& { return this->tail(t).tile[i]; });
      product(Block::own_value_at(this->consumer_), Block::other_value_at(stage), part,
              [this](int t, int i) -> float& { return this->tail(t).slope[i]; });
    });
  }
  void start_sums(int stage, int part) {
    this->begin(Block::other_at(stage), 2 * Block::bytes, [this, stage, part] {
      add([](const Tail& tail) { return tail.by_measure; }, Block::other_at(stage), part,
          [this](int t, int i) -> float& { return this->tail(t).base[i]; });
      if constexpr (Block::owner == Owner::key) {
        add([](const Tail& tail) { return tail.weight; }, Block::other_value_at(stage), part,
            [this](int t, int i) -> float& { return this->tail(t).value[i]; });
      }
    });
  }
  void finish() { this->end_products(0); }

  /// Returns numbers that one thread writes and another reads. Between uses in different calls of
  /// `each`, or inside one and outside, the threads must meet; uses outside are for writes, of
  /// which each thread has its own places.
  float* numbers(int byte) {
    const bool both_outside = time_ % 2 == 1 && unmet_ % 2 == 1;
    if (unmet_ != 0 && unmet_ != time_ && !both_outside) {
      throw BlockFault("numbers of threads that have not met");
    }
    unmet_ = time_;
    return this->shared_.numbers(byte);
  }
  void meet_group() { unmet_ = 0; }
  template <class Work>
  void each(const Work& work) {
    ++time_;
    Base::each(work);
    ++time_;
  }
  void add(long long* to, long long more) { std::atomic_ref(*to).fetch_add(more); }
  void set_nan(double* to) { std::atomic_ref(*to).store(std::nan("")); }

  template <class Work>
  void write(const hopper::FastGradient& g, const GradientResult<float>& result, const Work& work,
             int consumer) {
    const int own_tile = work.own_tile + consumer;
    for (int t = 0; t < hopper::group_threads; ++t) {
      for (int h = 0; h < 2; ++h) write_row(g.call, result, work.group, own_tile, t, h);
    }
    if constexpr (Block::owner == Owner::query) {
      const int tiles = ceil_div(g.call.query.count, hopper::group_rows);
      for (int n = 0; n < Block::S::constants; ++n) {
        double sum = 0;
        for (const Tail& tail : this->tails_) sum += tail.sums[n];
        result.sums[(work.group * tiles + own_tile) * Block::S::constants + n] = sum;
      }
    }
  }

 private:
  int time_ = 1;   ///< Grows when `each` begins and when it ends: inside, it is even.
  int unmet_ = 0;  ///< The time at which numbers were used since the threads met; 0: at none.

  template <class Sum>
  void product(int own, int other, int part, Sum sum) {
    using namespace hopper;
    const auto left =
        shared_operand<Type>(this->shared_.at(own), Major::depth, group_rows, width,
                             [](int s) { return depth_descriptor(0, group_rows, s); });
    const auto begin = static_cast<std::uint32_t>(part * Tail::columns * line_bytes);
    const auto right =
        shared_operand<Type>(this->shared_.at(other), Major::depth, Tail::columns, width,
                             [begin](int s) { return depth_descriptor(begin, group_rows, s); });
    multiply(left, right, Tail::columns, width, false, sum);
  }
  template <class Registers, class Sum>
  void add(Registers registers, int other, int part, Sum sum) {
    using namespace hopper;
    const auto left = left_operand<Type>(this->tails_, Tail::steps, registers);
    const auto right = shared_operand<Type>(
        this->shared_.at(other), Major::outer, width, Tail::columns,
        [part](int s) { return outer_descriptor(0, group_rows, part * Tail::steps + s); });
    multiply(left, right, width, Tail::columns, true, sum);
  }

  /// Writes row h of a thread, and its quad's part of the row's numbers.
  void write_row(const Problem<float>& p, const GradientResult<float>& result, int group,
                 int own_tile, int t, int h) {
    constexpr bool query = Block::owner == Owner::query;
    const int count = query ? p.query.count : p.key.count;
    const int row = hopper::accumulator_row(t, 2 * h);
    const int r = own_tile * hopper::group_rows + row;
    if (r >= count) return;
    const int token = group * count + r;
    float margin = 0;
    float potential = 0;
    for (int i = t / 4 * 4; i < t / 4 * 4 + 4; ++i) {
      margin += this->tail(i).margin[h];
      potential += this->tail(i).potential[h];
    }
    (query ? result.query_potential : result.key_potential)[token] = potential;
    float* base = (query ? result.query_base : result.key_base) + token * p.base_size;
    for (int e = 0; e < width / 4; ++e) {
      const int i = hopper::accumulator(h, e);
      const int column = hopper::accumulator_column(t, i);
      if (column < p.base_size) base[column] = base_gradient(row, column, margin, t, i);
      if constexpr (!query) {
        if (column < p.width) result.value[token * p.width + column] = this->tail(t).value[i];
      }
    }
  }
  float base_gradient(int row, int column, float margin, int t, int i) {
    const float sum = this->tail(t).base[i];
    if (Block::S::info.measure == Measure::product) return sum;
    const auto descriptor = hopper::depth_descriptor(0, hopper::group_rows, column / 16);
    const float x = Type::widen(operand_element(this->shared_.at(Block::own_at(this->consumer_)),
                                                descriptor, Major::depth, row, column % 16));
    return 2 * (x * margin - sum);
  }
};

}  // namespace conelab::gpu::tests
