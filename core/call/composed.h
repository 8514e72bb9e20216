// Similarities that are a map of tokens followed by a similarity of the table: they need no kernel.
//
//   multiplicative   q^T W k = (W^T q).k     Luong et al.; GeometricMachineLearning
//
// Operators that are a name for a similarity with a mask.
//
//   transformer-xl   dot, segment            Dai et al., section 3.2
#pragma once

#include <span>
#include <string>

namespace conelab {

struct ComposedSimilarity {
  const char* name;
  const char* about;
  const char* similarity;  ///< What runs on the mapped tokens.
  const char* token_map;   ///< core/token/token_map.h
  /// The one parameter of `similarity` that is fixed, and its value.
  const char* fixed;
  double value;
};

inline constexpr ComposedSimilarity composed_table[] = {
    {"multiplicative", "q^T W k (Luong et al.; GeometricMachineLearning)", "dot", "bilinear",
     "scale", 1.0}};

struct NamedOperator {
  const char* name;
  const char* about;
  const char* cost;  ///< In n.
  const char* similarity;
  const char* mask;
};

inline constexpr NamedOperator named_operators[] = {
    {"transformer-xl",
     "dot with the mask segment: segments that see a memory of earlier keys (Transformer-XL)", "n",
     "dot", "segment"}};

/// The row of this name, or null.
[[nodiscard]] inline const NamedOperator* find_named_operator(const std::string& name) {
  for (const NamedOperator& row : named_operators) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

[[nodiscard]] inline std::span<const ComposedSimilarity> composed_similarities() {
  return composed_table;
}
/// The row of this name, or null.
[[nodiscard]] inline const ComposedSimilarity* find_composed(const std::string& name) {
  for (const ComposedSimilarity& row : composed_table) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

}  // namespace conelab
