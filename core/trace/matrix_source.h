// A matrix whose cells are computed on demand: the attention of one head under one operator, or the
// difference of two such matrices.
//
// Cells are floats. `masked_cell` marks pairs outside the mask; NaN is a computed NaN.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/operators/operator.h"
#include "core/trace/trace.h"

namespace conelab {

inline constexpr float masked_cell = -std::numeric_limits<float>::infinity();
[[nodiscard]] constexpr bool is_masked(float value) { return value == masked_cell; }

/// The cells [row_begin, row_end) × [column_begin, column_end).
struct CellRange {
  std::int64_t row_begin = 0, row_end = 0, column_begin = 0, column_end = 0;
  [[nodiscard]] std::int64_t rows() const { return row_end - row_begin; }
  [[nodiscard]] std::int64_t columns() const { return column_end - column_begin; }
};

class MatrixSource {
 public:
  virtual ~MatrixSource() = default;
  [[nodiscard]] virtual std::int64_t rows() const = 0;
  [[nodiscard]] virtual std::int64_t columns() const = 0;
  /// Computes what cells depend on (the sums of rows). This takes long; it is called once, in a
  /// job.
  virtual void prepare(const Execution& execution) = 0;
  /// Computes the cells of a range, row-major. May be called after `prepare`, from any thread.
  virtual void cells(const CellRange& range, float* out) const = 0;
  /// Returns one cell in double precision, as `conelab attend --dtype f64` computes it. Its whole
  /// row is computed and kept, which takes long for many keys. May be called from any thread.
  [[nodiscard]] virtual double exact(std::int64_t row, std::int64_t column) const = 0;
  /// Returns whether `exact` is fast: the row is short, or it is the one that is kept.
  [[nodiscard]] virtual bool exact_is_quick(std::int64_t row) const = 0;
  /// Returns every `stride`-th row and column without `prepare`: [ceil(rows/stride) ×
  /// ceil(columns/stride)]. Weights are estimated from the sample. Empty if sampling is impossible.
  [[nodiscard]] virtual std::vector<float> sample(std::int64_t stride) const = 0;
  /// Returns whether cells are weights: rows sum to one and cells may be exactly zero, so that
  /// entropies and zeros have a meaning.
  [[nodiscard]] virtual bool holds_weights() const = 0;
  /// Returns whether cells are differences.
  [[nodiscard]] virtual bool is_difference() const { return false; }
  /// Returns how many cells are masked because special tokens are excluded.
  [[nodiscard]] virtual std::int64_t excluded() const { return 0; }
  /// Returns whether a block is represented by its value of largest magnitude. Weights of some
  /// operators have signs.
  [[nodiscard]] bool pools_by_magnitude() const { return holds_weights() || is_difference(); }
};

/// Returns the attention of one head. Throws misuse for an invalid call.
[[nodiscard]] std::shared_ptr<MatrixSource> attention_source(std::shared_ptr<const HeadInput> input,
                                                             const Call& call_of_head,
                                                             Map2d quantity);

/// Returns a − b, masked if one of them is. Throws misuse if the sizes differ.
[[nodiscard]] std::shared_ptr<MatrixSource> difference_source(std::shared_ptr<MatrixSource> a,
                                                              std::shared_ptr<MatrixSource> b);

// The cells of one head of a stored map (core/trace/trace.h): nothing is computed.

/// Returns the matrix of one head of a stored map.
[[nodiscard]] std::shared_ptr<MatrixSource> stored_source(std::shared_ptr<const StoredMap> map,
                                                          std::int64_t batch, std::int64_t head);

}  // namespace conelab
