// Masks: which keys a query may attend to.
//
//   full      all
//   causal    j <= i + n_k - n_q
//   padding   j < length of the batch element
//   window    |j - (i + n_k - n_q)| < window
//   explicit  the n_q × n_k array `allowed` of the input
//
// Several masks intersect. The drivers ask for the cover of a tile first and skip it whole, take it
// whole, or ask for the single pairs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

enum class Cover { none, partial, all };

/// Rows [query_begin, query_end) × columns [key_begin, key_end) of one batch element.
struct MaskTile {
  std::int64_t batch, query_begin, query_end, key_begin, key_end;
};

/// What masks need to know of the call.
struct MaskInput {
  std::int64_t query = 0;                 ///< n_q
  std::int64_t key = 0;                   ///< n_k
  const std::uint8_t* allowed = nullptr;  ///< [n_q × n_k] or null
  const std::int64_t* lengths = nullptr;  ///< [batch] or null
};

/// What a mask reads besides its parameters.
enum class MaskOperand { none, lengths, allowed };

/// Keys [begin, end); empty where end <= begin.
struct KeyRange {
  std::int64_t begin, end;
};

struct MaskRow {
  const char* name;
  const char* about;
  std::span<const ParameterInfo> parameters;
  MaskOperand operand;
  // All take the mask's own parameters, p [parameters].
  Cover (*cover)(const MaskInput& input, const double* p, const MaskTile& tile);
  /// The keys outside which a query sees none.
  KeyRange (*range)(const MaskInput& input, const double* p, std::int64_t batch,
                    std::int64_t query);
  /// Which keys within that range it sees, [n_k] of 0 for those that it does not; null: all.
  const std::uint8_t* (*keys)(const MaskInput& input, const double* p, std::int64_t query);
};

/// A mask of a call with its parameters.
struct MaskPart {
  const MaskRow* row;
  std::vector<double> p;

  [[nodiscard]] const std::uint8_t* keys(const MaskInput& input, std::int64_t query) const {
    return row->keys(input, p.data(), query);
  }
};

[[nodiscard]] std::span<const MaskRow> mask_table();
[[nodiscard]] const MaskRow* find_mask(const std::string& name);

/// A mask without what it reads would silently be none: throws misuse that says what is missing.
void require_operands(std::span<const MaskPart> parts, const MaskInput& input);

/// The intersection of some masks over one call's input.
class Mask {
 public:
  Mask(std::vector<MaskPart> parts, MaskInput input) : parts_(std::move(parts)), input_(input) {}
  [[nodiscard]] Cover cover(const MaskTile& tile) const;
  [[nodiscard]] bool admits(std::int64_t batch, std::int64_t query, std::int64_t key) const {
    double entry = 0;
    apply(batch, query, key, 1, &entry);
    return entry == 0;
  }
  /// The keys outside which a query sees none.
  [[nodiscard]] KeyRange range(std::int64_t batch, std::int64_t query) const;
  /// The part of the pairs of the first batch element that lie in these ranges, 0 to 1.
  [[nodiscard]] double share() const;
  /// Whether a query may see only some of the keys within its range, and whether it sees this one.
  [[nodiscard]] bool has_holes() const;
  [[nodiscard]] bool is_hole(std::int64_t query, std::int64_t key) const;
  /// The same of all keys: sees [n_k] becomes 0 for the holes, else 1.
  void holes(std::int64_t query, std::uint8_t* sees) const;
  /// Which pairs of a tile are seen: 1, else 0, into sees [rows × columns].
  void visible(const MaskTile& tile, std::uint8_t* sees) const;
  /// Sets the entries of row [count] to -infinity where query may not see key key_begin + c.
  template <class T>
  void apply(std::int64_t batch, std::int64_t query, std::int64_t key_begin, int count,
             T* row) const;

 private:
  std::vector<MaskPart> parts_;
  MaskInput input_;
};

}  // namespace conelab
