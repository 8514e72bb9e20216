// The rows of the tokens of a call that a rank has, and their way to other ranks.
#pragma once

#include <functional>
#include <vector>

#include "core/base/ranks.h"
#include "core/base/rows.h"
#include "core/call/input.h"

namespace conelab {

/// Returns an input with copies of the rows of one rank alone.
template <class T>
[[nodiscard]] AttentionInput<T> rows_of_rank(const AttentionInput<T>& all, int rank, int ranks);

/// Moves the tokens out of an input that has the rows of one rank, and leaves their sizes in the
/// whole sequences, without memory.
template <class T>
[[nodiscard]] AttentionInput<T> take_rows(AttentionInput<T>& input, std::int64_t queries,
                                          std::int64_t keys);

/// The runs of a sequence's tokens that a rank has, in ascending order.
using Layout = std::function<std::vector<Rows>(int rank)>;

/// Returns the number of tokens in runs.
[[nodiscard]] std::int64_t tokens_in(const std::vector<Rows>& runs);

/// Sends the rows of a tensor [batch × head × own tokens × columns] from one layout to another.
/// Returns those that this rank has then. All ranks must call it.
template <class T>
[[nodiscard]] Tensor4<T> exchange(Ranks& ranks, const StridedTensor4<T>& own, const Layout& from,
                                  const Layout& to, const std::function<bool()>& cancelled);

}  // namespace conelab
