// Attention maps for figures and files: rectangles of logits or weights, O(tile) memory.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/attention.h"
#include "core/attention/keys.h"
#include "core/attention/parallel.h"
#include "core/attention/tile.h"

namespace conelab {
namespace {

constexpr int group_rows = 12;

/// Logits of a row -> weights, with what forward saved.
template <class T>
void weigh(bool sigmoid, T* logits, std::int64_t count, T reference, T sum) {
  const T inverse = sum == 0 ? T(0) : 1 / sum;
  for (std::int64_t c = 0; c < count; ++c) {
    logits[c] =
        sigmoid ? 1 / (1 + std::exp(-logits[c])) : std::exp(logits[c] - reference) * inverse;
  }
}

}  // namespace

template <class S>
void attention_map_tile(const Plan& plan, const AttentionInput<S>& input, Map2d which,
                        const Forward<S>* saved, std::int64_t batch, std::int64_t head,
                        std::int64_t query_begin, std::int64_t query_end, std::int64_t key_begin,
                        std::int64_t key_end, Compute<S>* out, const Execution& execution) {
  using T = Compute<S>;
  if (query_end <= query_begin || key_end <= key_begin) return;
  const Kernels<T>& k = kernels<T>(execution.simd);
  const Mask mask = plan.mask(input);
  const Head<T> law(plan, head, input.key.row(batch, head, 0));
  const std::int64_t rows = query_end - query_begin;
  const std::int64_t columns = key_end - key_begin;
  const PackedKeys<T> keys(plan, k, law, input.key.row(batch, head, key_begin), columns, key_begin);
  Operand<T> queries;
  law.place(input.query.row(batch, head, query_begin), rows, rows, "q", query_begin, k.panel,
            queries);
  const Tiles<T> tiles(plan, k, law, mask, batch);
  Buffer<T> tile(static_cast<std::size_t>(group_rows) * key_tile<T>);
  T row_maximum[group_rows];
  for (int t = 0; t < keys.tiles(); ++t) {
    const KeyTile<T> part = keys.tile(t);
    for (std::int64_t row = 0; row < rows; row += group_rows) {
      const auto count = static_cast<int>(std::min<std::int64_t>(group_rows, rows - row));
      const QueryGroup<T> group = query_group(queries, query_begin, row, count);
      const Cover cover = tiles.cover(group.first, group.first + count, part);
      if (cover == Cover::none) {
        std::fill(tile.begin(), tile.end(), -std::numeric_limits<T>::infinity());
      } else {
        tiles.score(group, part, cover, tile.data(), part.columns, row_maximum);
      }
      for (int r = 0; r < count; ++r) {
        std::copy_n(tile.data() + static_cast<std::ptrdiff_t>(r) * part.columns, part.count,
                    out + (row + r) * columns + (part.first - key_begin));
      }
    }
  }
  if (which == Map2d::logits) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    weigh(plan.sigmoid, out + r * columns, columns,
          *saved->row_maximum.row(batch, head, query_begin + r),
          *saved->row_sum.row(batch, head, query_begin + r));
  }
}

template <class S>
Tensor4<Compute<S>> attention_map(const Plan& plan, const AttentionInput<S>& input, Map2d which,
                                  const Execution& execution) {
  const Extents& e = plan.extents;
  Tensor4<Compute<S>> map({e.batch, e.head, e.query, e.key});
  Forward<S> saved;
  if (which == Map2d::weights) saved = forward(plan, input, execution);
  constexpr std::int64_t block = 96;
  const std::int64_t blocks = (e.query + block - 1) / block;
  run_tickets(e.batch * e.head * blocks, execution, [&](std::int64_t ticket, const auto&) {
    const std::int64_t index = ticket / blocks;
    const std::int64_t begin = ticket % blocks * block;
    attention_map_tile(plan, input, which, &saved, index / e.head, index % e.head, begin,
                       std::min(begin + block, e.query), 0, e.key,
                       map.row(index / e.head, index % e.head, begin), execution);
  });
  return map;
}

#define CONELAB_MAPS(S)                                                                            \
  template void attention_map_tile(                                                                \
      const Plan&, const AttentionInput<S>&, Map2d, const Forward<S>*, std::int64_t, std::int64_t, \
      std::int64_t, std::int64_t, std::int64_t, std::int64_t, Compute<S>*, const Execution&);      \
  template Tensor4<Compute<S>> attention_map(const Plan&, const AttentionInput<S>&, Map2d,         \
                                             const Execution&);
CONELAB_MAPS(float)
CONELAB_MAPS(double)
CONELAB_MAPS(Float16)
CONELAB_MAPS(Bfloat16)

}  // namespace conelab
