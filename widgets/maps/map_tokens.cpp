#include "widgets/maps/map_tokens.h"

#include <fmt/format.h>

#include <QObject>
#include <algorithm>
#include <cmath>
#include <mutex>
#include <string_view>

#include "core/base/names.h"

namespace conelab::desktop {
namespace {

constexpr std::string_view continues = "##";
constexpr std::string_view begins[] = {"▁", "Ġ", " "};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_sign(std::string_view token, std::string_view sign) {
  return token.size() > sign.size() && token.starts_with(sign);
}

/// Returns the sign at the beginning of words that this tokenizer uses; empty if it uses none.
std::string_view sign_of_words(const std::vector<std::string>& tokens) {
  for (const std::string_view sign : begins) {
    const bool used =
        std::ranges::any_of(tokens, [&](const std::string& t) { return has_sign(t, sign); });
    if (used) return sign;
  }
  return {};
}

/// Bytes beyond ASCII belong to letters.
bool is_punctuation(std::string_view token) {
  return std::ranges::none_of(token, [](char c) {
    return is_upper(c) || is_lower(c) || is_digit(c) || static_cast<unsigned char>(c) > 127;
  });
}

bool continues_word(const std::string& token, bool word_pieces, std::string_view sign) {
  if (word_pieces) return has_sign(token, continues);
  return !sign.empty() && !token.starts_with(sign) && !is_punctuation(token);
}

bool shows_matrices(const MapChoice& choice) {
  return choice.layout == "maps" || choice.layout == "table";
}

}  // namespace

std::vector<bool> begins_word(const std::vector<std::string>& tokens) {
  const bool word_pieces =
      std::ranges::any_of(tokens, [](const std::string& t) { return has_sign(t, continues); });
  const std::string_view sign = sign_of_words(tokens);
  std::vector<bool> begin(tokens.size(), true);
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const bool alone = tree::is_special_token(tokens[i]) || tree::is_special_token(tokens[i - 1]);
    begin[i] = alone || !continues_word(tokens[i], word_pieces, sign);
  }
  return begin;
}

std::string without_sign(const std::string& piece) {
  if (has_sign(piece, continues)) return piece.substr(continues.size());
  for (const std::string_view sign : begins) {
    if (has_sign(piece, sign)) return piece.substr(sign.size());
  }
  return piece;
}

std::int64_t MapAxis::cell_of(std::int64_t token) const {
  if (!merged()) return token;
  return std::upper_bound(first.begin(), first.end(), token) - first.begin() - 1;
}

std::string MapAxis::label_of(std::int64_t cell) const {
  const auto index = static_cast<std::size_t>(cell);
  return index < label.size() ? label[index] : std::to_string(cell);
}

std::string MapAxis::text_of(std::int64_t cell) const {
  const auto index = static_cast<std::size_t>(cell);
  const std::int64_t begin = first[index], last = first[index + 1] - 1;
  std::string text = fmt::format("{} {}", name, begin);
  if (last > begin) text += fmt::format("–{}", last);
  return index < label.size() ? text + fmt::format(" “{}”", label[index]) : text;
}

std::string MapAxis::brief_of(std::int64_t cell) const {
  return text_of(cell).substr(name.size() + 1);
}

MapAxis map_axis(const char* name, const std::vector<std::string>& tokens, std::int64_t count,
                 bool merge) {
  MapAxis axis;
  axis.name = name;
  const bool named = static_cast<std::int64_t>(tokens.size()) == count;
  const std::vector<bool> begin = named && merge ? begins_word(tokens) : std::vector<bool>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (!begin.empty() && !begin[index]) {
      axis.label.back() += without_sign(tokens[index]);
      continue;
    }
    axis.first.push_back(i);
    axis.special.push_back(named && tree::is_special_token(tokens[index]) ? 1 : 0);
    if (named) axis.label.push_back(merge ? without_sign(tokens[index]) : tokens[index]);
  }
  axis.first.push_back(count);
  return axis;
}

bool MapTokens::has_special() const {
  const auto any = [](const MapAxis& axis) { return contains(axis.special, 1); };
  return any(query) || any(key);
}

std::optional<Focus> MapTokens::cell_of(const std::optional<Focus>& pair) const {
  if (!pair || pair->query < 0 || pair->key < 0 || pair->query >= query.tokens() ||
      pair->key >= key.tokens()) {
    return std::nullopt;
  }
  return Focus{query.cell_of(pair->query), key.cell_of(pair->key)};
}

Focus MapTokens::pair_of(const Focus& cell) const {
  return {query.first[static_cast<std::size_t>(cell.query)],
          key.first[static_cast<std::size_t>(cell.key)]};
}

bool merges_words(const MapChoice& choice) { return choice.merge_words && shows_matrices(choice); }

bool excludes_special(const MapChoice& choice) {
  return choice.special_tokens == "excluded" &&
         (shows_matrices(choice) || choice.layout == "heads");
}

MapTokens map_tokens(const Trace& trace, std::int64_t batch, const MapChoice& choice) {
  const bool merge = merges_words(choice);
  const auto& stored = trace.stored;
  const std::string rows = stored ? stored->row_axis : "query";
  const std::string columns = stored && !stored->of_pairs() ? stored->column_axis : "key";
  return {map_axis(rows.c_str(), trace.query_tokens(batch), trace.query.shape.token, merge),
          map_axis(columns.c_str(), trace.key_tokens(batch), trace.key.shape.token, merge),
          excludes_special(choice)};
}

MapChoice shown_maps(const MapChoice& choice, const Trace* trace) {
  if (trace == nullptr || !trace->stored) return choice;
  MapChoice shown = choice;
  shown.calls = {Call()};
  shown.reference = -1;
  shown.join = head_joins[0];
  shown.quantity = trace->stored->name;
  return shown;
}

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
      return std::ranges::count(out, 0);
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

void lock_pair(Document& document, const std::optional<Focus>& pair) {
  document.edit(
      pair ? QObject::tr("select a pair of tokens") : QObject::tr("select nothing"),
      [&](Session& s) { s.locked = pair; }, pair ? "locked" : "");
}

}  // namespace conelab::desktop
