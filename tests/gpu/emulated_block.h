// A thread block of the fast path on the host: a thread of the host for every warpgroup and one for
// the copy engine, barriers and asynchronous products as the documents describe them.
//
// What the hardware would not forgive fails here: a wait that never ends, bytes that a barrier was
// not told of, a copy into a part of shared memory that a product under way still reads, misaligned
// copies, a turn passed twice. Whether products happen when they begin or only when somebody waits
// for them, and how late copies come, is drawn by chance: a race shows as a wrong result.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gpu/hopper/fast.h"
#include "gpu/hopper/ring.h"
#include "tests/gpu/matrix_unit.h"

namespace conelab::gpu::tests {

/// What a warpgroup that waits too long, or does what it must not, throws.
struct BlockFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <int stages>
class EmulatedShared {
 public:
  /// A wait of more than `patience` seconds is one without end.
  EmulatedShared(int bytes, int consumers, std::uint64_t seed, double patience = 60)
      : patience_(patience),
        bytes_(static_cast<std::size_t>(bytes), 0xff),
        readers_(static_cast<std::size_t>(bytes) / line),
        chance_(seed) {
    for (int gate = 0; gate < gates; ++gate) {
      for (int s = 0; s < stages; ++s) {
        Barrier& b = barriers_[gate][s];
        b.arrivals = b.pending = hopper::arrivals(static_cast<hopper::Gate>(gate), consumers);
      }
    }
    engine_ = std::thread([this] { copy_all(); });
  }
  ~EmulatedShared() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    engine_.join();
  }
  EmulatedShared(const EmulatedShared&) = delete;
  EmulatedShared& operator=(const EmulatedShared&) = delete;

  [[nodiscard]] const unsigned char* at(int byte) const { return bytes_.data() + byte; }
  [[nodiscard]] float* numbers(int byte) { return reinterpret_cast<float*>(bytes_.data() + byte); }
  [[nodiscard]] bool toss() {
    const std::lock_guard lock(mutex_);
    return chance_() % 2 == 0;
  }

  /// Waits until the phase of this parity has completed.
  void wait(hopper::Gate gate, int stage, int parity) {
    Barrier& b = barrier(gate, stage);
    wait_for([&] { return (b.phase & 1) != parity; }, "a barrier");
  }
  void arrive(hopper::Gate gate, int stage, int count, int bytes = 0) {
    const std::lock_guard lock(mutex_);
    Barrier& b = barrier(gate, stage);
    b.bytes += bytes;
    b.pending -= count;
    if (b.pending < 0) throw BlockFault("more arrivals than a barrier was made for");
    complete(b);
  }
  void copy(int to, const void* from, int bytes, hopper::Gate gate, int stage) {
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    if (to % 16 != 0 || address % 16 != 0 || bytes % 16 != 0 || bytes <= 0) {
      throw BlockFault("a bulk copy that is not in units of 16 bytes");
    }
    if (to + bytes > static_cast<int>(bytes_.size())) throw BlockFault("a copy beyond the end");
    {
      const std::lock_guard lock(mutex_);
      copies_.push_back({to, bytes, from, &barrier(gate, stage)});
    }
    changed_.notify_all();
  }

  /// A product under way reads these bytes.
  void reads(int from, int bytes, int more) {
    const std::lock_guard lock(mutex_);
    for (int i = from / line; i < (from + bytes) / line; ++i) {
      readers_[static_cast<std::size_t>(i)] += more;
    }
  }

  /// One of two consumers takes or passes the turn: bar.sync and bar.arrive of one barrier.
  void await_turn(int consumer) {
    wait_for([&] { return turn_[consumer] > 0; }, "its turn");
    const std::lock_guard lock(mutex_);
    --turn_[consumer];
  }
  void pass_turn(int to) {
    const std::lock_guard lock(mutex_);
    if (++turn_[to] > 1) throw BlockFault("a turn passed twice");
    changed_.notify_all();
  }
  [[nodiscard]] int turns_left() const { return turn_[0] + turn_[1]; }

  /// Ends every wait with a fault.
  void abandon() {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
  }

 private:
  static constexpr int line = 128;
  static constexpr int gates = 5;
  struct Barrier {
    int arrivals = 0, pending = 0;
    std::int64_t bytes = 0;
    std::int64_t phase = 0;
  };
  struct Copy {
    int to, bytes;
    const void* from;
    Barrier* barrier;
  };

  std::chrono::duration<double> patience_;
  std::vector<unsigned char> bytes_;
  std::vector<int> readers_;  ///< [line of shared memory]
  std::minstd_rand chance_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Barrier barriers_[gates][stages];
  int turn_[2] = {0, 0};
  std::deque<Copy> copies_;
  bool ended_ = false, abandoned_ = false;
  std::string engine_fault_;
  std::thread engine_;

  Barrier& barrier(hopper::Gate gate, int stage) {
    return barriers_[static_cast<int>(gate)][stage];
  }
  void complete(Barrier& b) {
    if (b.pending != 0 || b.bytes != 0) return;
    ++b.phase;
    b.pending = b.arrivals;
    changed_.notify_all();
  }

  template <class Ready>
  void wait_for(const Ready& ready, const char* what) {
    std::unique_lock lock(mutex_);
    const bool in_time = changed_.wait_for(
        lock, patience_, [&] { return ready() || abandoned_ || !engine_fault_.empty(); });
    if (!engine_fault_.empty()) throw BlockFault(engine_fault_);
    if (!in_time || !ready()) throw BlockFault(std::string("a wait without end for ") + what);
  }

  /// Copies come in any order.
  void copy_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ended_ || !copies_.empty(); });
      if (copies_.empty()) return;
      const auto chosen = copies_.begin() + static_cast<std::ptrdiff_t>(chance_() % copies_.size());
      const Copy c = *chosen;
      copies_.erase(chosen);
      for (int i = c.to / line; i < (c.to + c.bytes) / line; ++i) {
        if (readers_[static_cast<std::size_t>(i)] != 0) engine_fault_ = "a copy over a product";
      }
      std::memcpy(bytes_.data() + c.to, c.from, static_cast<std::size_t>(c.bytes));
      c.barrier->bytes -= c.bytes;
      complete(*c.barrier);
      changed_.notify_all();
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }
};

/// Rows × 16 s numbers of a left operand, as its threads hold them in registers.
template <class Type, class Tails, class Registers>
std::vector<float> left_operand(const Tails& tails, int steps, Registers registers) {
  std::vector<float> left(static_cast<std::size_t>(hopper::group_rows * 16 * steps));
  for (int t = 0; t < hopper::group_threads; ++t) {
    const std::uint32_t* packed = registers(tails[static_cast<std::size_t>(t)]);
    for (int n = 0; n < 8 * steps; ++n) {
      const int column = n / 8 * 16 + hopper::left_column(t, n / 2 % 4, n % 2);
      const int row = hopper::left_row(t, n / 2 % 4);
      left[static_cast<std::size_t>(row * 16 * steps + column)] =
          Type::widen(static_cast<std::uint16_t>(packed[n / 2] >> (n % 2 * 16)));
    }
  }
  return left;
}

/// [outer × depth] numbers behind the descriptors of an operand in shared memory; `image` begins at
/// a 1024-byte aligned place.
template <class Type, class Descriptor>
std::vector<float> shared_operand(const unsigned char* image, Major major, int outer, int depth,
                                  Descriptor descriptor) {
  std::vector<float> numbers(static_cast<std::size_t>(outer * depth));
  for (int o = 0; o < outer; ++o) {
    for (int d = 0; d < depth; ++d) {
      numbers[static_cast<std::size_t>(o * depth + d)] =
          Type::widen(operand_element(image, descriptor(d / 16), major, o, d % 16));
    }
  }
  return numbers;
}

/// sums(thread, i) (+)= left [64 × depth] right [outer × depth]^T
template <class Sum>
void multiply(const std::vector<float>& left, const std::vector<float>& right, int outer, int depth,
              bool add, Sum sum) {
  for (int t = 0; t < hopper::group_threads; ++t) {
    for (int i = 0; i < outer / 2; ++i) {
      const float* a = left.data() + hopper::accumulator_row(t, i) * depth;
      const float* b = right.data() + hopper::accumulator_column(t, i) * depth;
      float total = add ? sum(t, i) : 0.0f;
      for (int d = 0; d < depth; ++d) total += a[d] * b[d];
      sum(t, i) = total;
    }
  }
}

/// What the warpgroups of both kernels have in common: `Tail` is what a thread holds.
template <class Block>
class EmulatedMachine {
 public:
  using Tail = typename Block::Tail;
  using Shared = EmulatedShared<Block::stages>;

  EmulatedMachine(Shared& shared, int consumer)
      : shared_(shared), consumer_(consumer), tails_(hopper::group_threads) {}

  /// Returns the address for ordinary reads, whose end the copy engine must be told.
  [[nodiscard]] const unsigned char* at(int byte) {
    reading_ = true;
    return shared_.at(byte);
  }
  void end_reads() { reading_ = false; }
  void wait(hopper::Gate gate, int stage, int parity) { shared_.wait(gate, stage, parity); }
  void expect(hopper::Gate gate, int stage, int bytes) { shared_.arrive(gate, stage, 1, bytes); }
  void copy(int to, const void* from, int bytes, hopper::Gate gate, int stage) {
    shared_.copy(to, from, bytes, gate, stage);
  }
  template <class Work>
  void each(const Work& work) {
    for (int t = 0; t < hopper::group_threads; ++t) work(t, tail(t));
  }

 protected:
  Shared& shared_;
  int consumer_;
  std::vector<Tail> tails_;

  Tail& tail(int t) { return tails_[static_cast<std::size_t>(t)]; }

  /// One lane of each of the four warps arrives; `part` is what it hands back.
  void hand_back(hopper::Gate gate, int stage, int part) {
    if (reading_ && gate == hopper::Gate::key_empty) {
      throw BlockFault("reads that are not over in what is handed back");
    }
    for (const Product& product : products_) {
      if (product.from == part) throw BlockFault("a product still reads what is handed back");
    }
    shared_.arrive(gate, stage, 4);
  }

  /// Starts a product. It is computed now or when somebody waits for it, as the hardware may do
  /// either.
  void begin(int from, int bytes, const std::function<void()>& product) {
    shared_.reads(from, bytes, 1);
    const bool now = products_.empty() && shared_.toss();
    if (now) product();
    const auto end = [this, from, bytes, now, product] {
      if (!now) product();
      shared_.reads(from, bytes, -1);
    };
    products_.push_back({from, end});
  }

  /// Completes all products but the `pending` last.
  void end_products(int pending) {
    while (static_cast<int>(products_.size()) > pending) {
      products_.front().end();
      products_.pop_front();
    }
  }

 private:
  /// A product under way: the part of shared memory that it reads, and how it ends.
  struct Product {
    int from;
    std::function<void()> end;
  };

  bool reading_ = false;
  std::deque<Product> products_;
};

/// The Machine of forward_block.h: one warpgroup.
template <class Block, class Type>
class EmulatedGroup : public EmulatedMachine<Block> {
 public:
  using Base = EmulatedMachine<Block>;
  using Tail = typename Block::Tail;
  using Base::Base;
  static constexpr int width = Block::budget.width;

  void release(hopper::Gate gate, int stage) {
    const bool keys = gate == hopper::Gate::key_empty;
    this->hand_back(gate, stage, keys ? Block::key_at(stage) : Block::value_at(stage));
  }

  void start_first(int stage) {
    const int query = Block::query_at(this->consumer_);
    const int key = Block::key_at(stage);
    this->begin(key, Block::budget.key_bytes(), [this, query, key] {
      using namespace hopper;
      const auto q = shared_operand<Type>(this->shared_.at(query), Major::depth, group_rows, width,
                                          [](int s) { return depth_descriptor(0, group_rows, s); });
      const auto k = shared_operand<Type>(this->shared_.at(key), Major::depth, key_tile, width,
                                          [](int s) { return depth_descriptor(0, key_tile, s); });
      multiply(q, k, key_tile, width, false,
               [this](int t, int i) -> float& { return this->tail(t).tile[i]; });
    });
  }
  void start_second(int stage) {
    const int value = Block::value_at(stage);
    this->begin(value, Block::budget.key_bytes(), [this, value] {
      using namespace hopper;
      const auto left =
          left_operand<Type>(this->tails_, Tail::steps, [](const Tail& tail) { return tail.left; });
      const auto v = shared_operand<Type>(this->shared_.at(value), Major::outer, width, key_tile,
                                          [](int s) { return outer_descriptor(0, key_tile, s); });
      multiply(left, v, width, key_tile, true,
               [this](int t, int i) -> float& { return this->tail(t).output[i]; });
    });
  }
  template <int pending>
  void finish() {
    this->end_products(pending);
  }

  void share_extremes() {
    share([](Tail& tail) { return tail.extreme; }, Tail::farther);
  }
  void share_sums() {
    share([](Tail& tail) { return tail.sum; }, [](float a, float b) { return a + b; });
  }
  void await_turn() { this->shared_.await_turn(this->consumer_); }
  void pass_turn() { this->shared_.pass_turn(1 - this->consumer_); }

 private:
  template <class Numbers, class Operation>
  void share(Numbers numbers, Operation operation) {
    for (int t = 0; t < hopper::group_threads; t += 4) {
      for (int h = 0; h < 2; ++h) {
        float all = numbers(this->tail(t))[h];
        for (int i = 1; i < 4; ++i) all = operation(all, numbers(this->tail(t + i))[h]);
        for (int i = 0; i < 4; ++i) numbers(this->tail(t + i))[h] = all;
      }
    }
  }
};

/// Runs one block; throws the first fault of any of its warpgroups.
template <class Block, class Group, class Operands, class Result>
void run_block(int block, const Operands& p, const Result& result, std::uint64_t seed,
               double patience = 60) {
  EmulatedShared<Block::stages> shared(Block::barriers_at(), Block::consumers, seed, patience);
  const auto work = Block::work_of(p.call, block);
  std::string fault;
  std::mutex mutex;
  const auto guarded = [&](const auto& role) {
    try {
      role();
    } catch (const BlockFault& f) {
      const std::lock_guard lock(mutex);
      if (fault.empty()) fault = f.what();
      shared.abandon();
    }
  };
  std::vector<std::thread> threads;
  for (int c = 0; c < Block::consumers; ++c) {
    threads.emplace_back([&, c] {
      guarded([&] {
        Group group(shared, c);
        Block::consume(group, p, result, work, c);
      });
    });
  }
  guarded([&] {
    Group producer(shared, 0);
    Block::produce(producer, p, work);
  });
  for (std::thread& t : threads) t.join();
  if (fault.empty() && shared.turns_left() != 0) fault = "a turn that nobody takes";
  if (!fault.empty()) throw BlockFault(fault);
}

}  // namespace conelab::gpu::tests
