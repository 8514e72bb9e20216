// Dense tensors [batch × head × token × feature], row-major.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

/// The number types of tensors, in files and in memory.
enum class Dtype { f64, f32, f16, bf16 };

/// Returns "f64", "f32", "f16" or "bf16".
[[nodiscard]] const char* dtype_name(Dtype dtype);
/// Returns the type of this name, or of a name that other programs give it: "float32", "f4", ...
/// Throws misuse for an unknown name; the message lists the names.
[[nodiscard]] Dtype dtype_from_name(const std::string& name);
/// Returns the size of one number in bytes.
[[nodiscard]] std::size_t dtype_size(Dtype dtype);

/// The extents of a tensor [batch × head × token × feature].
struct Shape4 {
  std::int64_t batch = 1;
  std::int64_t head = 1;
  std::int64_t token = 0;
  std::int64_t feature = 0;

  [[nodiscard]] std::int64_t size() const { return batch * head * token * feature; }
  bool operator==(const Shape4&) const = default;
};

/// Returns which of the `own` heads of k or v serves head h of `all` heads of q: consecutive heads
/// share one. `all` is a multiple of `own`.
[[nodiscard]] constexpr std::int64_t shared_head(std::int64_t h, std::int64_t own,
                                                 std::int64_t all) {
  return h * own / all;
}

/// Returns the extents as text: "[1, 12, 30, 32]".
[[nodiscard]] inline std::string to_string(const Shape4& s) {
  return fmt::format("[{}, {}, {}, {}]", s.batch, s.head, s.token, s.feature);
}

/// Consecutive tokens of one head: rows of contiguous numbers that lie `stride` numbers apart. T is
/// const where the tokens are only read.
template <class T>
struct TokenRows {
  T* data = nullptr;  ///< The first token.
  std::int64_t count = 0;
  std::int64_t columns = 0;  ///< Numbers of a token.
  std::int64_t stride = 0;   ///< Numbers from one token to the next; 0: all tokens are the same.

  [[nodiscard]] T* row(std::int64_t i) const { return data + i * stride; }
  /// Returns `size` tokens from token `first` on.
  [[nodiscard]] TokenRows part(std::int64_t first, std::int64_t size) const {
    return {row(first), size, columns, stride};
  }
};

/// Writes tokens, in another type, to out [count × columns], which is dense.
template <class From, class To>
void copy_tokens(const TokenRows<const From>& from, To* out) {
  for (std::int64_t i = 0; i < from.count; ++i, out += from.columns) {
    std::transform(from.row(i), from.row(i) + from.columns, out,
                   [](const From& x) { return static_cast<To>(x); });
  }
}

/// A dense tensor that owns its numbers; row-major, the last axis is contiguous.
template <class T>
struct Tensor4 {
  Shape4 shape;
  std::vector<T> data;

  Tensor4() = default;
  explicit Tensor4(Shape4 s, T fill = T(0))
      : shape(s), data(static_cast<std::size_t>(s.size()), fill) {}

  /// Returns the features of token `i` of batch element b and head h: [feature].
  [[nodiscard]] T* row(std::int64_t b, std::int64_t h, std::int64_t i) {
    return data.data() + ((b * shape.head + h) * shape.token + i) * shape.feature;
  }
  [[nodiscard]] const T* row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return data.data() + ((b * shape.head + h) * shape.token + i) * shape.feature;
  }
  [[nodiscard]] T& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) {
    return row(b, h, i)[c];
  }
  [[nodiscard]] const T& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) const {
    return row(b, h, i)[c];
  }
  /// Returns the tokens of one head of one batch element.
  [[nodiscard]] TokenRows<T> tokens(std::int64_t b, std::int64_t h) {
    return {row(b, h, 0), shape.token, shape.feature, shape.feature};
  }
  [[nodiscard]] TokenRows<const T> tokens(std::int64_t b, std::int64_t h) const {
    return {row(b, h, 0), shape.token, shape.feature, shape.feature};
  }
  [[nodiscard]] bool empty() const { return data.empty(); }
};

/// Returns a copy of tokens as a tensor [1 × 1 × count × columns] of another type.
template <class To, class From>
[[nodiscard]] Tensor4<To> tensor_of_tokens(const TokenRows<const From>& tokens) {
  Tensor4<To> copy({1, 1, tokens.count, tokens.columns});
  copy_tokens(tokens, copy.data.data());
  return copy;
}

/// Returns a copy of one head of one batch element [1 × 1 × token × feature]. It is empty if `all`
/// is empty.
template <class T>
[[nodiscard]] Tensor4<T> head_of(const Tensor4<T>& all, std::int64_t batch, std::int64_t head) {
  return all.empty() ? Tensor4<T>() : tensor_of_tokens<T>(all.tokens(batch, head));
}

/// A dense array of any rank that owns its numbers, row-major. Parameters that are tensors have
/// this type.
template <class T>
struct Array {
  std::vector<std::int64_t> extents;
  std::vector<T> data;

  /// Returns the numbers of one head, where `rank` axes follow the axis of heads. If there is no
  /// such axis, all heads share the array.
  [[nodiscard]] const T* of_head(std::int64_t head, std::size_t rank) const {
    if (extents.size() <= rank) return data.data();
    return data.data() + head * (static_cast<std::int64_t>(data.size()) / extents.front());
  }
  [[nodiscard]] T* of_head(std::int64_t head, std::size_t rank) {
    return const_cast<T*>(static_cast<const Array&>(*this).of_head(head, rank));
  }
  bool operator==(const Array&) const = default;
};

/// Return the same numbers in another type.
template <class To, class From>
[[nodiscard]] Tensor4<To> convert(const Tensor4<From>& from) {
  Tensor4<To> to;
  to.shape = from.shape;
  to.data.reserve(from.data.size());
  for (const From& x : from.data) to.data.push_back(static_cast<To>(x));
  return to;
}

template <class To, class From>
[[nodiscard]] Array<To> convert(const Array<From>& from) {
  Array<To> to;
  to.extents = from.extents;
  to.data.reserve(from.data.size());
  for (const From& x : from.data) to.data.push_back(static_cast<To>(x));
  return to;
}

// The axes of tensor parameters. A name in ParameterInfo::shape means the same in every tensor of
// every part; a new name is one row of the table.

/// The size of an axis of a drawn tensor if nothing else determines it and the row has no other.
inline constexpr std::int64_t usual_drawn_size = 8;

struct TensorAxis {
  const char* name;   ///< "f". The shapes "2f" and "2f+1" contain it.
  const char* about;  ///< What the axis counts.
  /// Returns its size in a drawn tensor if nothing else determines it. Null: `usual_drawn_size`.
  std::int64_t (*drawn_size)(const DefaultContext& context) = nullptr;
};

[[nodiscard]] std::span<const TensorAxis> tensor_axis_table();

/// Returns whether a tensor has a number for each pair of each head, [batch x head x n_q x n_k]:
/// its shape is "..,n_q,n_k". Leading axes may be absent, and any axis may have the size 1.
[[nodiscard]] bool is_of_pairs(const ParameterInfo& info);

/// Returns whether a tensor is declared with an axis of the table.
[[nodiscard]] bool has_axis(const ParameterInfo& info, const TensorAxis& axis);

/// Adds to `sizes` those of axes that it does not contain and whose rows tell their drawn size.
[[nodiscard]] NamedSizes with_drawn_sizes(NamedSizes sizes, const DefaultContext& context);

}  // namespace conelab
