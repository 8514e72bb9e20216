// Numbers that tell the attention heads of a model apart, from the weights w_ij of one head.
//
// Query i has the position i + n_k − n_q among the keys, as for position biases. With the shares
// p_ij = w_ij / Σ_j w_ij of a row:
//   entropy   the mean over queries of −Σ_j p_ij ln p_ij, in nats
//   distance  Σ w_ij |position(i) − j| / Σ w_ij, in tokens
//   earlier   the share of the weight on keys before the position of their query
//   special   the share of the weight on special tokens, such as [CLS]
//   separator the share of the weight on separators of texts, such as [SEP], to which heads attend
//             if they have nothing to add (K. Clark et al., What Does BERT Look At?, 2019)
//   boundary  the least relative crossing of a boundary (segmentation.h): 1 for uniform attention,
//             0 if two parts of the text do not attend to each other
//   order     the share of the weight on ancestors of the query's token (order.h)
// A share is that of all weights of the head, Σ w_ij.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/operators/operator.h"
#include "core/tree/segmentation.h"

namespace conelab::tree {

/// A score is NaN if it does not exist (see HeadScorer), or if a weight is not finite or below 0.
struct HeadScores {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double entropy = none, distance = none, earlier = none;
  double special = none, separator = none, boundary = none, order = none;
};

/// A score as it is named, explained and found.
struct HeadScoreInfo {
  const char* name;
  const char* about;
  double HeadScores::*member;
};
inline constexpr HeadScoreInfo head_score_table[] = {
    {"entropy", "mean entropy of the rows, in nats", &HeadScores::entropy},
    {"distance", "mean distance of query and key, in tokens", &HeadScores::distance},
    {"earlier", "share of the weight on earlier tokens", &HeadScores::earlier},
    {"special", "share of the weight on special tokens; without any, on the first and the last",
     &HeadScores::special},
    {"separator", "share of the weight on separators such as [SEP]", &HeadScores::separator},
    {"boundary", "least crossing of a boundary, relative to uniform attention",
     &HeadScores::boundary},
    {"order", "share of the weight on ancestors (cone families)", &HeadScores::order},
};

/// The names of that table.
inline constexpr auto head_score_names = [] {
  std::array<const char*, std::size(head_score_table)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = head_score_table[i].name;
  return names;
}();

/// Returns a score in at most five letters: "0.12", "2.31", "41.8"; "–" if there is none.
[[nodiscard]] std::string score_text(double score);

/// The marks of special tokens; others have 0.
inline constexpr std::uint8_t special_mark = 1, separator_mark = 2;

/// Computes the scores of a head whose rows arrive one after the other.
class HeadScorer {
 public:
  /// `special` [keys] marks special tokens, and separators among them. Without separators there is
  /// no `separator`. `ancestor` [keys × keys] is the relation of order.h;
  /// if it is empty, there is no `order`. If there are not as many queries as keys, there are
  /// neither `boundary` nor `order`.
  HeadScorer(std::size_t queries, std::size_t keys, std::vector<std::uint8_t> special,
             std::vector<std::uint8_t> ancestor = {});

  /// Adds the next `count` rows of weights [count × keys]. −∞ marks pairs outside the mask.
  void add_rows(const float* weights, std::size_t count);
  /// Returns the scores of all rows.
  [[nodiscard]] HeadScores scores() const;

 private:
  void add_row(const float* weights);

  std::size_t queries_, keys_;
  std::vector<std::uint8_t> special_, ancestor_, allowed_;
  std::vector<double> row_;
  std::size_t done_ = 0, rows_with_weight_ = 0;
  bool known_ = true;
  double total_ = 0, entropy_ = 0, distance_ = 0, earlier_ = 0, on_special_ = 0, on_ancestors_ = 0;
  double on_separators_ = 0;
  std::optional<SegmentationSums> segmentation_;
};

// Holds what the scores of a head (head_scores.h) read beside its weights: which tokens are
// special, and which are ancestors of which.

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
