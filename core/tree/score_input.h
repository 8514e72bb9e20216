// What the scores of a head (head_scores.h) read beside its weights: which tokens are special, and
// which are ancestors of which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/operators/operator.h"

namespace conelab::tree {

/// Returns whether a token stands for no text: "[CLS]", "<s>", "</s>", "<pad>", "<|endoftext|>".
/// Tokens for unknown text ("[UNK]") and for bytes ("<0x0A>") do stand for text.
[[nodiscard]] bool is_special_token(const std::string& token);

/// Returns the marks (head_scores.h) of the first `count` tokens. If none of them is special, the
/// first and the last token are marked as special.
[[nodiscard]] std::vector<std::uint8_t> special_tokens(const std::vector<std::string>& tokens,
                                                       std::size_t count);

/// The most tokens whose order is computed: more take too long for every head of a model.
inline constexpr std::int64_t most_ordered = 1024;
/// Returns the ancestor relation of the keys of one head [1 x 1 x n x d] under a call (order.h). It
/// is empty if the operator has none, if there are too many tokens or not as many queries as keys,
/// and if a token lies outside the domain of its cones.
[[nodiscard]] std::vector<std::uint8_t> key_ancestors(const Call& call_of_head,
                                                      const AttentionInput<double>& input);

}  // namespace conelab::tree
