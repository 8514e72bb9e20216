// A matrix of given cells, as maps draw one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/trace/matrix_source.h"

namespace conelab::desktop {

class GivenSource : public MatrixSource {
 public:
  GivenSource(std::int64_t columns, std::vector<float> cells, bool weights = true)
      : columns_(columns), cells_(std::move(cells)), weights_(weights) {}
  [[nodiscard]] std::int64_t rows() const override {
    return static_cast<std::int64_t>(cells_.size()) / columns_;
  }
  [[nodiscard]] std::int64_t columns() const override { return columns_; }
  [[nodiscard]] bool holds_weights() const override { return weights_; }
  void prepare(const Execution&) override {}
  void cells(const CellRange& r, float* out) const override {
    for (std::int64_t i = r.row_begin; i < r.row_end; ++i) {
      for (std::int64_t j = r.column_begin; j < r.column_end; ++j) {
        *out++ = cells_[static_cast<std::size_t>(i * columns_ + j)];
      }
    }
  }
  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    return cells_[static_cast<std::size_t>(row * columns_ + column)];
  }
  [[nodiscard]] bool exact_is_quick(std::int64_t) const override { return true; }
  [[nodiscard]] std::vector<float> sample(std::int64_t) const override { return {}; }

 private:
  std::int64_t columns_;
  std::vector<float> cells_;
  bool weights_;
};

}  // namespace conelab::desktop
