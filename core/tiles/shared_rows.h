// A gradient of k or v whose heads are shared by heads of q: their parts are summed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/half.h"
#include "core/base/tensor.h"

namespace conelab {

/// The parts are added in the order of the heads, so that the sum is the same for any number of
/// threads. A part that comes before its turn is kept until then. 16-bit tensors are summed in
/// float and rounded once.
template <class S>
class SharedRows {
  using T = Compute<S>;

 public:
  /// `shape` is that of k or v, `heads` the number of heads of q. The rows of a head come in blocks
  /// of `block_rows` rows; 0: all in one.
  SharedRows(Shape4 shape, std::int64_t heads, std::int64_t block_rows = 0)
      : heads_(heads),
        group_(shape.head > 0 ? heads / shape.head : 1),
        block_rows_(block_rows > 0 ? block_rows : std::max<std::int64_t>(1, shape.token)),
        blocks_((shape.token + block_rows_ - 1) / block_rows_),
        sum_(shape) {
    if (group_ == 1) return;
    turns_ = std::vector<Turn>(static_cast<std::size_t>(shape.batch * shape.head * blocks_));
    if constexpr (!std::is_same_v<S, T>) wide_ = Tensor4<T>(shape);
  }

  /// Adds head h's part of a block of rows [rows of the block × feature], from any thread.
  void add(std::int64_t b, std::int64_t h, std::int64_t block, Buffer<T> rows) {
    const std::int64_t own = shared_head(h, sum_.shape.head, heads_), first = block * block_rows_;
    if (group_ == 1) return store(rows, sum_.row(b, own, first));
    Turn& turn = turns_[static_cast<std::size_t>((b * sum_.shape.head + own) * blocks_ + block)];
    const std::lock_guard lock(turn.mutex);
    turn.early.emplace(h % group_, std::move(rows));
    for (auto next = turn.early.begin(); next != turn.early.end() && next->first == turn.next;
         next = turn.early.erase(next)) {
      T* to = wide().row(b, own, first);
      for (const T x : next->second) *to++ += x;
      ++turn.next;
    }
  }

  /// Returns the sums, once all heads have added their rows.
  [[nodiscard]] Tensor4<S> take() {
    if constexpr (!std::is_same_v<S, T>) {
      if (group_ > 1) store(wide_.data, sum_.data.data());
    }
    return std::move(sum_);
  }

 private:
  /// Whose turn it is to add to a block, and what came early: the heads are counted within a group.
  struct Turn {
    std::mutex mutex;
    std::int64_t next = 0;
    std::map<std::int64_t, Buffer<T>> early;
  };

  std::int64_t heads_, group_;  ///< Heads of q, and how many of them share a head.
  std::int64_t block_rows_, blocks_;
  Tensor4<S> sum_;
  Tensor4<T> wide_;  ///< The sums of 16-bit tensors; empty if nothing is summed.
  std::vector<Turn> turns_;

  [[nodiscard]] Tensor4<T>& wide() {
    if constexpr (std::is_same_v<S, T>) {
      return sum_;
    } else {
      return wide_;
    }
  }
  template <class Rows>
  static void store(const Rows& rows, S* to) {
    for (const T x : rows) *to++ = static_cast<S>(x);
  }
};

}  // namespace conelab
