// Matrices of words and matrices without special tokens, made from those of tokens.
#pragma once

#include <functional>
#include <memory>

#include "core/trace/matrix_source.h"
#include "widgets/maps/map_tokens.h"

namespace conelab::desktop {

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

}  // namespace conelab::desktop
