// Maps from tokens to tokens: projections and positions, which come before a similarity, and maps
// of values, which come before they are aggregated. One row of a table for each.
//
// A row may append columns. It maps a block of tokens, and takes a gradient of the mapped tokens
// back to the tokens and to the row's parameters. Blocks are row-major in float or double.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/parameter.h"

namespace conelab {

/// Tokens [count x columns] that follow each other in one head.
template <class T>
struct TokenBlock {
  const T* x;
  std::int64_t count, columns;
  /// Of the first token. Keys sit at j, queries at i + n_k - n_q, which is negative for the first
  /// ones where n_q > n_k.
  std::int64_t position;
  bool is_query;             ///< Or keys.
  const PartValues& values;  ///< The row's parameters for this head.
};

template <class T>
struct TokenMapFunctions {
  /// Sets out [count x mapped columns].
  void (*value)(const TokenBlock<T>& block, T* out);
  /// Sets dx [count x columns] from dL/dout `upstream`, and adds dL/dparameters to `gradient`.
  void (*pullback)(const TokenBlock<T>& block, const T* upstream, T* dx, PartValues& gradient);
};

struct TokenMapRow {
  const char* name;
  const char* about;
  std::span<const ParameterInfo> parameters = {};
  bool is_position = false;  ///< Whether `--position` names it.
  bool is_added = false;     ///< Of a position: whether it comes before all other maps.
  bool maps_query = false, maps_key = false;
  bool maps_value = false;  ///< Whether it maps values; it then maps nothing else.
  /// Whether it makes the operands of one formula, which no position may change: it comes last.
  bool makes_operands = false;
  /// Whether it takes the place of the bias; its parameters are those of the bias, then the scale.
  bool replaces_bias = false;
  /// Null, or what is wrong with tokens (or values) of so many columns.
  const char* (*refuses)(std::int64_t columns) = [](std::int64_t) -> const
      char* { return nullptr; };
  /// The columns of mapped tokens, from those of the tokens and the row's own parameters.
  std::int64_t (*columns)(std::int64_t columns, std::span<const Parameter> own) =
      [](std::int64_t same, std::span<const Parameter>) { return same; };
  /// Null, or throws misuse where a mapped number exceeds `largest`: for tokens at positions
  /// [begin, end).
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
/// The projections of queries, keys and values by the tensors P_query, P_key and P_value, in this
/// order. Each comes before all other maps of its tokens, positions that are added excepted, and is
/// there where its tensor is.
[[nodiscard]] std::span<const TokenMapRow> token_projections();
/// What follows the sums of values, see Plan::joins_heads. All heads share it.
inline constexpr ParameterInfo output_projection{
    "P_output",
    0,
    Domain::tensor,
    true,
    "projection of the heads' outputs, which it joins to one",
    "",
    "d_o,head*d_v"};
/// The row of this name in `token_map_table`, or null.
[[nodiscard]] const TokenMapRow* find_token_map(const std::string& name);

}  // namespace conelab
