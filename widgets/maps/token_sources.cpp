#include "widgets/maps/token_sources.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace conelab::desktop {
namespace {

/// The sum of the cells of a word, from which its value follows.
struct CellSum {
  double sum = 0;
  std::int64_t count = 0;  ///< Of pairs that are not masked.

  void add(double value) {
    if (std::isinf(value) && value < 0) return;
    sum += value;
    ++count;
  }
  [[nodiscard]] double value(bool weights, std::int64_t queries) const {
    if (count == 0) return -std::numeric_limits<double>::infinity();
    return sum / static_cast<double>(weights ? queries : count);
  }
};

class MergedSource : public MatrixSource {
 public:
  MergedSource(std::shared_ptr<MatrixSource> source, const MapTokens& tokens)
      : source_(std::move(source)), row_(tokens.query.first), column_(tokens.key.first) {}

  [[nodiscard]] std::int64_t rows() const override { return count_of(row_); }
  [[nodiscard]] std::int64_t columns() const override { return count_of(column_); }
  [[nodiscard]] bool holds_weights() const override { return source_->holds_weights(); }
  [[nodiscard]] bool is_difference() const override { return source_->is_difference(); }
  void prepare(const Execution& execution) override { source_->prepare(execution); }

  void cells(const CellRange& r, float* out) const override {
    const CellRange fine{at(row_, r.row_begin), at(row_, r.row_end), at(column_, r.column_begin),
                         at(column_, r.column_end)};
    std::vector<float> pieces(static_cast<std::size_t>(fine.rows() * fine.columns()));
    source_->cells(fine, pieces.data());
    for (std::int64_t row = r.row_begin; row < r.row_end; ++row) {
      for (std::int64_t column = r.column_begin; column < r.column_end; ++column) {
        CellSum sum;
        for (std::int64_t q = at(row_, row); q < at(row_, row + 1); ++q) {
          const float* line = pieces.data() + (q - fine.row_begin) * fine.columns();
          for (std::int64_t k = at(column_, column); k < at(column_, column + 1); ++k) {
            sum.add(line[k - fine.column_begin]);
          }
        }
        *out++ = static_cast<float>(sum.value(holds_weights(), pieces_of(row)));
      }
    }
  }

  /// The lock is not held while the row is computed, because the window asks `exact_is_quick`.
  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    const auto index = static_cast<std::size_t>(column);
    {
      const std::lock_guard lock(mutex_);
      if (kept_ == row) return exact_row_[index];
    }
    std::vector<double> values = exact_row_of(row);
    const std::lock_guard lock(mutex_);
    kept_ = row;
    exact_row_ = std::move(values);
    return exact_row_[index];
  }

  [[nodiscard]] bool exact_is_quick(std::int64_t row) const override {
    {
      const std::lock_guard lock(mutex_);
      if (kept_ == row) return true;
    }
    for (std::int64_t q = at(row_, row); q < at(row_, row + 1); ++q) {
      if (!source_->exact_is_quick(q)) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<float> sample(std::int64_t) const override { return {}; }

 private:
  static std::int64_t count_of(const std::vector<std::int64_t>& first) {
    return static_cast<std::int64_t>(first.size()) - 1;
  }
  static std::int64_t at(const std::vector<std::int64_t>& first, std::int64_t cell) {
    return first[static_cast<std::size_t>(cell)];
  }
  [[nodiscard]] std::int64_t pieces_of(std::int64_t row) const {
    return at(row_, row + 1) - at(row_, row);
  }

  [[nodiscard]] std::vector<double> exact_row_of(std::int64_t row) const {
    std::vector<CellSum> sums(static_cast<std::size_t>(columns()));
    for (std::int64_t q = at(row_, row); q < at(row_, row + 1); ++q) {
      for (std::int64_t column = 0; column < columns(); ++column) {
        for (std::int64_t k = at(column_, column); k < at(column_, column + 1); ++k) {
          sums[static_cast<std::size_t>(column)].add(source_->exact(q, k));
        }
      }
    }
    std::vector<double> values;
    for (const CellSum& sum : sums) values.push_back(sum.value(holds_weights(), pieces_of(row)));
    return values;
  }

  std::shared_ptr<MatrixSource> source_;
  std::vector<std::int64_t> row_, column_;  ///< The first token of each word, and their number.
  mutable std::mutex mutex_;
  mutable std::int64_t kept_ = -1;
  mutable std::vector<double> exact_row_;
};

class ExcludingSource : public MatrixSource {
 public:
  ExcludingSource(std::shared_ptr<MatrixSource> source, const MapTokens& tokens)
      : source_(std::move(source)), row_(tokens.query.special), column_(tokens.key.special) {
    const auto kept = [](const std::vector<std::uint8_t>& out) {
      return std::count(out.begin(), out.end(), 0);
    };
    excluded_ = rows() * columns() - kept(row_) * kept(column_);
  }

  [[nodiscard]] std::int64_t rows() const override { return source_->rows(); }
  [[nodiscard]] std::int64_t columns() const override { return source_->columns(); }
  [[nodiscard]] bool holds_weights() const override { return source_->holds_weights(); }
  [[nodiscard]] bool is_difference() const override { return source_->is_difference(); }
  [[nodiscard]] std::int64_t excluded() const override { return excluded_; }
  void prepare(const Execution& execution) override { source_->prepare(execution); }
  void cells(const CellRange& r, float* out) const override {
    source_->cells(r, out);
    for (std::int64_t row = r.row_begin; row < r.row_end; ++row) {
      for (std::int64_t column = r.column_begin; column < r.column_end; ++column, ++out) {
        if (leaves_out(row, column)) *out = masked_cell;
      }
    }
  }
  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    return source_->exact(row, column);
  }
  [[nodiscard]] bool exact_is_quick(std::int64_t row) const override {
    return source_->exact_is_quick(row);
  }
  [[nodiscard]] std::vector<float> sample(std::int64_t stride) const override {
    std::vector<float> cells = source_->sample(stride);
    float* out = cells.data();
    for (std::int64_t row = 0; !cells.empty() && row < rows(); row += stride) {
      for (std::int64_t column = 0; column < columns(); column += stride, ++out) {
        if (leaves_out(row, column)) *out = masked_cell;
      }
    }
    return cells;
  }

 private:
  [[nodiscard]] bool leaves_out(std::int64_t row, std::int64_t column) const {
    return row_[static_cast<std::size_t>(row)] != 0 ||
           column_[static_cast<std::size_t>(column)] != 0;
  }

  std::shared_ptr<MatrixSource> source_;
  std::vector<std::uint8_t> row_, column_;  ///< 1: excluded.
  std::int64_t excluded_ = 0;
};

}  // namespace

std::shared_ptr<MatrixSource> merged_source(std::shared_ptr<MatrixSource> source,
                                            const MapTokens& tokens) {
  if (!tokens.query.merged() && !tokens.key.merged()) return source;
  return std::make_shared<MergedSource>(std::move(source), tokens);
}

std::shared_ptr<MatrixSource> excluding_source(std::shared_ptr<MatrixSource> source,
                                               const MapTokens& tokens) {
  if (!tokens.has_special()) return source;
  return std::make_shared<ExcludingSource>(std::move(source), tokens);
}

std::shared_ptr<MatrixSource> shown_source(const SourceOfCall& of, const SourceOfCall& subtracted,
                                           const Call& call, const Call* reference,
                                           const MapTokens* tokens) {
  const auto of_tokens = [&](const SourceOfCall& source_of, const Call& c) {
    auto source = source_of(c);
    // An operator may have other pairs than those of the tokens.
    const bool fits = tokens != nullptr && source->rows() == tokens->query.tokens() &&
                      source->columns() == tokens->key.tokens();
    return fits ? merged_source(std::move(source), *tokens) : source;
  };
  const auto with_reference = [&](const SourceOfCall& source_of) {
    auto source = of_tokens(source_of, call);
    if (reference == nullptr) return source;
    return difference_source(std::move(source), of_tokens(source_of, *reference));
  };
  auto source = with_reference(of);
  if (subtracted) source = difference_source(std::move(source), with_reference(subtracted));
  const bool excludes = tokens != nullptr && tokens->excludes &&
                        source->rows() == tokens->query.size() &&
                        source->columns() == tokens->key.size();
  return excludes ? excluding_source(std::move(source), *tokens) : source;
}

}  // namespace conelab::desktop
