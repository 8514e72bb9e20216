// Masks: which keys a query may attend to. One row of a table for each.
//
// Query i sits at key i' = i + n_k - n_q. Several masks of a call intersect. A row says which keys
// a query sees; it may also say outside which range of keys a query sees none, whether it sees all
// of that range, and where it sees few keys, which ones. From these the drivers derive what they
// need: tiles without pairs are skipped, tiles whose pairs are all seen take no mask, and where a
// query sees few keys, only those are computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

enum class Cover { none, partial, all };

/// Rows [query_begin, query_end) x columns [key_begin, key_end) of one batch element.
struct MaskTile {
  std::int64_t batch, query_begin, query_end, key_begin, key_end;
};

/// The neighbours of each token in a graph: those of token i are
/// neighbour[first[i]] ... neighbour[first[i + 1] - 1], ascending, each once, itself among them.
struct Neighbours {
  std::vector<std::int64_t> first;  ///< [n_q + 1]
  std::vector<std::int64_t> neighbour;
};

/// What masks read of a call.
struct MaskInput {
  std::int64_t query = 0;                    ///< n_q
  std::int64_t key = 0;                      ///< n_k
  const std::uint8_t* allowed = nullptr;     ///< [n_q x n_k] 1 = may attend, or null
  const std::int64_t* lengths = nullptr;     ///< [batch] keys that are not padding, or null
  std::span<const std::int64_t> edges = {};  ///< [m x 2] pairs (query, key); see `has_edges`
  bool has_edges = false;
};

/// What a mask reads besides its parameters.
enum class MaskOperand { none, lengths, allowed, edges };

/// What the functions of a row are given.
struct MaskContext {
  const MaskInput& input;
  const double* p;          ///< The mask's own parameters; a choice is the index of its word.
  const Neighbours* graph;  ///< For MaskOperand::edges.

  /// The key i' that a query sits at.
  [[nodiscard]] std::int64_t position(std::int64_t query) const {
    return query + input.key - input.query;
  }
};

/// Keys [begin, end); empty where end <= begin.
struct KeyRange {
  std::int64_t begin, end;
};

struct MaskRow {
  const char* name;
  const char* about;
  std::span<const ParameterInfo> parameters;
  MaskOperand operand;
  DefaultOf initial;  ///< Null where every default stands in `parameters`.
  /// Sets sees[c] to 1 where the query sees key key_begin + c, else to 0; for c < count.
  void (*sees)(const MaskContext& context, std::int64_t batch, std::int64_t query,
               std::int64_t key_begin, std::int64_t count, std::uint8_t* sees);
  /// The keys outside which a query sees none; null: all keys. Neither end may fall from a query to
  /// the next.
  KeyRange (*range)(const MaskContext& context, std::int64_t batch, std::int64_t query);
  bool whole_range;  ///< Whether a query sees every key of its range.
  /// Appends the keys that a query sees, ascending. Null unless they are few: the cost of a call
  /// follows their number.
  void (*list)(const MaskContext& context, std::int64_t query, std::vector<std::int64_t>& keys);
  /// The parameter that counts the keys seen through stopped pairs, through which no gradient flows
  /// to k and v: with 0 for it a query sees all others and none of these. -1: none are stopped.
  int stopped = -1;
};

[[nodiscard]] std::span<const MaskRow> mask_table();
/// The row of this name, or null.
[[nodiscard]] const MaskRow* find_mask(const std::string& name);

/// A mask of a call with its parameters.
struct MaskPart {
  const MaskRow* row;
  std::vector<double> p;
};

/// The intersection of some masks over one call's input. The input must outlive it.
class Mask {
 public:
  /// Throws misuse where a mask lacks what it reads, and a failure for an edge that names a token
  /// that is not there. With `check_operands` false such a mask admits every pair.
  Mask(std::vector<MaskPart> parts, MaskInput input, bool check_operands = true);

  /// What is known of a tile from ranges alone: `partial` may turn out to be none or all.
  [[nodiscard]] Cover cover(const MaskTile& tile) const;
  /// Whether a query may see a key.
  [[nodiscard]] bool admits(std::int64_t batch, std::int64_t query, std::int64_t key) const;
  /// The keys outside which a query sees none.
  [[nodiscard]] KeyRange range(std::int64_t batch, std::int64_t query) const;
  /// The part of all pairs of the first batch element that are seen, 0 to 1. Of long sequences
  /// evenly spaced queries are counted.
  [[nodiscard]] double share() const;
  /// Whether a query may see only some of the keys within its range.
  [[nodiscard]] bool has_holes() const;
  /// Sets sees[c] to 0 for the keys that masks with holes hide from a query, whatever the batch
  /// element, else to 1; for all n_k keys.
  void holes(std::int64_t query, std::uint8_t* sees) const;
  /// Sets sees[c] to 1 where the query sees key key_begin + c, else to 0; for c < count.
  void row(std::int64_t batch, std::int64_t query, std::int64_t key_begin, std::int64_t count,
           std::uint8_t* sees) const;
  /// Which pairs of a tile are seen: 1, else 0, into sees [rows x columns].
  void visible(const MaskTile& tile, std::uint8_t* sees) const;
  /// Whether queries see so few keys that these are listed.
  [[nodiscard]] bool is_sparse() const { return sparse_ != nullptr; }
  /// The keys that a query sees, ascending; for sparse masks.
  [[nodiscard]] std::vector<std::int64_t> keys(std::int64_t batch, std::int64_t query) const;

 private:
  struct Part {
    MaskPart mask;
    std::shared_ptr<const Neighbours> graph;
  };
  std::vector<Part> parts_;
  MaskInput input_;
  const Part* sparse_ = nullptr;  ///< The first mask that lists keys.

  [[nodiscard]] MaskContext context(const Part& part) const {
    return {input_, part.mask.p.data(), part.graph.get()};
  }
  [[nodiscard]] KeyRange range_of(const Part& part, std::int64_t batch, std::int64_t query) const;
  [[nodiscard]] Cover cover_of(const Part& part, const MaskTile& tile) const;
};

}  // namespace conelab
