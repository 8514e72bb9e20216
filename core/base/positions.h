// Says where the tokens of a call lie in the sequences that they are taken from.
//
// By default a call has all tokens of its sequences. A call may also have consecutive ones: a slice
// of the keys, whose results `merge_rows` (core/tiles/merge_rows.h) joins with those of the others,
// or a block of the queries. Biases, masks and positions then see each pair where the whole
// sequences have it.
#pragma once

#include <cstdint>

namespace conelab {

struct Positions {
  std::int64_t first_query = 0, first_key = 0;  ///< Where the slices begin in the sequences.
  /// Tokens of the whole sequences. A negative number stands for the end of the slice.
  std::int64_t all_queries = -1, all_keys = -1;

  bool operator==(const Positions&) const = default;
};

/// The positions of the n_q queries and n_k keys of a call. Positions are counted along the whole
/// sequence of keys; the sequences are aligned at their ends.
struct Slice {
  std::int64_t first_query = 0, first_key = 0;
  std::int64_t all_queries = 0, all_keys = 0;

  Slice() = default;
  Slice(const Positions& p, std::int64_t query, std::int64_t key)
      : first_query(p.first_query),
        first_key(p.first_key),
        all_queries(p.all_queries < 0 ? p.first_query + query : p.all_queries),
        all_keys(p.all_keys < 0 ? p.first_key + key : p.all_keys) {}

  /// Returns the position i' of query i of the call. It is negative for the first queries of a
  /// sequence that is longer than that of the keys.
  [[nodiscard]] std::int64_t of_query(std::int64_t i) const {
    return first_query + i + all_keys - all_queries;
  }
  /// Returns the position of key j of the call.
  [[nodiscard]] std::int64_t of_key(std::int64_t j) const { return first_key + j; }
  /// Returns the offset j - i' of a pair of the call.
  [[nodiscard]] std::int64_t offset(std::int64_t i, std::int64_t j) const {
    return of_key(j) - of_query(i);
  }
};

}  // namespace conelab
