// A tensor that is only read, in memory with any strides: tensors of a model often lie as [batch,
// token, head, feature] and are wanted as [batch, head, token, feature].
//
//   const float* q = ...;  // [batch, token, head, feature], dense
//   StridedTensor4<float> query(q, {batch, heads, n, d}, {n * heads * d, d, heads * d});
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/tensor.h"

namespace conelab {

/// Numbers from one batch element, head and token to the next. 0: all of them share the memory. The
/// features of a token are contiguous.
struct Strides4 {
  std::int64_t batch, head, token;
};

/// A tensor [batch × head × token × feature]. It either views memory of the caller, which must
/// outlive it and all its copies, or owns a dense tensor. It gives no access to all numbers at
/// once, because only the features of a token are sure to be contiguous.
template <class T>
class StridedTensor4 : private Tensor4<T> {
 public:
  using Tensor4<T>::shape;

  /// An empty tensor.
  StridedTensor4() = default;
  /// Owns a dense tensor.
  StridedTensor4(Tensor4<T> dense) : Tensor4<T>(std::move(dense)) {}
  /// Views the numbers at `data`. A stride is 0, or at least the number of features forwards or
  /// backwards (negative). `check_input` checks this, and that `data` is not null where there are
  /// numbers.
  StridedTensor4(const T* data, Shape4 sizes, Strides4 strides)
      : is_view_(true), view_(data), strides_(strides) {
    shape = sizes;
  }

  [[nodiscard]] Strides4 strides() const {
    if (is_view_) return strides_;
    const std::int64_t head = shape.token * shape.feature;
    return {shape.head * head, head, shape.feature};
  }
  /// Returns the features of token `i` of batch element b and head h: [feature].
  [[nodiscard]] const T* row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    const Strides4 s = strides();
    return first() + b * s.batch + h * s.head + i * s.token;
  }
  [[nodiscard]] const T& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) const {
    return row(b, h, i)[c];
  }
  /// Returns the tokens of one head of one batch element.
  [[nodiscard]] TokenRows<const T> tokens(std::int64_t b, std::int64_t h) const {
    return {row(b, h, 0), shape.token, shape.feature, strides().token};
  }
  /// Returns the tokens that head h of `all` heads of q reads (shared_head).
  [[nodiscard]] TokenRows<const T> tokens(std::int64_t b, std::int64_t h, std::int64_t all) const {
    return tokens(b, shared_head(h, shape.head, all));
  }
  /// Returns whether there are no numbers, as in a tensor that was not given.
  [[nodiscard]] bool empty() const { return is_view_ ? shape.size() == 0 : Tensor4<T>::empty(); }
  /// Returns whether there is memory for all numbers.
  [[nodiscard]] bool has_memory() const {
    if (is_view_) return view_ != nullptr || shape.size() == 0;
    return static_cast<std::int64_t>(this->data.size()) == shape.size();
  }

  /// Returns a view of the same memory, which is valid as long as this tensor.
  [[nodiscard]] StridedTensor4 view() const { return {first(), shape, strides()}; }
  /// Returns a dense copy in another type.
  template <class To = T>
  [[nodiscard]] Tensor4<To> dense() const {
    Tensor4<To> copy;
    copy.shape = shape;
    if (empty()) return copy;
    copy.data.resize(static_cast<std::size_t>(shape.size()));
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      for (std::int64_t h = 0; h < shape.head; ++h) copy_tokens(tokens(b, h), copy.row(b, h, 0));
    }
    return copy;
  }
  /// Returns the tensor for writing. A view first becomes a dense tensor of its own.
  [[nodiscard]] Tensor4<T>& owned() {
    if (is_view_) *this = dense();
    return *this;
  }

 private:
  bool is_view_ = false;
  const T* view_ = nullptr;
  Strides4 strides_ = {};

  [[nodiscard]] const T* first() const { return is_view_ ? view_ : this->data.data(); }
};

/// Returns a dense copy of one head of one batch element [1 × 1 × token × feature]. It is empty if
/// `all` is empty.
template <class T>
[[nodiscard]] Tensor4<T> head_of(const StridedTensor4<T>& all, std::int64_t batch,
                                 std::int64_t head) {
  return all.empty() ? Tensor4<T>() : tensor_of_tokens<T>(all.tokens(batch, head));
}

/// Returns a dense copy in another type.
template <class To, class From>
[[nodiscard]] Tensor4<To> convert(const StridedTensor4<From>& from) {
  return from.template dense<To>();
}

}  // namespace conelab
