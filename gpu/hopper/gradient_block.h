// The flow of control of the fast backward kernel, which runs once for the queries and once for the
// keys. The device and its emulation on the host share it, as in forward_block.h.
//
// One warpgroup, the producer, copies the other side's tiles of 64 tokens into shared memory, up to
// `stages` tiles ahead. Each of two consumers owns 64 tokens and visits the tiles in which any of
// its pairs is seen, in parts (gradient_tail.h). The sums of one part are still being added up when
// the products of the next begin, also across tiles: a consumer waits once for each part, and
// releases a tile only then. Unlike in the forward kernel, products do not overlap the formulas of
// the part before, because the second set of products would take 64 registers, which keys of 128
// numbers do not leave. Consumers do not take turns either: a cone's formulas last longer than the
// other consumer's products.
//
// A Machine is one thread on the device, or one warpgroup in the emulation. It has
//   wait, release, expect, copy, each, at, end_reads      as in forward_block.h
//   start_products(stage, part), start_sums(stage, part)  starts products, as one group each
//   finish()                                              waits until all groups are complete
//   write(g, result, work, consumer)                      writes gradients of the consumer's tokens
//   numbers(byte)                                         floats in shared memory, to be written
//   meet_group()                                          waits for the consumer's other threads
//   add(to, integer)                                      adds to a number in device memory
//   set_nan(to)                                           sets a number in device memory to NaN
#pragma once

#include "gpu/hopper/fast.h"
#include "gpu/hopper/gradient_tail.h"
#include "gpu/hopper/ring.h"

namespace conelab::gpu::hopper {

/// How many pairs of a tile are seen.
enum class Seen { none, partial, all };

template <class Similarity, class Number, int width_, Owner owner_, Law law_ = Law::softmax>
struct GradientBlock {
  using S = Similarity;
  using Type = Number;
  static constexpr int width = width_;
  static constexpr Owner owner = owner_;
  static constexpr Law law = law_;
  using Tail = GradientTail<S, Type, width, owner, law>;
  static constexpr int consumers = 2;
  static constexpr int stages = 2;
  static constexpr int threads = group_threads * (consumers + 1);
  static constexpr int bytes = tile_bytes(group_rows, width);
  static constexpr int fact_bytes = (S::values + 3) * group_rows * 4;
  static constexpr int window_bytes = window_entries(law, group_rows) * 4;
  static constexpr int stage_bytes = 2 * bytes + (fact_bytes + window_bytes + 1023) / 1024 * 1024;
  static constexpr int diagonal_bytes = (Tail::diagonal_numbers * 4 + 1023) / 1024 * 1024;

  /// The gates of the own tiles, and of a stage with a tile of the other side and its facts.
  static constexpr Gate own_gate = Gate::query, other_gate = Gate::key,
                        other_empty = Gate::key_empty;

  /// These return the byte at which each part of shared memory begins.
  CONELAB_TILE static constexpr int own_at(int consumer) { return consumer * 2 * bytes; }
  CONELAB_TILE static constexpr int own_value_at(int consumer) { return own_at(consumer) + bytes; }
  CONELAB_TILE static constexpr int other_at(int stage) {
    return own_at(consumers) + stage * stage_bytes;
  }
  CONELAB_TILE static constexpr int other_value_at(int stage) { return other_at(stage) + bytes; }
  CONELAB_TILE static constexpr int facts_at(int stage) { return other_at(stage) + 2 * bytes; }
  CONELAB_TILE static constexpr int window_at(int stage) { return facts_at(stage) + fact_bytes; }
  CONELAB_TILE static constexpr int diagonals_at(int consumer) {
    return other_at(stages) + consumer * diagonal_bytes;
  }
  CONELAB_TILE static constexpr int barriers_at() { return diagonals_at(consumers); }
  /// Returns where the sums [4] of a parameter's gradient begin, one for each warp of a consumer.
  CONELAB_TILE static constexpr int sums_at(int consumer) {
    return barriers_at() + 512 + consumer * 4 * 8;
  }

  /// Bytes of all shared memory, with 1024 for the alignment of its start.
  static constexpr int total = 1024 + barriers_at() + 1024;
  static_assert(total <= shared_limit);
  static_assert(fact_bytes % 16 == 0);
  static_assert(sizeof(Barriers<stages>) <= 512);

  /// The operands of the side that the block owns and of the other side.
  struct Sides {
    const unsigned char *own, *own_value, *other, *other_value;
    const float* facts;
    int own_count;
    int own_share, other_share;  ///< Side::share
  };
  CONELAB_TILE static Sides sides_of(const FastGradient& g) {
    const int share = g.call.key.share;
    if constexpr (owner == Owner::query) {
      return {g.query, g.output_grad, g.key, g.value, g.key_facts, g.call.query.count, 1, share};
    } else {
      return {g.key, g.value, g.query, g.output_grad, g.query_facts, g.call.key.count, share, 1};
    }
  }

  /// The part of the problem that one block computes.
  struct Work {
    int group, own_tile;  ///< The first of the block's tiles of 64 own tokens.
    int tiles;            ///< The number of the other side's tiles.
  };
  /// Returns the number of blocks of one group, and below of the whole problem.
  CONELAB_TILE static int blocks_of_group(const Problem<float>& p) {
    const int tokens = owner == Owner::query ? p.query.count : p.key.count;
    return ceil_div(tokens, group_rows * consumers);
  }
  CONELAB_TILE static int blocks(const Problem<float>& p) { return blocks_of_group(p) * p.groups; }

  /// Returns the work of block `block`. The latest queries and the earliest keys come first,
  /// because under a causal mask they have the most pairs.
  CONELAB_TILE static Work work_of(const Problem<float>& p, int block) {
    const int of_group = blocks_of_group(p);
    const int place = owner == Owner::query ? of_group - 1 - block % of_group : block % of_group;
    const int other = owner == Owner::query ? p.key.count : p.query.count;
    return {block / of_group, place * consumers, ceil_div(other, group_rows)};
  }

  /// Returns how many pairs of own tile `own_tile` and the other side's tile `tile` are seen.
  CONELAB_TILE static Seen cover(const Problem<float>& p, int group, int own_tile, int tile) {
    const int query_tile = owner == Owner::query ? own_tile : tile;
    const int key = (owner == Owner::query ? tile : own_tile) * group_rows;
    const int tiles = ceil_div(p.query.count, group_rows);
    if (query_tile >= tiles || key >= p.key.count) return Seen::none;
    const BlockSpan span =
        p.block_span[static_cast<std::int64_t>(group / p.heads) * tiles + query_tile];
    if (span.any.begin >= key + group_rows || key >= span.any.end) return Seen::none;
    const bool all = span.all.begin <= key && key + group_rows <= span.all.end &&
                     (query_tile + 1) * group_rows <= p.query.count;
    return all ? Seen::all : Seen::partial;
  }
  /// Returns whether any consumer of the block needs the tile.
  CONELAB_TILE static bool needed(const Problem<float>& p, const Work& work, int tile) {
    bool any = false;
    for (int c = 0; c < consumers; ++c) {
      any |= cover(p, work.group, work.own_tile + c, tile) != Seen::none;
    }
    return any;
  }

  /// Runs the producer: copies the own tiles, then every tile that a consumer needs.
  template <class Machine>
  CONELAB_TILE static void produce(Machine& m, const FastGradient& g, const Work& work) {
    const Sides sides = sides_of(g);
    copy_own(m, sides, work);
    Ring<stages> ring;
    for (int t = 0; t < work.tiles; ++t) {
      if (!needed(g.call, work, t)) continue;
      const int s = ring.stage;
      const std::int64_t group = work.group / sides.other_share;
      const std::int64_t at = group * work.tiles + t;
      m.wait(other_empty, s, ring.parity ^ 1);
      m.expect(other_gate, s, 2 * bytes + fact_bytes + window_bytes);
      m.copy(other_at(s), sides.other + at * bytes, bytes, other_gate, s);
      m.copy(other_value_at(s), sides.other_value + at * bytes, bytes, other_gate, s);
      m.copy(facts_at(s), sides.facts + at * (fact_bytes / 4), fact_bytes, other_gate, s);
      if constexpr (window_bytes > 0) {
        m.copy(window_at(s), g.bias + window_of(g.call, work, t), window_bytes, other_gate, s);
      }
      ring.advance();
    }
  }

  /// Runs one consumer: computes the gradients of its 64 tokens and writes them to `result`.
  template <class Machine>
  CONELAB_TILE static void consume(Machine& m, const FastGradient& g,
                                   const GradientResult<float>& result, const Work& work,
                                   int consumer) {
    const int own_tile = work.own_tile + consumer;
    const bool present = own_tile * group_rows < sides_of(g).own_count;
    m.each([&](int thread, Tail& tail) {
      tail.start(thread, g, work.group, present ? own_tile * group_rows : 0);
      if constexpr (Tail::sums_offsets) {
        Tail::clear_diagonals(thread, m.numbers(diagonals_at(consumer)));
      }
    });
    if constexpr (Tail::sums_offsets) m.meet_group();
    m.wait(own_gate, 0, 0);
    Ring<stages> ring;
    int held = nothing;
    for (int t = 0; t < work.tiles; ++t) {
      if (!needed(g.call, work, t)) continue;
      const Seen seen = cover(g.call, work.group, own_tile, t);
      if (seen == Seen::none) {
        skip(m, ring, held);
      } else {
        m.wait(other_gate, ring.stage, ring.parity);
        meet(m, consumer, t, ring.stage, seen == Seen::all, held);
        held = ring.stage;
        if constexpr (Tail::sums_offsets) sum_offsets(m, g, work.group, consumer, t - own_tile);
      }
      ring.advance();
    }
    finish(m, held);
    m.each([](int, Tail& tail) { tail.scale(); });
    if (present) m.write(g, result, work, consumer);
  }

 private:
  static constexpr int nothing = -1;

  /// Returns the first entry of the biases of the block and the other side's tile `tile`.
  CONELAB_TILE static std::int64_t window_of(const Problem<float>& p, const Work& work, int tile) {
    const int own = work.own_tile * group_rows, other = tile * group_rows;
    return work.group % p.heads * std::int64_t{offset_entries(p.query.count, p.key.count)} +
           offset_origin(p.query.count) +
           (owner == Owner::query ? other - own - block_rows : own - other - group_rows);
  }

  /// Adds the sums of a tile by offset to those of the group. `tiles` are the tiles that its keys
  /// are ahead of its queries.
  template <class Machine>
  CONELAB_TILE static void sum_offsets(Machine& m, const FastGradient& g, int group, int consumer,
                                       int tiles) {
    if (law == Law::sigmoid && g.offset_sums == nullptr) return;
    m.meet_group();
    const int queries = g.call.query.count;
    const std::int64_t entries = offset_entries(queries, g.call.key.count);
    const std::int64_t first = group * entries + offset_origin(queries) + (tiles - 1) * group_rows;
    m.each([&](int thread, Tail&) {
      const float sum = Tail::diagonal_sum(thread, m.numbers(diagonals_at(consumer)));
      if (sum - sum != 0) m.set_nan(g.offset_scale + group);
      m.add(g.offset_sums + first + thread,
            nearest(static_cast<double>(sum) * g.offset_scale[group]));
    });
    m.meet_group();
  }

  template <class Machine>
  CONELAB_TILE static void copy_own(Machine& m, const Sides& sides, const Work& work) {
    const int tiles = ceil_div(sides.own_count, group_rows);
    const int present = tiles - work.own_tile < consumers ? tiles - work.own_tile : consumers;
    const std::int64_t group = work.group / sides.own_share;
    m.expect(own_gate, 0, present * 2 * bytes);
    for (int c = 0; c < present; ++c) {
      const std::int64_t at = group * tiles + work.own_tile + c;
      m.copy(own_at(c), sides.own + at * bytes, bytes, own_gate, 0);
      m.copy(own_value_at(c), sides.own_value + at * bytes, bytes, own_gate, 0);
    }
  }

  /// Waits for all products and releases the stage `held`, whose sums were not complete; afterwards
  /// `held` is `nothing`.
  template <class Machine>
  CONELAB_TILE static void finish(Machine& m, int& held) {
    m.finish();
    if (held == nothing) return;
    m.release(other_empty, held);
    held = nothing;
  }

  /// Releases a tile that only the other consumer needs. The stage `held` is released first,
  /// because the producer may need it for the next tile.
  template <class Machine>
  CONELAB_TILE static void skip(Machine& m, const Ring<stages>& ring, int& held) {
    finish(m, held);
    m.wait(other_gate, ring.stage, ring.parity);
    m.release(other_empty, ring.stage);
  }

  /// Returns where the bias of key - query = 0 would be, counted from the first pair of a part.
  template <class Machine>
  CONELAB_TILE static const float* biases(Machine& m, int consumer, int stage, int part) {
    const int own = consumer * group_rows, other = part * Tail::columns;
    return reinterpret_cast<const float*>(m.at(window_at(stage))) +
           (owner == Owner::query ? block_rows - own + other : group_rows + own - other);
  }

  /// Computes the pairs of one tile, part by part. Its stage stays in use until the next `finish`.
  template <class Machine>
  CONELAB_TILE static void meet(Machine& m, int consumer, int tile, int stage, bool whole,
                                int& held) {
#pragma unroll 1
    for (int part = 0; part < Tail::parts; ++part) {
      m.start_products(stage, part);
      finish(m, held);
      const GradientView view{m.at(own_at(consumer)),
                              m.at(other_at(stage)),
                              reinterpret_cast<const float*>(m.at(facts_at(stage))),
                              tile * group_rows,
                              whole,
                              part * Tail::columns,
                              biases(m, consumer, stage, part),
                              Tail::sums_offsets ? m.numbers(diagonals_at(consumer)) : nullptr};
      m.each([&](int thread, Tail& tail) { tail.differentiate(thread, view); });
      m.start_sums(stage, part);
    }
    m.end_reads();
  }
};

}  // namespace conelab::gpu::hopper
