// The table of masks, which say which keys a query may attend to.
//
// Query i is at the position of key i' = i + n_k - n_q. Several masks of a call intersect. A row
// says which keys a query sees, by a function or as a range. A function may be accompanied by a
// range outside which a query sees no key, and by a list of the keys if there are few. The drivers
// use this to skip tiles without pairs, to apply no mask to tiles whose pairs are all seen, and to
// compute only the listed keys.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/base/positions.h"
#include "core/base/tensor.h"

namespace conelab {

enum class Cover { none, partial, all };

/// Rows [query_begin, query_end) x columns [key_begin, key_end) of one element, which is batch *
/// heads + head.
struct MaskTile {
  std::int64_t element, query_begin, query_end, key_begin, key_end;
};

/// The neighbours of each query of the whole sequence in a graph. Those of token i are
/// neighbour[first[i]] ... neighbour[first[i + 1] - 1], in ascending order, without repetition,
/// with the token itself.
struct Neighbours {
  std::vector<std::int64_t> first;  ///< [queries of the sequence + 1]
  std::vector<std::int64_t> neighbour;
};

struct MaskInput;

/// Keeps the lists of neighbours of a graph, so that all masks over the same edges share them.
/// Several threads may use an object.
class GraphLists {
 public:
  /// Returns the lists of the input's edges. They are made if those that are kept belong to other
  /// edges or sizes. Throws a failure if an edge names a token that does not exist.
  [[nodiscard]] std::shared_ptr<const Neighbours> of(const MaskInput& input, bool directed);
  /// Returns how often lists were made.
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> edges_;
  std::vector<std::int64_t> sizes_;  ///< Queries and keys of the sequences, and `directed`.
  std::shared_ptr<const Neighbours> lists_;
  std::int64_t made_ = 0;
};

/// Holds what masks read of a call's input.
struct MaskInput {
  std::int64_t query = 0;  ///< n_q
  std::int64_t key = 0;    ///< n_k
  Slice slice = {};        ///< Where these tokens lie in their sequences.
  /// 1: the query may attend to the key, in the sizes `allowed_sizes`. Null: not given.
  const std::uint8_t* allowed = nullptr;
  /// [batch] Number of keys that are not padding. Null: not given.
  const std::int64_t* lengths = nullptr;
  /// [m x 2] Pairs (query, key), given if has_edges is true.
  std::span<const std::int64_t> edges = {};
  bool has_edges = false;
  std::int64_t heads = 1;       ///< Heads of a batch element.
  Shape4 allowed_sizes = {};    ///< [1 or batch x 1 or heads x 1 or n_q x 1 or n_k]
  GraphLists* graph = nullptr;  ///< Where lists of `edges` are kept. Null: nowhere.
};

/// Holds what a mask reads besides its parameters.
enum class MaskOperand { none, lengths, allowed, edges };

/// The arguments of a row's functions, which name queries and keys by their numbers in the whole
/// sequences.
struct MaskContext {
  const MaskInput& input;
  const double* p;          ///< Parameters of the mask; a choice is the index of its word.
  const Neighbours* graph;  ///< Set for MaskOperand::edges, otherwise null.
  /// [parameter] The numbers of those that are tensors, for the element's head. Null without any.
  const std::vector<double>* tensor = nullptr;

  /// Returns i', the position of a query.
  [[nodiscard]] std::int64_t position(std::int64_t query) const {
    return query + input.slice.all_keys - input.slice.all_queries;
  }
};

/// Keys [begin, end), none if end <= begin.
struct KeyRange {
  std::int64_t begin, end;
};

struct MaskRow {
  const char* name;
  const char* about;            ///< The formula in one line.
  const char* paper = "";       ///< The paper and the equation; empty if there is none.
  const char* conditions = "";  ///< What it combines with only in part, for `conelab list`.
  std::span<const ParameterInfo> parameters = {};
  MaskOperand operand = MaskOperand::none;
  DefaultOf initial = nullptr;  ///< Null if `parameters` contains every default.
  /// Sets sees[c] to 1 if the query sees key key_begin + c, otherwise to 0, for all c < count. Null
  /// if whole_range is set.
  void (*sees)(const MaskContext& context, std::int64_t element, std::int64_t query,
               std::int64_t key_begin, std::int64_t count, std::uint8_t* sees) = nullptr;
  /// Returns the keys outside which a query sees none. Neither end may decrease from a query to the
  /// next. Null: all keys.
  KeyRange (*range)(const MaskContext& context, std::int64_t element, std::int64_t query) = nullptr;
  bool whole_range = false;  ///< Whether a query sees every key of its range.
  /// Appends the keys that a query sees, in ascending order. Null unless they are few: the drivers
  /// then compute only these pairs, so that the time is proportional to their number.
  void (*list)(const MaskContext& context, std::int64_t query,
               std::vector<std::int64_t>& keys) = nullptr;
  /// Index of the parameter that counts the keys of stopped pairs, through which no gradient flows
  /// to k and v; -1: no pair is stopped. With 0 for that parameter a query sees all keys that it
  /// sees otherwise, except these.
  int stopped = -1;
};

[[nodiscard]] std::span<const MaskRow> mask_table();
/// Returns the row with this name, or null.
[[nodiscard]] const MaskRow* find_mask(const std::string& name);
/// Returns the first row that reads this operand.
[[nodiscard]] const MaskRow& mask_reading(MaskOperand operand);
/// Returns whether one of the masks with these names reads this operand.
[[nodiscard]] bool read_by_any(const std::vector<std::string>& masks, MaskOperand operand);

/// A mask of a call with its parameters.
struct MaskPart {
  const MaskRow* row;
  std::vector<double> p;
  /// [head][parameter] The numbers of the parameters that are tensors; empty without any.
  std::vector<std::vector<std::vector<double>>> tensors = {};
};

/// The intersection of masks over the input of one call, which must outlive the object. Its
/// functions number the queries and keys of the call, not those of the whole sequences. An element
/// is one head of one batch element, batch * heads + head.
class Mask {
 public:
  /// Throws misuse if the input lacks what a mask reads, and a failure if an edge names a token
  /// that does not exist. If check_operands is false, a mask without its operand admits every pair.
  Mask(std::vector<MaskPart> parts, MaskInput input, bool check_operands = true);

  /// Returns what the ranges say about a tile. `partial` may in fact be none or all.
  [[nodiscard]] Cover cover(const MaskTile& tile) const;
  /// Returns whether a query sees a key.
  [[nodiscard]] bool admits(std::int64_t element, std::int64_t query, std::int64_t key) const;
  /// Returns the keys outside which a query sees none.
  [[nodiscard]] KeyRange range(std::int64_t element, std::int64_t query) const;
  /// Returns the share of the pairs of the first element that are seen, from 0 to 1. For long
  /// sequences it is estimated from evenly spaced queries.
  [[nodiscard]] double share() const;
  /// Returns whether a query may not see some key within its range.
  [[nodiscard]] bool has_holes() const;
  /// Returns how many queries of an element see no key.
  [[nodiscard]] std::int64_t queries_without_keys(std::int64_t element) const;
  /// Sets sees[c] to 1 if the query sees key key_begin + c, otherwise to 0, for all c < count.
  void row(std::int64_t element, std::int64_t query, std::int64_t key_begin, std::int64_t count,
           std::uint8_t* sees) const;
  /// Sets sees [rows x columns] to 1 for the pairs of a tile that are seen, otherwise to 0.
  void visible(const MaskTile& tile, std::uint8_t* sees) const;
  /// Returns whether queries see so few keys that a mask lists them.
  [[nodiscard]] bool is_sparse() const { return sparse_ != nullptr; }
  /// Returns the keys that a query sees, in ascending order. Requires is_sparse().
  [[nodiscard]] std::vector<std::int64_t> keys(std::int64_t element, std::int64_t query) const;

 private:
  struct Part {
    MaskPart mask;
    std::shared_ptr<const Neighbours> graph;
  };
  std::vector<Part> parts_;
  MaskInput input_;
  const Part* sparse_ = nullptr;  ///< The first mask that lists keys.

  [[nodiscard]] MaskContext context(const Part& part, std::int64_t element) const {
    const auto& tensors = part.mask.tensors;
    const auto head = static_cast<std::size_t>(element % input_.heads);
    return {input_, part.mask.p.data(), part.graph.get(),
            tensors.empty() ? nullptr : tensors[head].data()};
  }
  /// Returns the range of a query of the call, in keys of the call. It may exceed them.
  [[nodiscard]] KeyRange range_of(const Part& part, std::int64_t element, std::int64_t query) const;
  [[nodiscard]] Cover cover_of(const Part& part, const MaskTile& tile) const;
};

}  // namespace conelab
