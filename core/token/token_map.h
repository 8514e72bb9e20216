// The table of maps from tokens to tokens: projections and positions, which precede the similarity,
// and maps of values, which precede the aggregation.
//
// A row maps a block of tokens, to which it may append columns, and takes the gradient of the
// mapped tokens back to the tokens and to its parameters, in float or double.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/parameter.h"
#include "core/base/tensor.h"

namespace conelab {

/// Consecutive tokens of one head.
template <class T>
struct TokenBlock {
  TokenRows<const T> x;
  /// Position of the first token. Keys are at j, queries at i + n_k - n_q, which is negative for
  /// the first queries if n_q > n_k. See core/base/positions.h.
  std::int64_t position;
  std::int64_t all_keys;     ///< The number of keys of the whole sequence.
  bool is_query;             ///< Whether the tokens are queries; otherwise they are keys or values.
  const PartValues& values;  ///< Numbers of the row for this head, also those of several axes.
  /// [parameter] The numbers of a tensor for this head, in memory of the input; empty for others.
  std::span<const std::span<const T>> tensors;
};

template <class T>
struct TokenMapFunctions {
  /// Sets out [count x mapped columns], row-major and dense.
  void (*value)(const TokenBlock<T>& block, T* out);
  /// Sets dx [count x columns], given upstream = dL/d(out), both as `out`, and adds
  /// dL/d(parameters) to `gradient`.
  void (*pullback)(const TokenBlock<T>& block, const T* upstream, T* dx, PartValues& gradient);
};

struct TokenMapRow {
  const char* name;
  const char* about;       ///< The formula in one line.
  const char* paper = "";  ///< The paper and the equation; empty if there is none.
  std::span<const ParameterInfo> parameters = {};
  bool is_position = false;  ///< Whether `--position` names it.
  bool is_added = false;     ///< Whether it is a position that precedes all other maps.
  bool maps_query = false, maps_key = false;
  bool maps_value = false;  ///< Whether it maps values; it then maps nothing else.
  /// Says whether it replaces the bias. Its parameters are those of the bias, followed by the
  /// scale.
  bool replaces_bias = false;
  /// Returns null, or text that says why tokens (or values) with this number of columns are
  /// refused.
  const char* (*refuses)(std::int64_t columns) = [](std::int64_t) -> const
      char* { return nullptr; };
  /// Returns the number of columns of mapped tokens, given that of the tokens and the row's
  /// parameters.
  std::int64_t (*columns)(std::int64_t columns, std::span<const Parameter> own) =
      [](std::int64_t same, std::span<const Parameter>) { return same; };
  /// Throws misuse if a mapped number exceeds `largest` for tokens at positions [begin, end). May
  /// be null.
  void (*check)(const PartValues& values, std::int64_t begin, std::int64_t end,
                double largest) = nullptr;
  TokenMapFunctions<float> f32;
  TokenMapFunctions<double> f64;

  template <class T>
  [[nodiscard]] const TokenMapFunctions<T>& functions() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return f32;
    } else {
      return f64;
    }
  }
};

[[nodiscard]] std::span<const TokenMapRow> token_map_table();
/// Returns the projections of queries, keys and values by the tensors P_query, P_key and P_value,
/// in this order. Each applies if its tensor is given. It precedes all other maps of its tokens,
/// except positions that are added.
[[nodiscard]] std::span<const TokenMapRow> token_projections();
/// The projection of the joined outputs of all heads (Plan::joins_heads).
inline constexpr ParameterInfo output_projection{
    "P_output",
    0,
    Domain::tensor,
    true,
    "projection of the heads' outputs, which it joins to one",
    "",
    "d_o,head*d_v"};
/// Returns the row of `token_map_table` with this name, or null.
[[nodiscard]] const TokenMapRow* find_token_map(const std::string& name);

}  // namespace conelab
