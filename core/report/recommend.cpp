#include "core/report/recommend.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

class Recommendation {
 public:
  Recommendation(const RecommendEntry& entry, const Table& table,
                 const std::vector<Number>& numbers)
      : entry_(entry), table_(table), numbers_(numbers) {
    const auto& measures = table.entry.measures;
    const auto column = std::ranges::find(measures, entry.table.measures.front());
    const std::size_t studies =
        table.rows.empty() ? 1 : table.rows.front().numbers.size() / measures.size();
    column_ = static_cast<std::size_t>(column - measures.begin()) * studies;
    key_ = static_cast<std::size_t>(std::ranges::find(table.entry.keys, entry.fewest) -
                                    table.entry.keys.begin());
    for (const TableRow& row : table.rows) {
      if (std::isfinite(number(row).interval.value)) rows_.push_back(&row);
    }
    const double others = std::max(1.0, static_cast<double>(rows_.size()) - 1);
    level_ = 1 - 2 * (1 - usual_level) / others;
  }

  TextPieces pieces() {
    if (rows_.empty()) return {{"No recommendation: no job has finished."}};
    const TableRow& best = **std::ranges::max_element(rows_, {}, [&](auto* r) { return gain(*r); });
    say("The best " + entry_.table.measures.front() + " has ", best);
    if (!std::isfinite(number(best).interval.low)) {
      say(". It has no interval, which a recommendation needs: run at least two seeds.");
      return std::move(pieces_);
    }
    const TableRow& chosen = chosen_of(best);
    const std::string fewest = entry_.fewest + " " + chosen.values[key_];
    if (&chosen == &best) {
      say(fmt::format(". Take it: no row of less {} is shown to lie within {} of it", entry_.fewest,
                      entry_.margin));
    } else {
      say(fmt::format(". Take the least {} that is shown to lie within {} of it: ", entry_.fewest,
                      entry_.margin),
          chosen);
    }
    say_cost(chosen);
    say_others(chosen, fewest);
    say(fmt::format(". The bounds hold at 95 % for all {} rows together; differences are paired.",
                    rows_.size()));
    return std::move(pieces_);
  }

 private:
  const RecommendEntry& entry_;
  const Table& table_;
  const std::vector<Number>& numbers_;
  std::vector<const TableRow*> rows_;
  std::size_t column_ = 0, key_ = 0;
  double level_ = usual_level;
  TextPieces pieces_;

  [[nodiscard]] const Number& number(const TableRow& row) const {
    return numbers_[row.numbers[column_]];
  }
  [[nodiscard]] double gain(const TableRow& row) const {
    return (entry_.lowest ? -1 : 1) * number(row).interval.value;
  }
  [[nodiscard]] double key_of(const TableRow& row) const {
    return parse_number(row.values[key_]).value_or(unbounded);
  }

  /// Returns the bounds of how much better `a` is than `b`.
  [[nodiscard]] Interval advantage(const TableRow& a, const TableRow& b) const {
    std::vector<double> differences;
    for (const Origin& one : number(a).origins) {
      const auto twin = std::ranges::find(number(b).origins, one.keys, &Origin::keys);
      if (twin != number(b).origins.end()) differences.push_back(one.value - twin->value);
    }
    if (entry_.lowest) std::ranges::transform(differences, differences.begin(), std::negate{});
    const Interval bounds = t_interval(differences, level_);
    const bool sound = std::isfinite(bounds.low) && differences.size() == number(a).origins.size();
    return sound ? bounds : Interval{bounds.value, -unbounded, unbounded, 0};
  }

  [[nodiscard]] const TableRow& chosen_of(const TableRow& best) const {
    const TableRow* chosen = &best;
    for (const TableRow* row : rows_) {
      if (row == &best || advantage(best, *row).high > entry_.margin) continue;
      const double key = key_of(*row), least = key_of(*chosen);
      if (key < least || (key == least && gain(*row) > gain(*chosen))) chosen = row;
    }
    return *chosen;
  }

  [[nodiscard]] std::string name_of(const TableRow& row) const {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      words.push_back(table_.entry.keys[i] + " " + row.values[i]);
    }
    return join(words);
  }

  void say(const std::string& text) { pieces_.push_back({text}); }
  void say(const std::string& text, const TableRow& row) {
    say(text + name_of(row) + " (");
    pieces_.push_back({"", row.numbers[column_]});
    say(")");
  }

  void say_cost(const TableRow& chosen) {
    for (std::size_t count = chosen.values.size(); !entry_.cost.empty() && count > 0; --count) {
      const std::vector<std::string> values(chosen.values.begin(),
                                            chosen.values.begin() + std::ptrdiff_t(count));
      const Number* cost = find_named(numbers_, number_name(entry_.cost, values));
      if (cost == nullptr) continue;
      say("; its " + measure_title(entry_.cost) + " is ");
      pieces_.push_back({"", static_cast<std::size_t>(cost - numbers_.data())});
      return;
    }
  }

  /// Names the other rows of the same key that are shown to be worse, and those that are not.
  void say_others(const TableRow& chosen, const std::string& fewest) {
    std::vector<std::string> worse, open;
    for (const TableRow* row : rows_) {
      if (row == &chosen || row->values[key_] != chosen.values[key_]) continue;
      std::vector<std::string> words = row->values;
      words.erase(words.begin() + std::ptrdiff_t(key_));
      (advantage(chosen, *row).low > 0 ? worse : open).push_back(join(words, " "));
    }
    if (!worse.empty()) say(fmt::format(". With {}, {} are worse", fewest, fmt::join(worse, ", ")));
    if (!open.empty()) {
      say(fmt::format(". With {}, {} cannot be told from it", fewest, fmt::join(open, ", ")));
    }
  }
};

}  // namespace

TextPieces recommendation(const RecommendEntry& entry, const Table& table,
                          const std::vector<Number>& numbers) {
  return Recommendation(entry, table, numbers).pieces();
}

}  // namespace conelab
