// Attention maps for figures and files: rectangles of logits or weights, O(tile) memory.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/tiles/attention.h"
#include "core/tiles/packed_keys.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/tile.h"
#include "core/tiles/tile_size.h"

namespace conelab {
namespace {

/// Groups of rows that a thread computes before it checks for cancellation again.
constexpr std::int64_t task_groups = 2;

/// What the rows of one head share. Threads may compute different rows at the same time.
template <class S>
class HeadMap {
  using T = Compute<S>;

 public:
  HeadMap(const Plan& plan, const AttentionInput<S>& input, const MapTile& tile,
          const std::string& simd)
      : plan_(plan),
        input_(input),
        batch_(tile.batch),
        head_(tile.head),
        key_begin_(tile.key_begin),
        columns_(tile.key_end - tile.key_begin),
        kernels_(kernels<S>(simd, plan.extents.query)),
        group_rows_(kernels_.forward_rows),
        mask_(plan.mask(input)),
        law_(plan, kernels_, input, batch_ * plan.extents.head + head_),
        keys_(plan, kernels_, law_, columns_, key_begin_) {
    const auto keys = input.key.tokens(batch_, head_, plan.extents.head).part(key_begin_, columns_);
    for (int t = 0; t < keys_.tiles(); ++t) keys_.pack(plan, kernels_, law_, keys, t);
  }

  [[nodiscard]] std::int64_t task_rows() const { return task_groups * group_rows_; }

  void logits(std::int64_t begin, std::int64_t rows, T* out) const {
    Operand<T> queries;
    law_.place(input_.query.tokens(batch_, head_).part(begin, rows), rows, "q", begin,
               kernels_.panel, queries);
    Tiles<S> tiles(plan_, kernels_, law_, mask_, input_.key, batch_ * plan_.extents.head + head_,
                   {});
    Buffer<T> tile(static_cast<std::size_t>(group_rows_) * forward_keys<T>);
    for (int t = 0; t < keys_.tiles(); ++t) {
      const KeyTile<T> part = keys_.tile(t);
      for (std::int64_t row = 0; row < rows; row += group_rows_) {
        const auto count = static_cast<int>(std::min<std::int64_t>(group_rows_, rows - row));
        score(tiles, query_group(queries, begin, row, count), part, tile);
        for (int r = 0; r < count; ++r) {
          T* to = out + (row + r) * columns_ + (part.first - key_begin_);
          std::copy_n(tile.data() + static_cast<std::ptrdiff_t>(r) * part.columns, part.count, to);
        }
      }
    }
  }

  void weigh_rows(const Forward<S>& saved, std::int64_t begin, std::int64_t rows, T* out) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      T* row = out + r * columns_;
      RowWeights<T> law{plan_.weights};
      if (plan_.weights == WeightLaw::softmax) {
        law.reference = *saved.row_reference.row(batch_, head_, begin + r);
        law.scale = row_scale(law.law, law.reference, *saved.row_sum.row(batch_, head_, begin + r));
      }
      for (std::int64_t c = 0; c < columns_; ++c) {
        if (!saved.column_lse.empty()) {
          law.reference = *saved.column_lse.row(batch_, head_, key_begin_ + c);
        }
        row[c] = law.of(row[c]);
      }
    }
  }

 private:
  const Plan& plan_;
  const AttentionInput<S>& input_;
  std::int64_t batch_, head_, key_begin_, columns_;
  const Kernels<T>& kernels_;
  int group_rows_;  ///< Queries in a tile.
  Mask mask_;
  Head<T> law_;
  PackedKeys<T> keys_;

  static void score(Tiles<S>& tiles, const QueryGroup<T>& group, const KeyTile<T>& part,
                    Buffer<T>& tile) {
    const Cover cover = tiles.cover(group.first, group.first + group.rows, part);
    if (cover == Cover::none || !tiles.sees_any(group, part, cover)) {
      std::fill(tile.begin(), tile.end(), -std::numeric_limits<T>::infinity());
      return;
    }
    tiles.similarity().score(tiles.measured(group, part, cover, tile.data()));
  }
};

void check_tile(const MapTile& tile, const Extents& e) {
  const auto within = [](std::int64_t begin, std::int64_t end, std::int64_t size) {
    return begin >= 0 && begin < end && end <= size;
  };
  if (within(tile.batch, tile.batch + 1, e.batch) && within(tile.head, tile.head + 1, e.head) &&
      within(tile.query_begin, tile.query_end, e.query) &&
      within(tile.key_begin, tile.key_end, e.key)) {
    return;
  }
  fail(
      "a tile of a map: expected queries and keys within [{} x {}] of {} x {} heads (found queries "
      "[{}, {}), keys [{}, {}) of head {} x {})",
      e.query, e.key, e.batch, e.head, tile.query_begin, tile.query_end, tile.key_begin,
      tile.key_end, tile.batch, tile.head);
}

}  // namespace

template <class S>
void pair_map_tile(const Plan& plan, const AttentionInput<S>& input, Map2d which,
                   const Forward<S>* saved, const MapTile& tile, Compute<S>* out,
                   const Execution& execution) {
  using T = Compute<S>;
  if (tile.query_end <= tile.query_begin || tile.key_end <= tile.key_begin) return;
  check_tile(tile, plan.extents);
  if (which == Map2d::weights && saved == nullptr) {
    fail("a tile of weights needs what forward saved for the same call");
  }
  const HeadMap<S> map(plan, input, tile, execution.simd);
  const std::int64_t rows = tile.query_end - tile.query_begin;
  const std::int64_t columns = tile.key_end - tile.key_begin;
  const std::int64_t task_rows = map.task_rows();
  run_tasks((rows + task_rows - 1) / task_rows, execution, [&](std::int64_t task, const auto&) {
    const std::int64_t first = task * task_rows;
    const std::int64_t count = std::min(task_rows, rows - first);
    T* part = out + first * columns;
    map.logits(tile.query_begin + first, count, part);
    if (which == Map2d::weights) map.weigh_rows(*saved, tile.query_begin + first, count, part);
  });
}

#define CONELAB_MAPS(S)                                                                        \
  template void pair_map_tile(const Plan&, const AttentionInput<S>&, Map2d, const Forward<S>*, \
                              const MapTile&, Compute<S>*, const Execution&);
CONELAB_EACH_TYPE(CONELAB_MAPS)

}  // namespace conelab
