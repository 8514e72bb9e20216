#include "core/trace/stored_source.h"

#include <algorithm>
#include <utility>

namespace conelab {
namespace {

class StoredSource : public MatrixSource {
 public:
  StoredSource(std::shared_ptr<const StoredMap> map, std::int64_t batch, std::int64_t head)
      : map_(std::move(map)), begin_(map_->index(batch, head, 0)) {}

  [[nodiscard]] std::int64_t rows() const override { return map_->rows; }
  [[nodiscard]] std::int64_t columns() const override { return map_->columns; }
  [[nodiscard]] bool holds_weights() const override { return map_->name == "weights"; }
  [[nodiscard]] bool is_difference() const override { return map_->has_signs(); }
  void prepare(const Execution& /*execution*/) override {}

  void cells(const CellRange& r, float* out) const override {
    std::visit(
        [&](const auto& numbers) {
          for (std::int64_t row = r.row_begin; row < r.row_end; ++row) {
            const auto from = numbers.begin() + place(row, r.column_begin);
            out = std::transform(from, from + r.columns(), out,
                                 [](auto x) { return static_cast<float>(x); });
          }
        },
        map_->numbers);
  }

  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    return std::visit(
        [&](const auto& numbers) {
          return static_cast<double>(numbers[static_cast<std::size_t>(place(row, column))]);
        },
        map_->numbers);
  }
  [[nodiscard]] bool exact_is_quick(std::int64_t /*row*/) const override { return true; }

  [[nodiscard]] std::vector<float> sample(std::int64_t stride) const override {
    std::vector<float> out;
    for (std::int64_t row = 0; row < rows(); row += stride) {
      for (std::int64_t column = 0; column < columns(); column += stride) {
        out.push_back(static_cast<float>(exact(row, column)));
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::ptrdiff_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::ptrdiff_t>(begin_) + row * columns() + column;
  }

  std::shared_ptr<const StoredMap> map_;
  std::size_t begin_;  ///< Where the head begins in the numbers.
};

}  // namespace

std::shared_ptr<MatrixSource> stored_source(std::shared_ptr<const StoredMap> map,
                                            std::int64_t batch, std::int64_t head) {
  return std::make_shared<StoredSource>(std::move(map), batch, head);
}

}  // namespace conelab
