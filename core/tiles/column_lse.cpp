#include "core/tiles/column_lse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/subnormals.h"
#include "core/tiles/packed_keys.h"
#include "core/tiles/tile.h"
#include "core/tiles/tile_size.h"

namespace conelab {
namespace {

/// Running sums of the exponentials of a tile's columns, relative to the largest logit of each so
/// far.
template <class T>
class ColumnSums {
 public:
  explicit ColumnSums(int columns)
      : reference_(static_cast<std::size_t>(columns), std::numeric_limits<T>::lowest()),
        part_(reference_.size()),
        total_(reference_.size(), 0.0) {}

  void add(const Kernels<T>& kernels, const T* logits, int rows) {
    const auto columns = static_cast<int>(total_.size());
    raise(logits, rows);
    std::fill(part_.begin(), part_.end(), T(0));
    kernels.add_exponentials(logits, columns, rows, columns, reference_.data(), part_.data());
    for (std::size_t c = 0; c < total_.size(); ++c) total_[c] += static_cast<double>(part_[c]);
  }

  [[nodiscard]] T lse(std::size_t column) const {
    const double sum = total_[column];
    return sum == 0 ? -std::numeric_limits<T>::infinity()
                    : static_cast<T>(static_cast<double>(reference_[column]) + std::log(sum));
  }

 private:
  std::vector<T> reference_, part_;
  std::vector<double> total_;

  /// Raises the references to the largest logits, including those of the tile, and rescales the
  /// sums.
  void raise(const T* logits, int rows) {
    part_ = reference_;
    for (int r = 0; r < rows; ++r, logits += total_.size()) {
      for (std::size_t c = 0; c < total_.size(); ++c) {
        reference_[c] = logits[c] > reference_[c] ? logits[c] : reference_[c];
      }
    }
    for (std::size_t c = 0; c < total_.size(); ++c) {
      if (part_[c] == reference_[c]) continue;
      total_[c] *= std::exp(static_cast<double>(part_[c]) - static_cast<double>(reference_[c]));
    }
  }
};

/// Processes the tiles of keys. A task is a tile, which sweeps over all queries.
template <class S>
class ColumnPass {
  using T = Compute<S>;

 public:
  ColumnPass(const Plan& plan, const AttentionInput<S>& input, const Execution& execution)
      : plan_(plan),
        input_(input),
        kernels_(kernels<S>(execution.simd, plan.extents.query)),
        mask_(plan.mask(input)),
        result_({plan.extents.batch, plan.extents.head, plan.extents.key, 1}) {
    for (std::int64_t i = 0; i < plan.extents.batch * plan.extents.head; ++i) {
      heads_.emplace_back(plan, kernels_, input, i);
    }
  }

  Tensor4<T> run(const Execution& execution) {
    const std::int64_t tiles = (plan_.extents.key + backward_keys<T> - 1) / backward_keys<T>;
    run_tasks(static_cast<std::int64_t>(heads_.size()) * tiles, execution,
              [&](std::int64_t task, const auto& stopped) {
                run_tile(task / tiles, task % tiles * backward_keys<T>, stopped);
              });
    return std::move(result_);
  }

 private:
  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Kernels<T>& kernels_;
  Mask mask_;
  std::vector<Head<T>> heads_;
  Tensor4<T> result_;

  void run_tile(std::int64_t index, std::int64_t first, const std::function<bool()>& stopped) {
    const Extents& e = plan_.extents;
    const std::int64_t b = index / e.head, h = index % e.head;
    const Head<T>& head = heads_[static_cast<std::size_t>(index)];
    const std::int64_t count = std::min<std::int64_t>(backward_keys<T>, e.key - first);
    PackedKeys<T> packed(plan_, kernels_, head, count, first);
    packed.pack(plan_, kernels_, head, input_.key.tokens(b, h, e.head).part(first, count), 0);
    const KeyTile<T> keys = packed.tile(0);
    Tiles<S> tiles(plan_, kernels_, head, mask_, input_.key, index, {});
    ColumnSums<T> sums(keys.columns);
    Buffer<T> tile(static_cast<std::size_t>(kernels_.backward_rows * keys.columns));
    Operand<T> queries;
    for (std::int64_t i = 0; i < e.query && !stopped(); i += kernels_.backward_rows) {
      const auto rows =
          static_cast<int>(std::min<std::int64_t>(kernels_.backward_rows, e.query - i));
      const Cover cover = tiles.cover(i, i + rows, keys);
      if (cover == Cover::none) continue;
      head.place(input_.query.tokens(b, h).part(i, rows), rows, "q", i, kernels_.panel, queries);
      const QueryGroup<T> group = query_group(queries, i, 0, rows);
      if (!tiles.sees_any(group, keys, cover)) continue;
      const FlushSubnormals flush;
      tiles.similarity().score(tiles.measured(group, keys, cover, tile.data()));
      sums.add(kernels_, tile.data(), rows);
    }
    for (std::int64_t c = 0; c < count; ++c) {
      *result_.row(b, h, first + c) = sums.lse(static_cast<std::size_t>(c));
    }
  }
};

}  // namespace

template <class S>
Tensor4<Compute<S>> column_lse(const Plan& plan, const AttentionInput<S>& input,
                               const Execution& execution) {
  return ColumnPass<S>(plan, input, execution).run(execution);
}

#define CONELAB_COLUMN_LSE(S) \
  template Tensor4<Compute<S>> column_lse(const Plan&, const AttentionInput<S>&, const Execution&);
CONELAB_EACH_TYPE(CONELAB_COLUMN_LSE)

}  // namespace conelab
