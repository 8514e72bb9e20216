// Tokens in memory as a model has them, for tests of strided inputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/call/input.h"

namespace conelab::tests {

/// Memory of tensors, filled with one number wherever no token lies.
template <class T>
class ModelMemory {
 public:
  /// NaN as `filling` shows what is computed from it; any other number shows what is read and not
  /// used if it is not finite. With `backwards` the last token of a head lies first.
  explicit ModelMemory(double filling, bool shares_heads = false, bool backwards = false)
      : filling_(static_cast<T>(filling)), shares_heads_(shares_heads), backwards_(backwards) {}

  /// Returns a view of the tokens in the order [batch, token, head, feature], with a gap after the
  /// features of a head and a wider one after those of all heads. Heads that share their tokens
  /// have the stride 0: they read those of the last head.
  StridedTensor4<T> place(const StridedTensor4<T>& dense) {
    const Shape4& s = dense.shape;
    const std::int64_t head = shares_heads_ ? 0 : s.feature + 3;
    const std::int64_t token = (s.feature + 3) * s.head + 5;
    const Strides4 strides{s.token * token + 7, head, backwards_ ? -token : token};
    std::vector<T>& memory =
        memory_.emplace_back(static_cast<std::size_t>(s.batch * strides.batch), filling_);
    T* first = memory.data() + (backwards_ ? (s.token - 1) * token : 0);
    for (std::int64_t b = 0; b < s.batch; ++b) {
      for (std::int64_t h = 0; h < s.head; ++h) {
        for (std::int64_t i = 0; i < s.token; ++i) {
          std::copy_n(dense.row(b, h, i), s.feature,
                      first + b * strides.batch + h * strides.head + i * strides.token);
        }
      }
    }
    return {first, s, strides};
  }

  /// Returns the input with all its tokens in this memory, which must outlive the result.
  AttentionInput<T> place(const AttentionInput<T>& dense) {
    AttentionInput<T> input = dense;
    for (auto* t : {&input.query, &input.key, &input.value, &input.output_grad}) *t = place(*t);
    return input;
  }

 private:
  T filling_;
  bool shares_heads_, backwards_;
  std::vector<std::vector<T>> memory_;
};

}  // namespace conelab::tests
