#include "core/report/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/drawing/style.h"
#include "core/statistics/paired.h"

namespace conelab {
namespace {

using Texts = std::vector<std::string>;

std::size_t index_in(const Texts& list, const std::string& text) {
  return static_cast<std::size_t>(std::ranges::find(list, text) - list.begin());
}

/// Throws misuse if no record has a key or a measure of the entry.
void check_names(const TableEntry& entry, const std::vector<Record>& records) {
  Texts keys, measures;
  for (const Record& record : records) {
    for (const auto& [key, value] : record.keys) add_once(keys, key);
    for (const auto& [name, value] : record.measures) add_once(measures, name);
  }
  for (const std::string& key : entry.keys) (void)index_of_name("key", key, keys);
  for (const std::string& name : entry.measures) (void)index_of_name("measure", name, measures);
}

std::vector<std::pair<std::string, Texts>> values_of_keys(
    const std::vector<const Record*>& records) {
  std::vector<std::pair<std::string, Texts>> values;
  for (const Record* record : records) {
    for (const auto& [key, value] : record->keys) {
      const auto found =
          std::ranges::find_if(values, [&, &key = key](const auto& v) { return v.first == key; });
      add_once(found == values.end() ? values.emplace_back(key, Texts()).second : found->second,
               value);
    }
  }
  return values;
}

std::vector<const Record*> records_with(const std::vector<Record>& records,
                                        const std::string& measure) {
  std::vector<const Record*> found;
  for (const Record& record : records) {
    if (value_at(record.measures, measure) != nullptr) found.push_back(&record);
  }
  return found;
}

/// Returns "seed (1, 2, 3)" for the keys over which means are taken. Throws misuse if one of them
/// is an axis of a benchmark.
std::string averaged_keys(const TableEntry& entry, const std::vector<Record>& records) {
  std::string text;
  for (const std::string& measure : entry.measures) {
    const std::vector<const Record*> those = records_with(records, measure);
    for (const auto& [key, values] : values_of_keys(those)) {
      if (values.size() < 2 || index_in(entry.keys, key) < entry.keys.size()) continue;
      if (those.front()->of_bench) {
        misuse("table: {}: {} is given for several values of {} ({}); name that key too",
               entry.block, measure, key, fmt::join(values, ", "));
      }
      Texts sorted = values;  // Finished jobs may stand in another order than the study's values.
      std::ranges::sort(sorted, [](const std::string& a, const std::string& b) {
        const auto x = parse_number(a), y = parse_number(b);
        return x && y ? *x < *y : a < b;
      });
      const std::string added = fmt::format("{} ({})", key, fmt::join(sorted, ", "));
      if (text.find(added) == std::string::npos) text += (text.empty() ? "" : ", ") + added;
    }
  }
  return text;
}

Texts row_values(const TableEntry& entry, const Record& record) {
  Texts values;
  for (const std::string& key : entry.keys) {
    const std::string* value = value_at(record.keys, key);
    values.push_back(value == nullptr ? "" : *value);
  }
  return values;
}

std::vector<Texts> rows_of(const TableEntry& entry, const std::vector<Record>& records) {
  std::vector<const Record*> all;
  for (const Record& record : records) {
    for (const std::string& measure : entry.measures) {
      if (value_at(record.measures, measure) == nullptr) continue;
      all.push_back(&record);
      break;
    }
  }
  const auto orders = values_of_keys(all);
  const auto place = [&](const Texts& row) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Texts* order = value_at(orders, entry.keys[i]);
      places.push_back(order == nullptr ? 0 : index_in(*order, row[i]));
    }
    return places;
  };
  std::vector<Texts> rows;
  for (const Record* record : all) {
    const Texts row = row_values(entry, *record);
    add_once(rows, row);
  }
  std::ranges::sort(rows, [&](const Texts& a, const Texts& b) { return place(a) < place(b); });
  return rows;
}

Interval joined(const std::vector<Interval>& values) {
  std::vector<double> finite;
  const Interval* last = nullptr;
  for (const Interval& one : values) {
    if (!std::isfinite(one.value)) continue;
    finite.push_back(one.value);
    last = &one;
  }
  return finite.size() == 1 ? *last : t_interval(finite);
}

Number make_number(const TableEntry& entry, const Texts& row, const std::string& measure,
                   std::size_t study, const std::vector<Record>& records) {
  Number number;
  number.measure = measure;
  std::vector<Interval> values;
  for (const Record& record : records) {
    const Interval* value = value_at(record.measures, measure);
    if (record.study != study || value == nullptr || row_values(entry, record) != row) continue;
    values.push_back(*value);
    number.missing += std::isfinite(value->value) ? 0 : 1;
    Origin origin{record.study, record.job, {}, value->value};
    for (const auto& pair : record.keys) {
      if (index_in(entry.keys, pair.first) == entry.keys.size()) origin.keys.push_back(pair);
    }
    number.origins.push_back(std::move(origin));
  }
  number.interval = joined(values);
  number.text = number_text(number.interval);
  return number;
}

/// Returns a name that no number has: `name`, with the block before it, or with a counter behind
/// it.
std::string unused_name(const std::string& name, const std::string& block,
                        const std::vector<Number>& numbers) {
  const auto taken = [&](const std::string& one) { return find_named(numbers, one) != nullptr; };
  if (!taken(name)) return name;
  const std::string longer = plain_name(block) + "-" + name;
  std::string found = longer;
  for (int i = 2; taken(found); ++i) found = fmt::format("{}-{}", longer, i);
  return found;
}

/// The values of a measure in jobs that agree in all keys but the one that is compared.
using ValuesByPair = std::map<TextPairs, double>;

/// Returns, for each row of a comparison, a study's values by pair. The last value of a row is that
/// of the key that is compared.
std::map<Texts, ValuesByPair> values_by_row(const TableEntry& entry,
                                            const std::vector<Record>& records, std::size_t study) {
  std::map<Texts, ValuesByPair> values;
  for (const Record& record : records) {
    const Interval* value = value_at(record.measures, entry.measures.front());
    if (record.study != study || value == nullptr) continue;
    TextPairs others = record.keys;
    std::erase_if(others, [&](const auto& pair) { return pair.first == entry.over; });
    values[row_values(entry, record)][others] = value->value;
  }
  return values;
}

/// Compares the rows of a study with those that have the value `first` instead, and corrects the p
/// values.
std::vector<PairedDifference> compared(std::map<Texts, ValuesByPair> values,
                                       const std::vector<Texts>& rows, const std::string& first) {
  std::vector<PairedDifference> found;
  std::vector<double> p;
  for (const Texts& row : rows) {
    Texts base = row;
    base.back() = first;
    std::vector<double> a, b;
    const ValuesByPair& against = values[base];
    for (const auto& [pair, value] : values[row]) {
      const auto twin = against.find(pair);
      if (twin == against.end()) continue;
      a.push_back(twin->second), b.push_back(value);
    }
    found.push_back(paired_difference(a, b));
    p.push_back(found.back().p);
  }
  p = holm_corrected(p);
  for (std::size_t i = 0; i < p.size(); ++i) found[i].p = p[i];
  return found;
}

std::string verdict_of(const PairedDifference& found, const std::string& first) {
  if (!(found.p < 1 - usual_level)) return "undecided";
  return (found.mean.value > 0 ? "more than " : "less than ") + first;
}

/// Makes the table of a comparison: a row for each value of the key `over` but the first. The
/// verdicts are those of the first study.
Table make_comparison(const TableEntry& entry, const std::vector<ReportStudy>& studies,
                      const std::vector<Record>& records, std::vector<Number>& numbers) {
  std::vector<const Record*> all = records_with(records, entry.measures.front());
  const std::string first = value_at(values_of_keys(all), entry.over)->front();
  std::vector<Texts> rows = rows_of(entry, records);
  std::erase_if(rows, [&](const Texts& row) { return row.back() == first; });
  Table table{entry, {}, ""};
  for (std::size_t study = 0; study < studies.size(); ++study) {
    const auto found = compared(values_by_row(entry, records, study), rows, first);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (study == 0) table.rows.push_back({rows[i], std::vector<std::size_t>(2 * studies.size())});
      if (study == 0) table.rows[i].values.push_back(verdict_of(found[i], first));
      for (const std::size_t c : {0, 1}) {
        Number number = make_number(entry, rows[i], entry.measures.front(), study, records);
        number.measure = shown_measures(entry)[c];
        number.interval = c == 0 ? found[i].mean : lone(found[i].p);
        number.text = number_text(number.interval);
        Texts values = rows[i];
        if (study > 0) values.push_back(studies[study].label);
        number.name = unused_name(number_name(number.measure, values), entry.block, numbers);
        table.rows[i].numbers[c * studies.size() + study] = numbers.size();
        numbers.push_back(std::move(number));
      }
    }
  }
  table.note = fmt::format(
      "Mean differences from {}, over pairs of jobs that differ in {} alone, with the 95 % "
      "interval "
      "of Student's t. p is corrected after Holm (comparisons made: {}), and decides below 0.05.",
      first, entry.over, rows.size());
  table.entry.measures = shown_measures(entry);
  table.entry.keys.emplace_back("verdict");
  return table;
}

}  // namespace

Table make_table(const TableEntry& entry, const std::vector<ReportStudy>& studies,
                 const JobContext& context, std::vector<Number>& numbers) {
  std::vector<Record> records;
  for (std::size_t study = 0; study < studies.size(); ++study) {
    for (Record& one : records_of_block(studies, study, entry.block, context)) {
      records.push_back(std::move(one));
    }
  }
  Table table{entry, {}, ""};
  if (records.empty()) {
    table.note = fmt::format("No job of {} has finished.", entry.block);
    return table;
  }
  check_names(entry, records);
  if (!entry.over.empty()) return make_comparison(entry, studies, records, numbers);
  const std::string over = averaged_keys(entry, records);
  if (!over.empty()) table.note = "Mean over " + over + " with the 95 % interval of Student's t.";
  for (const Texts& row : rows_of(entry, records)) {
    table.rows.push_back({row, {}});
    for (const std::string& measure : entry.measures) {
      for (std::size_t study = 0; study < studies.size(); ++study) {
        Number number = make_number(entry, row, measure, study, records);
        Texts values = row;
        if (study > 0) values.push_back(studies[study].label);
        number.name = unused_name(number_name(measure, values), entry.block, numbers);
        table.rows.back().numbers.push_back(numbers.size());
        numbers.push_back(std::move(number));
      }
    }
  }
  return table;
}

namespace {

constexpr int digits_without_interval = 4;

int order_of(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

/// Returns the decimal at which a number ends that is uncertain by `half`: -3 for thousandths.
int last_decimal(double half) {
  const int order = order_of(half);
  const double three = std::round(half * std::pow(10.0, 2 - order));
  return three < 355 ? order - 1 : order;  // From 950 on, it is rounded to 10 in this decimal.
}

/// Returns x / 10^exponent, rounded at 10^decimal, without a minus sign before zero.
std::string fixed(double x, int exponent, int decimal) {
  const int places = exponent - decimal;
  const double unit = std::pow(10.0, std::abs(places));
  double scaled = exponent >= 0 ? x / std::pow(10.0, exponent) : x * std::pow(10.0, -exponent);
  if (places < 0) scaled = std::round(scaled / unit) * unit;
  if (places >= 0 && std::round(scaled * unit) == 0) scaled = 0;
  return fmt::format("{:.{}f}", scaled + 0.0, std::max(places, 0));
}

/// Returns the power of ten, a multiple of 3, by which a number of this size is divided.
int exponent_for(double largest) {
  const int order = largest == 0 ? 0 : order_of(largest);
  if (order >= -3 && order <= 5) return 0;
  return 3 * (order >= 0 ? order / 3 : (order - 2) / 3);
}

/// Returns a number that has no interval.
NumberText lone_number(double value) {
  if (value == std::round(value) && std::abs(value) < 1e7)
    return {fmt::format("{:.0f}", value + 0.0)};
  const int decimal = order_of(value) - digits_without_interval + 1;
  const int exponent = exponent_for(std::abs(value));
  return {fixed(value, exponent, std::min(decimal, exponent)), "", "", "", exponent};
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

}  // namespace

NumberText number_text(const Interval& number) {
  if (!std::isfinite(number.value)) return {"–"};
  const double below = number.value - number.low, above = number.high - number.value;
  const double half = std::max(below, above);
  if (!std::isfinite(half) || !std::isfinite(below)) return lone_number(number.value);
  if (half <= 1e-12 * std::abs(number.value) || half == 0) {
    NumberText exact = lone_number(number.value);
    exact.spread = "0";
    return exact;
  }
  const int decimal = last_decimal(half);
  const int exponent = exponent_for(std::max(std::abs(number.value), half));
  NumberText text{fixed(number.value, exponent, decimal), "", "", "", exponent};
  if (std::abs(above - below) < 0.5 * std::pow(10.0, decimal)) {
    text.spread = fixed(half, exponent, decimal);
  } else {
    text.low = fixed(number.low, exponent, decimal);
    text.high = fixed(number.high, exponent, decimal);
  }
  return text;
}

std::string plain_number(const NumberText& number) {
  std::string text = figure::with_minus(number.value);
  if (!number.spread.empty()) text += " ± " + number.spread;
  if (!number.low.empty()) {
    text +=
        fmt::format(" [{}, {}]", figure::with_minus(number.low), figure::with_minus(number.high));
  }
  if (number.exponent == 0) return text;
  if (!number.spread.empty()) text = "(" + text + ")";
  return text + " · 10" + superscript(number.exponent);
}

std::string latex_number(const NumberText& number) {
  std::string text = number.value == "–" ? "\\mbox{--}" : number.value;
  if (!number.spread.empty()) text += " \\pm " + number.spread;
  if (!number.low.empty()) text += fmt::format("\\;[{},\\,{}]", number.low, number.high);
  if (number.exponent == 0) return text;
  if (!number.spread.empty()) text = "(" + text + ")";
  return text + fmt::format(" \\cdot 10^{{{}}}", number.exponent);
}

std::string measure_title(const std::string& measure) {
  if (measure.starts_with("time") || measure.ends_with("seconds")) return measure + " [s]";
  if (measure.ends_with("bytes")) return measure + " [bytes]";
  return measure == "throughput" ? measure + " [FLOP/s]" : measure;
}

}  // namespace conelab
