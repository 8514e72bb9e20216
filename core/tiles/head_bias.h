// The bias of one head, tabulated by relative position, and its derivatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"

namespace conelab {

template <class T>
class HeadBias {
 public:
  /// Throws misuse where the bias overflows at a position that the plan has.
  HeadBias(const Plan& plan, std::int64_t head);

  /// Whether the plan has a bias.
  [[nodiscard]] bool exists() const { return !table_.empty(); }
  /// Parameters that it is differentiated by.
  [[nodiscard]] int slopes() const { return static_cast<int>(slopes_.size()); }
  /// The bias of the pair (query, key), and of the keys after it; one number to the left for each
  /// query further down.
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    return table_.data() + place(query, key);
  }
  [[nodiscard]] const T* slope(int parameter, std::int64_t query, std::int64_t key) const {
    return slopes_[static_cast<std::size_t>(parameter)].data() + place(query, key);
  }

 private:
  std::int64_t queries_;
  Buffer<T> table_;
  std::vector<Buffer<T>> slopes_;

  [[nodiscard]] std::ptrdiff_t place(std::int64_t query, std::int64_t key) const {
    return key - query + queries_ - 1;
  }
};

}  // namespace conelab
