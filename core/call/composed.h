// Similarities that consist of a map of tokens and a similarity of the table.
//
//   multiplicative   q^T W k = (W^T q).k               Luong et al.; GeometricMachineLearning
//   additive         v_a.tanh(W q + U k)               Bahdanau et al.
//   gat              LeakyReLU(a_1.W q + a_2.W k)      Velickovic et al.
//   relation         0 = 0 q.k                         relation networks, with the weights exp
//
// Operators that consist of a similarity and a mask.
//
//   transformer-xl   dot, segment            Dai et al., section 3.2
#pragma once

#include <span>
#include <string>

#include "core/base/names.h"

namespace conelab {

struct ComposedSimilarity {
  const char* name;
  const char* about;
  const char* paper;
  /// The similarity of the table for the mapped tokens. If it serves only this map, it has the same
  /// name and is not listed by itself.
  const char* similarity;
  const char* token_map;  ///< A name of core/token/token_map.h. Empty: tokens are not mapped.
  /// The parameter of `similarity` that is fixed, and its value. Empty: none is.
  const char* fixed = "";
  double value = 0;
};

inline constexpr ComposedSimilarity composed_table[] = {
    {"multiplicative", "q^T W k", "Luong et al., section 3.1; GeometricMachineLearning", "dot",
     "bilinear", "scale", 1.0},
    {"additive", "v_a.tanh(W q + U k)", "Bahdanau et al., appendix A.1.2", "additive", "additive"},
    {"gat", "LeakyReLU(a_1.W q + a_2.W k), LeakyReLU(x) = x for x > 0, slope x otherwise",
     "Velickovic et al. eq. 3", "gat", "gat"},
    {"relation", "0, all pairs alike", "Santoro et al. eq. 1, with the weights exp", "dot", "",
     "scale", 0.0}};

struct NamedOperator {
  const char* name;
  const char* about;
  const char* paper;
  const char* cost;  ///< How its time grows with n: "n".
  const char* similarity;
  const char* mask;
};

inline constexpr NamedOperator named_operators[] = {
    {"transformer-xl", "dot with the mask segment: segments that see a memory of earlier keys",
     "Transformer-XL, section 3.2", "n", "dot", "segment"}};

/// Returns the row with this name, or null.
[[nodiscard]] inline const NamedOperator* find_named_operator(const std::string& name) {
  return find_named(named_operators, name);
}

[[nodiscard]] inline std::span<const ComposedSimilarity> composed_similarities() {
  return composed_table;
}
/// Returns the row with this name, or null.
[[nodiscard]] inline const ComposedSimilarity* find_composed(const std::string& name) {
  return find_named(composed_table, name);
}
/// Returns whether a similarity is a formula of tokens that its map has made of q and k.
[[nodiscard]] inline bool maps_tokens(const std::string& similarity) {
  const ComposedSimilarity* composed = find_composed(similarity);
  return composed != nullptr && *composed->token_map != 0;
}

}  // namespace conelab
