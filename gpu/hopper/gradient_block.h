// The backward kernel's flow of control, once for each side, shared by the device and by its
// emulation on the host as in forward_block.h.
//
// One warpgroup copies the other side's tiles of 64 tokens, `stages` ahead; each of two consumers
// owns 64 tokens and walks the tiles of which any of its pairs is seen. The sums of one part are
// still being added up when the products of the next begin, also across tiles: a consumer waits
// once a part, and hands a tile back only then. Products are not started before the formulas of the
// part before, as the forward pass does: a second set of products takes 64 registers, which keys
// 128 numbers wide do not have. Nor do consumers take turns: a cone's formulas (43 to 67
// instructions a pair, counted in the machine code) last longer than the other consumer's products,
// so that the two fall apart by themselves. Whether turns would help is for a GPU to say.
//
// A Machine is one thread of the device, or a warpgroup of the emulation:
//   wait, release, expect, copy, each, at, end_reads      as in forward_block.h
//   start_products(stage, part), start_sums(stage, part)  products begin, in one group each
//   finish()                                              all groups are done
//   write(g, result, work, consumer)
#pragma once

#include "gpu/hopper/fast.h"
#include "gpu/hopper/gradient_tail.h"
#include "gpu/hopper/ring.h"

namespace conelab::gpu::hopper {

/// How much of a tile of pairs queries see.
enum class Seen { none, partial, all };

template <class Similarity, class Number, int width_, Owner owner_>
struct GradientBlock {
  using S = Similarity;
  using Type = Number;
  static constexpr int width = width_;
  static constexpr Owner owner = owner_;
  using Tail = GradientTail<S, Type, width, owner>;
  static constexpr int consumers = 2;
  static constexpr int stages = 2;
  static constexpr int threads = group_threads * (consumers + 1);
  static constexpr int bytes = tile_bytes(group_rows, width);
  static constexpr int fact_bytes = (S::values + 3) * group_rows * 4;
  static constexpr int stage_bytes = 2 * bytes + (fact_bytes + 1023) / 1024 * 1024;

  /// Bytes of the parts of shared memory.
  CONELAB_TILE static constexpr int own_at(int consumer) { return consumer * 2 * bytes; }
  CONELAB_TILE static constexpr int own_value_at(int consumer) { return own_at(consumer) + bytes; }
  CONELAB_TILE static constexpr int other_at(int stage) {
    return own_at(consumers) + stage * stage_bytes;
  }
  CONELAB_TILE static constexpr int other_value_at(int stage) { return other_at(stage) + bytes; }
  CONELAB_TILE static constexpr int facts_at(int stage) { return other_at(stage) + 2 * bytes; }
  CONELAB_TILE static constexpr int barriers_at() { return other_at(stages); }
  /// [consumer][warp] sums on their way to one number.
  CONELAB_TILE static constexpr int sums_at(int consumer) {
    return barriers_at() + 512 + consumer * 4 * 8;
  }

  /// With what the alignment of the start takes.
  static constexpr int total = 1024 + barriers_at() + 1024;
  static_assert(total <= shared_limit);
  static_assert(fact_bytes % 16 == 0);
  static_assert(sizeof(Barriers<stages>) <= 512);

  /// Both sides by role.
  struct Sides {
    const unsigned char *own, *own_value, *other, *other_value;
    const float* facts;
    int own_count, other_count;
  };
  CONELAB_TILE static Sides sides_of(const FastGradient& g) {
    if constexpr (owner == Owner::query) {
      return {g.query,     g.output_grad,      g.key,           g.value,
              g.key_facts, g.call.query.count, g.call.key.count};
    } else {
      return {g.key,         g.value,          g.query,           g.output_grad,
              g.query_facts, g.call.key.count, g.call.query.count};
    }
  }

  /// What a block works on.
  struct Work {
    int group, own_tile;  ///< The first of its tiles of 64 own tokens.
    int tiles;            ///< Of the other side.
  };
  CONELAB_TILE static int blocks_of_group(const Problem<float>& p) {
    const int tokens = owner == Owner::query ? p.query.count : p.key.count;
    return ceil_div(tokens, group_rows * consumers);
  }
  CONELAB_TILE static int blocks(const Problem<float>& p) { return blocks_of_group(p) * p.groups; }

  /// Under a causal mask the latest queries and the earliest keys have the most to do: they come
  /// first.
  CONELAB_TILE static Work work_of(const Problem<float>& p, int block) {
    const int of_group = blocks_of_group(p);
    const int place = owner == Owner::query ? of_group - 1 - block % of_group : block % of_group;
    const int other = owner == Owner::query ? p.key.count : p.query.count;
    return {block / of_group, place * consumers, ceil_div(other, group_rows)};
  }

  /// What a consumer's queries and a tile's keys see of each other, or the other way round.
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
  CONELAB_TILE static bool needed(const Problem<float>& p, const Work& work, int tile) {
    bool any = false;
    for (int c = 0; c < consumers; ++c) {
      any |= cover(p, work.group, work.own_tile + c, tile) != Seen::none;
    }
    return any;
  }

  template <class Machine>
  CONELAB_TILE static void produce(Machine& m, const FastGradient& g, const Work& work) {
    const Sides sides = sides_of(g);
    copy_own(m, sides, work);
    Ring<stages> ring;
    for (int t = 0; t < work.tiles; ++t) {
      if (!needed(g.call, work, t)) continue;
      const int s = ring.stage;
      const std::int64_t at = static_cast<std::int64_t>(work.group) * work.tiles + t;
      m.wait(Gate::key_empty, s, ring.parity ^ 1);
      m.expect(Gate::key, s, 2 * bytes + fact_bytes);
      m.copy(other_at(s), sides.other + at * bytes, bytes, Gate::key, s);
      m.copy(other_value_at(s), sides.other_value + at * bytes, bytes, Gate::key, s);
      m.copy(facts_at(s), sides.facts + at * (fact_bytes / 4), fact_bytes, Gate::key, s);
      ring.advance();
    }
  }

  template <class Machine>
  CONELAB_TILE static void consume(Machine& m, const FastGradient& g,
                                   const GradientResult<float>& result, const Work& work,
                                   int consumer) {
    const int own_tile = work.own_tile + consumer;
    const bool present = own_tile * group_rows < sides_of(g).own_count;
    m.each([&](int thread, Tail& tail) {
      tail.start(thread, g, work.group, present ? own_tile * group_rows : 0);
    });
    m.wait(Gate::query, 0, 0);
    Ring<stages> ring;
    int held = nothing;
    for (int t = 0; t < work.tiles; ++t) {
      if (!needed(g.call, work, t)) continue;
      const Seen seen = cover(g.call, work.group, own_tile, t);
      if (seen == Seen::none) {
        skip(m, ring, held);
      } else {
        m.wait(Gate::key, ring.stage, ring.parity);
        meet(m, consumer, t, ring.stage, seen == Seen::all, held);
        held = ring.stage;
      }
      ring.advance();
    }
    finish(m, held);
    if (present) m.write(g, result, work, consumer);
  }

 private:
  static constexpr int nothing = -1;

  template <class Machine>
  CONELAB_TILE static void copy_own(Machine& m, const Sides& sides, const Work& work) {
    const int tiles = ceil_div(sides.own_count, group_rows);
    const int present = tiles - work.own_tile < consumers ? tiles - work.own_tile : consumers;
    m.expect(Gate::query, 0, present * 2 * bytes);
    for (int c = 0; c < present; ++c) {
      const std::int64_t at = static_cast<std::int64_t>(work.group) * tiles + work.own_tile + c;
      m.copy(own_at(c), sides.own + at * bytes, bytes, Gate::query, 0);
      m.copy(own_value_at(c), sides.own_value + at * bytes, bytes, Gate::query, 0);
    }
  }

  /// All products are done; the tile whose sums were under way is handed back.
  template <class Machine>
  CONELAB_TILE static void finish(Machine& m, int& held) {
    m.finish();
    if (held == nothing) return;
    m.release(Gate::key_empty, held);
    held = nothing;
  }

  /// A tile that only the other consumer needs. What is held goes back first: the copying warpgroup
  /// may need that stage for the next tile.
  template <class Machine>
  CONELAB_TILE static void skip(Machine& m, const Ring<stages>& ring, int& held) {
    finish(m, held);
    m.wait(Gate::key, ring.stage, ring.parity);
    m.release(Gate::key_empty, ring.stage);
  }

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
                              part * Tail::columns};
      m.each([&](int thread, Tail& tail) { tail.differentiate(thread, view); });
      m.start_sums(stage, part);
    }
    m.end_reads();
  }
};

}  // namespace conelab::gpu::hopper
