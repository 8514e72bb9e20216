// The orders of intervals that core/tiles/four_sums.h needs: by their ends, and by parts of a mask.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tiles/four_sums.h"

namespace conelab {

/// A summand or an output.
template <class T>
struct IntervalItem {
  Coordinate<T> lower, upper, weight;
  std::int32_t code;   ///< The row of a summand, or -1 - the row of an output.
  std::int32_t place;  ///< The place in the order of U.

  [[nodiscard]] bool is_output() const { return code < 0; }
  [[nodiscard]] std::int32_t row() const { return is_output() ? ~code : code; }
};

/// Summands and outputs as one list in the order of U.
template <class T>
struct IntervalItems {
  Buffer<IntervalItem<T>> item;
  std::vector<std::int32_t> token;     ///< [items] The number of the token among its kind.
  std::vector<std::int32_t> by_lower;  ///< [items] Items in the order of W.
  std::vector<std::int32_t> rank;      ///< [items] Their places in that order.

  std::vector<std::int32_t> summand;  ///< [rows of summands] Tokens.
  std::vector<std::int32_t> output;   ///< [rows of outputs] Tokens.
  std::vector<std::int32_t> own;      ///< [outputs] Tokens in the order of U.
  std::vector<std::int32_t> partner;  ///< [rows of outputs] The place of the token in `own`.

  [[nodiscard]] const IntervalItem<T>& operator[](std::int32_t i) const {
    return item[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(item.size()); }
};

/// Returns the items of two lists of tokens. If `halves_ties`, an output with an end equal to that
/// of a summand becomes two items of half the weight, one before and one after that summand in both
/// orders. The sums over one side of an end then contain half of each pair with equal ends.
template <class T>
[[nodiscard]] IntervalItems<T> ordered_items(const Intervals<T>& summands,
                                             const Intervals<T>& outputs, bool halves_ties,
                                             const Execution& run);

/// Returns the rows of these tokens, in this order.
template <class T>
[[nodiscard]] Buffer<T> rows_in_order(const Intervals<T>& tokens,
                                      const std::vector<std::int32_t>& order,
                                      std::ptrdiff_t columns, const Execution& run);

/// Independent parts of the pairs: in each node every output is paired with every summand, or, if
/// `by_pairs`, with those that the mask admits. An output is in one node at most.
template <class T>
struct Stage {
  std::vector<std::ptrdiff_t> first;  ///< [nodes + 1] Where the nodes begin in the lists below.
  Buffer<std::int32_t> by_upper;      ///< Items by nodes, in each in the order of U.
  Buffer<IntervalItem<T>> by_lower;   ///< The same in the order of W.
  bool by_pairs = false;
};

/// Divides the pairs that a mask admits into stages. The keys form a binary tree of blocks, and the
/// range of a query consists of O(log n) nodes of it, at most two of each size, and of parts of two
/// blocks. Without a mask there is one stage of one node.
template <class T>
class Stages {
 public:
  /// `items` and `seen` must outlive the object.
  Stages(const IntervalItems<T>& items, const SeenPairs& seen);

  /// Makes the next stage. Returns false if there is none.
  [[nodiscard]] bool next(Stage<T>& stage, const Execution& run);
  /// Returns the share of the depths of the tree that are done.
  [[nodiscard]] double done() const;

 private:
  const IntervalItems<T>& items_;
  SeenPairs seen_;
  std::int64_t begin_ = 0, end_ = 0;  ///< The keys that any query sees.
  int depth_ = 0;                     ///< log2 of the blocks of the tree.
  int step_ = 0;                      ///< Two for parts of blocks, then two for each size of nodes.
  /// [queries] The whole blocks that a query sees and that no earlier stage contains, [left,
  /// right).
  std::vector<std::int32_t> left_, right_;
  std::vector<std::int32_t> node_;  ///< [queries] The node of a query in a stage, or -1.

  void find_parts(bool at_right);
  void find_nodes(bool at_right);
  [[nodiscard]] bool is_key(std::int32_t item) const;
  void fill(Stage<T>& stage, int shift, const Execution& run) const;
};

}  // namespace conelab
