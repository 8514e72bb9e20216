// A matrix that is computed where it is looked at: attention of one head under one operator, or the
// difference of two.
//
// Cells are floats; `masked_cell` marks pairs outside the mask, NaN stays NaN.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/operators/operator.h"
#include "widgets/trace/trace.h"

namespace conelab::desktop {

inline constexpr float masked_cell = -std::numeric_limits<float>::infinity();
[[nodiscard]] constexpr bool is_masked(float value) { return value == masked_cell; }

/// Cells [row_begin, row_end) × [column_begin, column_end).
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
  /// What must be known before cells are computed (the rows' sums); long, called once, in a job.
  virtual void prepare(const Execution& execution) = 0;
  /// Cells of a range, row-major; after `prepare`, from any thread.
  virtual void cells(const CellRange& range, float* out) const = 0;
  /// One cell in double precision, as `conelab attend --dtype f64` computes it.
  /// The row is computed with it and kept: long for a row of many keys. From any thread.
  [[nodiscard]] virtual double exact(std::int64_t row, std::int64_t column) const = 0;
  /// Whether `exact` takes a moment only: the row is short, or the one that is kept.
  [[nodiscard]] virtual bool exact_is_quick(std::int64_t row) const = 0;
  /// Every `stride`-th row and column at once, without `prepare`; weights are estimated from the
  /// sample. Empty where that is not possible. [ceil(rows/stride) × ceil(columns/stride)]
  [[nodiscard]] virtual std::vector<float> sample(std::int64_t stride) const = 0;
  /// Weights have rows that sum to one, and vanish exactly: entropy and zero mean something.
  [[nodiscard]] virtual bool holds_weights() const = 0;
  /// Values of both signs that count alike, so that a block of them is the one of largest magnitude
  /// and not the largest.
  [[nodiscard]] virtual bool is_difference() const { return false; }
};

/// Attention of one head. Throws misuse for a call that does not resolve.
[[nodiscard]] std::shared_ptr<MatrixSource> attention_source(std::shared_ptr<const HeadInput> input,
                                                             const Call& call_of_head,
                                                             Map2d quantity);

/// a − b, masked where either is. Both have equal sizes, else misuse.
[[nodiscard]] std::shared_ptr<MatrixSource> difference_source(std::shared_ptr<MatrixSource> a,
                                                              std::shared_ptr<MatrixSource> b);

}  // namespace conelab::desktop
