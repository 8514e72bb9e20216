// The tokens of both sides of an attention map as they are shown: each token by itself, or words
// whose pieces are merged; and which of them are special.
//
// A cell of the map belongs to one query token or word and one key token or word. Pairs of tokens,
// which all views share (Focus), are converted to cells and back here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/matrix_source.h"
#include "core/trace/trace.h"
#include "core/tree/head_scores.h"
#include "widgets/session/document.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

/// Returns whether each token begins a word. Pieces are recognised by the sign of their tokenizer:
/// "##" before a piece that continues a word, or "▁", "Ġ" or a space before a piece that begins
/// one. Without such signs every token is a word. Special tokens are always words; so is
/// punctuation where the sign is at the beginning of words.
[[nodiscard]] std::vector<bool> begins_word(const std::vector<std::string>& tokens);

/// Returns a piece without the sign of its tokenizer.
[[nodiscard]] std::string without_sign(const std::string& piece);

/// The rows or the columns of a map.
struct MapAxis {
  std::string name;                 ///< What a token of it is: "query"; of gradients "feature".
  std::vector<std::string> label;   ///< [cells] Empty: cells have their numbers.
  std::vector<std::int64_t> first;  ///< [cells + 1] The first token of each; at last their number.
  std::vector<std::uint8_t> special;  ///< [cells] 1 for special tokens.

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(special.size()); }
  [[nodiscard]] std::int64_t tokens() const { return first.empty() ? 0 : first.back(); }
  [[nodiscard]] bool merged() const { return size() != tokens(); }
  /// Returns the cell of a token, which must exist.
  [[nodiscard]] std::int64_t cell_of(std::int64_t token) const;
  [[nodiscard]] std::string label_of(std::int64_t cell) const;
  /// Returns what a cell is: "query 4 “dog”", of a word of three pieces "query 4–6 “doghouse”",
  /// without a text "feature 4".
  [[nodiscard]] std::string text_of(std::int64_t cell) const;
  /// Returns the number of the first token and the text of a cell: "4 “dog”".
  [[nodiscard]] std::string brief_of(std::int64_t cell) const;
};
/// `count` tokens with these texts (or none). If `merge` is true, words become one cell each.
[[nodiscard]] MapAxis map_axis(const char* name, const std::vector<std::string>& tokens,
                               std::int64_t count, bool merge);

struct MapTokens {
  MapAxis query, key;
  bool excludes = false;  ///< Whether special tokens have no part in limits and summaries.

  [[nodiscard]] bool has_special() const;
  /// Returns the cell of a pair of tokens. Absent if there is no such pair.
  [[nodiscard]] std::optional<Focus> cell_of(const std::optional<Focus>& pair) const;
  /// Returns the pair of the first tokens of a cell.
  [[nodiscard]] Focus pair_of(const Focus& cell) const;
};

/// Return what the layout shows: only maps and their table merge words; these and all
/// heads exclude tokens.
[[nodiscard]] bool merges_words(const MapChoice& choice);
[[nodiscard]] bool excludes_special(const MapChoice& choice);
[[nodiscard]] MapTokens map_tokens(const Trace& trace, std::int64_t batch, const MapChoice& choice);

/// What maps show in the session: its choice for a trace; for a stored map, which has no other
/// operators, the one operator that computed it, without a reference.
[[nodiscard]] MapChoice shown_maps(const MapChoice& choice, const Trace* trace);

// Matrices of words and matrices without special tokens, made from those of tokens.

/// Returns the matrix of words. A weight is the mean over the pieces of the query of the sum over
/// the pieces of the key, so that rows still sum to one; a logit is the mean over the pairs of
/// pieces. Masked pairs count as zero weight; a cell is masked if all its pairs are. The axes must
/// have as many tokens as the source has rows and columns. Returns the source itself if no word has
/// several pieces.
[[nodiscard]] std::shared_ptr<MatrixSource> merged_source(std::shared_ptr<MatrixSource> source,
                                                          const MapTokens& tokens);

/// Returns the matrix with the rows and columns of special tokens masked, so that they have no part
/// in limits and summaries. Exact values remain those of the source. Returns the source itself if
/// there are none.
[[nodiscard]] std::shared_ptr<MatrixSource> excluding_source(std::shared_ptr<MatrixSource> source,
                                                             const MapTokens& tokens);

using SourceOfCall = std::function<std::shared_ptr<MatrixSource>(const Call&)>;
/// Returns the matrix of a call, minus that of the reference if there is one, minus the same of
/// `subtracted` if that is given; each of the words and without the special tokens that `tokens`
/// says.
[[nodiscard]] std::shared_ptr<MatrixSource> shown_source(const SourceOfCall& of,
                                                         const SourceOfCall& subtracted,
                                                         const Call& call, const Call* reference,
                                                         const MapTokens* tokens);

/// Handles a click on a pair, or on none.
void lock_pair(Document& document, const std::optional<Focus>& pair);

}  // namespace conelab::desktop
