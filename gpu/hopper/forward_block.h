// The flow of control of the fast forward kernel. The device and its emulation on the host share
// it: it says which warpgroup waits for which barrier, copies which tile, and releases which stage.
//
// One warpgroup, the producer, copies tiles into shared memory, up to `stages` tiles ahead. Each
// other warpgroup, a consumer, owns 64 queries and visits the tiles of 128 keys that any query of
// the block sees. The second product of a tile (weights times values) runs while the consumer
// computes the weights of the next tile (FlashAttention-3, sections 3.1 and 3.2); therefore keys
// and values are released separately. With `turns`, two consumers alternate in starting products,
// so that one computes weights while the other multiplies.
//
// A Machine is one thread on the device, or one warpgroup in the emulation. It has
//
//   wait(gate, stage, parity)   waits until the barrier's phase of this parity is complete
//   release(gate, stage)        arrives at the barrier of a stage that is no longer needed
//   expect(gate, stage, bytes)  announces that copies of so many bytes will arrive
//   copy(to, from, bytes, gate, stage)   starts a copy to byte `to` of shared memory
//   each(f)                     calls f(thread, tail) for every thread of the warpgroup
//   at(byte)                    returns the address of a byte of shared memory
//   end_reads()                 orders ordinary reads of shared memory before later copies into it
//   start_first(stage), start_second(stage)   starts a product, as one group of instructions
//   finish<n>()                 waits until all but the last n groups are complete
//   share_extremes(), share_sums()   combine these numbers among the four threads of a row
//   await_turn(), pass_turn()   wait for, and pass, the right to start products
#pragma once

#include "gpu/hopper/fast.h"
#include "gpu/hopper/forward_tail.h"
#include "gpu/hopper/ring.h"

namespace conelab::gpu::hopper {

template <class Similarity, class Type, int width, int consumers_, int stages_, bool turns,
          Law law = Law::softmax>
struct ForwardBlock {
  using S = Similarity;
  using Tail = ForwardTail<S, Type, width, law>;
  static constexpr int consumers = consumers_;
  static constexpr int stages = stages_;
  static constexpr Budget budget{consumers, width, S::values, stages, law};
  static constexpr int query_tile_bytes = tile_bytes(group_rows, width);
  static_assert(consumers == 2, "registers, turns and windows of biases are those of two");
  static_assert(budget.total() <= shared_limit);

  /// These return the byte at which each part of shared memory begins.
  CONELAB_TILE static constexpr int query_at(int consumer) { return consumer * query_tile_bytes; }
  CONELAB_TILE static constexpr int key_at(int stage) {
    return budget.query_bytes() + stage * budget.stage_bytes();
  }
  CONELAB_TILE static constexpr int value_at(int stage) {
    return key_at(stage) + budget.key_bytes();
  }
  CONELAB_TILE static constexpr int facts_at(int stage) {
    return key_at(stage) + 2 * budget.key_bytes();
  }
  CONELAB_TILE static constexpr int window_at(int stage) {
    return facts_at(stage) + budget.fact_bytes();
  }
  CONELAB_TILE static constexpr int barriers_at() { return key_at(stages); }

  /// The part of the problem that one block computes.
  struct Work {
    int group, query_tile;      ///< The first of the block's tiles of 64 queries.
    int first_tile, last_tile;  ///< The tiles of keys that it visits, [first, last).
  };

  /// Returns the number of blocks of the whole problem.
  CONELAB_TILE static int blocks(const Problem<float>& p) {
    return ceil_div(p.query.count, group_rows * consumers) * p.groups;
  }

  /// Returns the keys that a tile of queries sees; none for a tile beyond the last query.
  CONELAB_TILE static BlockSpan span_of(const Problem<float>& p, int group, int query_tile) {
    const int tiles = ceil_div(p.query.count, group_rows);
    if (query_tile >= tiles) return {{0, 0}, {0, 0}};
    return p.block_span[static_cast<std::int64_t>(group / p.heads) * tiles + query_tile];
  }

  /// Returns the work of block `block`. The latest queries come first, because under a causal mask
  /// they see the most keys.
  CONELAB_TILE static Work work_of(const Problem<float>& p, int block) {
    const int of_group = ceil_div(p.query.count, group_rows * consumers);
    const int place = of_group - 1 - block % of_group;
    Work work{block / of_group, place * consumers, 0, 0};
    int begin = p.key.count;
    int end = 0;
    for (int c = 0; c < consumers; ++c) {
      const KeySpan any = span_of(p, work.group, work.query_tile + c).any;
      if (any.begin >= any.end) continue;
      begin = any.begin < begin ? any.begin : begin;
      end = any.end > end ? any.end : end;
    }
    work.first_tile = begin / key_tile;
    work.last_tile = begin < end ? ceil_div(end, key_tile) : work.first_tile;
    return work;
  }

  /// Runs the producer: copies the queries, then every tile of keys and values.
  template <class Machine>
  CONELAB_TILE static void produce(Machine& m, const FastProblem& p, const Work& work) {
    copy_queries(m, p, work);
    const int tiles = ceil_div(p.call.key.count, key_tile);
    constexpr int bytes = budget.key_bytes();
    constexpr int facts = budget.fact_bytes();
    constexpr int window = budget.window_bytes();
    Ring<stages> ring;
    for (int t = work.first_tile; t < work.last_tile; ++t, ring.advance()) {
      const int s = ring.stage;
      const std::int64_t at = p.call.key.of(work.group) * tiles + t;
      m.wait(Gate::key_empty, s, ring.parity ^ 1);
      m.expect(Gate::key, s, bytes + facts + window);
      m.copy(key_at(s), p.key + at * bytes, bytes, Gate::key, s);
      m.copy(facts_at(s), p.facts + at * (facts / 4), facts, Gate::key, s);
      if constexpr (window > 0) {
        m.copy(window_at(s), p.bias + window_of(p.call, work, t), window, Gate::key, s);
      }
      m.wait(Gate::value_empty, s, ring.parity ^ 1);
      m.expect(Gate::value, s, bytes);
      m.copy(value_at(s), p.value + at * bytes, bytes, Gate::value, s);
    }
  }

  /// Runs one consumer: computes the rows of its 64 queries and writes them to `result`.
  template <class Machine>
  CONELAB_TILE static void consume(Machine& m, const FastProblem& p,
                                   const ForwardResult<float>& result, const Work& work,
                                   int consumer) {
    const int query_tile = work.query_tile + consumer;
    const int row = query_tile * group_rows;
    const BlockSpan span = span_of(p.call, work.group, query_tile);
    m.each([&](int thread, Tail& tail) { tail.start(thread, p.call, work.group, row); });
    m.wait(Gate::query, 0, 0);
    begin_turns(m, work, consumer);
    const std::int64_t first_row =
        static_cast<std::int64_t>(work.group / p.call.heads) * p.call.query.count + row;
    Place now{work.first_tile,         work.last_tile,           consumer,
              p.call.span + first_row, p.call.query.count - row, {}};
    while (now.tile < work.last_tile && now.end() <= span.any.begin) skip(m, now);
    if (now.tile < work.last_tile && now.begin() < span.any.end) attend(m, now, span);
    while (now.tile < work.last_tile) skip(m, now);
    m.share_sums();
    m.each([&](int thread, Tail& tail) { tail.write(thread, p.call, result, work.group, row); });
  }

 private:
  /// The tile that a consumer visits, and the stage of shared memory that holds it.
  struct Place {
    int tile, last_tile, consumer;
    const KeySpan* span;  ///< [rows] those of the consumer's rows.
    int rows;
    Ring<stages> ring;
    [[nodiscard]] CONELAB_TILE int begin() const { return tile * key_tile; }
    [[nodiscard]] CONELAB_TILE int end() const { return begin() + key_tile; }
    CONELAB_TILE void advance() {
      ++tile;
      ring.advance();
    }
  };

  template <class Machine>
  CONELAB_TILE static void copy_queries(Machine& m, const FastProblem& p, const Work& work) {
    const int tiles = ceil_div(p.call.query.count, group_rows);
    const int present = tiles - work.query_tile < consumers ? tiles - work.query_tile : consumers;
    m.expect(Gate::query, 0, present * query_tile_bytes);
    for (int c = 0; c < present; ++c) {
      const std::int64_t at = static_cast<std::int64_t>(work.group) * tiles + work.query_tile + c;
      m.copy(query_at(c), p.query + at * query_tile_bytes, query_tile_bytes, Gate::query, 0);
    }
  }

  /// Returns the first entry of the biases of the block and a tile of keys.
  CONELAB_TILE static std::int64_t window_of(const Problem<float>& p, const Work& work, int tile) {
    const std::int64_t entries = offset_entries(p.query.count, p.key.count);
    return work.group % p.heads * entries + offset_origin(p.query.count) + tile * key_tile -
           (work.query_tile * group_rows + block_rows);
  }

  /// Gives the first turn to consumer 0, unless there are no tiles: then no consumer would take it.
  template <class Machine>
  CONELAB_TILE static void begin_turns(Machine& m, const Work& work, int consumer) {
    if constexpr (turns) {
      if (consumer == 1 && work.first_tile < work.last_tile) m.pass_turn();
    }
  }
  template <class Machine>
  CONELAB_TILE static void await_turn(Machine& m) {
    if constexpr (turns) m.await_turn();
  }
  /// Passes the turn to the other consumer, except after the last tile of consumer 1, since the
  /// other consumer would not take it.
  template <class Machine>
  CONELAB_TILE static void pass_turn(Machine& m, const Place& now) {
    if constexpr (turns) {
      if (now.consumer == 0 || now.tile + 1 < now.last_tile) m.pass_turn();
    }
  }

  /// Releases a tile that only other consumers need.
  template <class Machine>
  CONELAB_TILE static void skip(Machine& m, Place& now) {
    const auto [stage, parity] = now.ring;
    m.wait(Gate::key, stage, parity);
    await_turn(m);
    pass_turn(m, now);
    m.release(Gate::key_empty, stage);
    m.wait(Gate::value, stage, parity);
    m.release(Gate::value_empty, stage);
    now.advance();
  }

  /// Visits all tiles that the consumer's queries see.
  template <class Machine>
  CONELAB_TILE static void attend(Machine& m, Place& now, const BlockSpan& span) {
    m.wait(Gate::key, now.ring.stage, now.ring.parity);
    await_turn(m);
    m.start_first(now.ring.stage);
    pass_turn(m, now);
    m.template finish<0>();
    weigh(m, now, span);
    m.each([](int, Tail& tail) { tail.pack(); });
    Ring<stages> before = now.ring;
    for (now.advance(); now.tile < now.last_tile && now.begin() < span.any.end; now.advance()) {
      m.wait(Gate::key, now.ring.stage, now.ring.parity);
      m.wait(Gate::value, before.stage, before.parity);
      await_turn(m);
      m.start_first(now.ring.stage);
      m.start_second(before.stage);
      pass_turn(m, now);
      m.template finish<1>();
      weigh(m, now, span);
      m.template finish<0>();
      m.release(Gate::value_empty, before.stage);
      m.each([](int, Tail& tail) {
        tail.rescale();
        tail.pack();
      });
      before = now.ring;
    }
    m.wait(Gate::value, before.stage, before.parity);
    m.start_second(before.stage);
    m.template finish<0>();
    m.release(Gate::value_empty, before.stage);
  }

  /// Computes weights from the products of a tile and releases its keys.
  template <class Machine>
  CONELAB_TILE static void weigh(Machine& m, const Place& now, const BlockSpan& span) {
    const bool whole = span.all.begin <= now.begin() && now.end() <= span.all.end;
    const int stage = now.ring.stage;
    m.each([&](int thread, Tail& tail) {
      tail.score(thread, {m.at(query_at(now.consumer)), m.at(key_at(stage)),
                          reinterpret_cast<const float*>(m.at(facts_at(stage))), now.begin(), whole,
                          now.span, now.rows,
                          reinterpret_cast<const float*>(m.at(window_at(stage))) + block_rows -
                              now.consumer * group_rows});
    });
    m.end_reads();
    m.release(Gate::key_empty, stage);
    if constexpr (Tail::refers) m.share_extremes();
    m.each([](int, Tail& tail) { tail.weigh(); });
  }
};

}  // namespace conelab::gpu::hopper
