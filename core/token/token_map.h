// Maps from tokens to tokens that come before a similarity: projections and positions. One row of a
// table for each.
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
  bool is_query;
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
  std::span<const ParameterInfo> parameters;
  bool is_position;  ///< Whether `--position` names it.
  bool is_added;     ///< Of a position: whether it comes before all other maps.
  bool maps_query, maps_key;
  /// Null, or what is wrong with tokens of so many columns.
  const char* (*refuses)(std::int64_t columns);
  /// Columns that the row appends; null: none.
  std::int64_t (*appends)(const PartValues& values);
  /// Null, or throws misuse where a mapped number exceeds `largest`: for tokens at positions
  /// [begin, end).
  void (*check)(const PartValues& values, std::int64_t begin, std::int64_t end, double largest);
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
/// The row of this name, or null.
[[nodiscard]] const TokenMapRow* find_token_map(const std::string& name);

}  // namespace conelab
