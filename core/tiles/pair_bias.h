// A bias with a number of its own for each pair (BiasRow::of_pairs), and its gradient.
//
//   logit_bhij += bias[b, h, i, j]      any axis of the bias may have the size 1
//
// The numbers are read where the caller has them, a few at a time, in their own type. The gradient,
// which has the sizes of the bias, is the only array of that size that is made, and only if the
// input wants it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/tensor_view.h"
#include "core/call/plan.h"

namespace conelab {

/// The numbers of one head of one batch element.
class PairNumbers {
 public:
  /// There are none.
  PairNumbers() = default;
  /// Those of the plan's bias, which the input contains or views; none if its row has not
  /// `of_pairs`.
  template <class S>
  PairNumbers(const Plan& plan, const AttentionInput<S>& input, std::int64_t b, std::int64_t h);

  [[nodiscard]] bool exist() const { return data_ != nullptr; }
  /// Returns whether dL/d(bias) is wanted.
  [[nodiscard]] bool has_gradient() const { return has_gradient_; }
  /// Sets out [count] to the numbers of a query and the keys from `key` on.
  template <class T>
  void read(std::int64_t query, std::int64_t key, std::int64_t count, T* out) const;
  /// Returns the number of a pair in the caller's memory if those of the next keys follow it there
  /// in type T, otherwise null. That of the next query is `stride()` numbers further.
  template <class T>
  [[nodiscard]] const T* in_place(std::int64_t query, std::int64_t key) const;
  [[nodiscard]] std::ptrdiff_t stride() const { return row_; }

 private:
  const void* data_ = nullptr;
  NumberType type_ = NumberType::f32;
  std::ptrdiff_t row_ = 0, column_ = 0;  ///< Numbers to the next query and key; 0: they share one.
  bool has_gradient_ = false;
};

/// Returns a view of the numbers of the plan's bias, in the input or in memory of the caller.
template <class S>
[[nodiscard]] TensorView pair_bias_view(const Plan& plan, const AttentionInput<S>& input);

/// dL/d(bias). A unit is a block of queries with a tile of keys, for one head of one batch element.
/// Says where units share numbers, they add to them in the order (batch element, head, tile,
/// block), so that the sum is the same for any number of threads. Tasks must begin in that order.
class PairGradient {
 public:
  /// The gradient stands in `into`, which is set to zeros in the sizes of the bias.
  PairGradient(const Plan& plan, std::int64_t tiles, std::int64_t blocks, Array<double>& into);

  struct Unit {
    std::int64_t batch, head, tile, block;
  };
  /// Waits until the unit may add. Returns false if the run was stopped meanwhile.
  [[nodiscard]] bool wait(const Unit& unit, const std::function<bool()>& stopped) const;
  /// Adds dL/dlogit [count] of a query with the keys from `key` on.
  template <class T>
  void add(const Unit& unit, std::int64_t query, std::int64_t key, std::int64_t count,
           const T* logit_slope);
  /// Lets the next unit add. Every unit must call it once, whether it adds or not.
  void finish(const Unit& unit);

 private:
  Array<double>& into_;
  std::array<std::int64_t, 4> sizes_;            ///< Of the bias: batch, head, query, key.
  std::array<std::int64_t, 4> units_;            ///< Batch elements, heads, tiles, blocks.
  std::array<bool, 4> shared_;                   ///< Whether units along these axes share numbers.
  std::vector<std::atomic<std::int64_t>> turn_;  ///< [units that share none] Units that are done.

  struct Place {
    std::size_t slot;    ///< The index in `turn_`.
    std::int64_t order;  ///< The place of the unit among those that share the slot.
  };
  [[nodiscard]] Place place(const Unit& unit) const;
};

/// Returns where the gradient of the plan's bias stands in a result, or null if the bias has no
/// numbers of pairs or the input wants none.
template <class S>
[[nodiscard]] Array<double>* pair_gradient_of(const Plan& plan, const AttentionInput<S>& input,
                                              Backward<S>& result) {
  if (!plan.bias->of_pairs || !input.wants_bias_gradient) return nullptr;
  return &result.tensors[plan.parameters[plan.bias_parameters.front()].info.key];
}

}  // namespace conelab
