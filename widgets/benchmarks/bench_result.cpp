#include "widgets/benchmarks/bench_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/bench/axes.h"

namespace conelab::desktop {
namespace {

std::string digits(double value) { return std::isnan(value) ? "" : fmt::format("{:.6g}", value); }

/// Returns six digits with a unit, "578.123 µs"; empty for NaN.
std::string exact_time(double seconds) {
  if (std::isnan(seconds)) return "";
  const double size = std::abs(seconds);
  const auto [scale, unit] = size >= 1      ? std::pair(1.0, "s")
                             : size >= 1e-3 ? std::pair(1e3, "ms")
                             : size >= 1e-6 ? std::pair(1e6, "µs")
                                            : std::pair(1e9, "ns");
  return fmt::format("{:.6g} {}", seconds * scale, unit);
}

/// Returns a number as tables show it; empty for NaN.
std::string shown(double value, std::string (*text)(double)) {
  return std::isnan(value) ? "" : text(value);
}
std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string rate_text(double rate) { return fmt::format("{:.4g} GFLOP/s", rate * 1e-9); }
std::string short_rate(double rate) { return fmt::format("{:.3g} GFLOP/s", rate * 1e-9); }
std::string short_number(double value) { return fmt::format("{:.3g}", value); }
std::string exponent_text(double value) { return fmt::format("{:.3f}", value); }

/// Returns the exponent over the octave that ends at the case of this index.
double local_exponent_at(const BenchData& data, std::size_t index) {
  const std::size_t line = index / data.lengths.size(), at = index % data.lengths.size();
  if (line >= data.exponents.size() || at >= data.exponents[line].local.size()) {
    return std::nan("");
  }
  return data.exponents[line].local[at];
}

std::vector<std::string> label_cells(const Case& c) {
  std::vector<std::string> cells;
  for (const Axis& axis : line_axes()) cells.push_back(c[axis]);
  return cells;
}

std::vector<std::string> label_titles() {
  std::vector<std::string> titles;
  for (const Axis& axis : line_axes()) titles.emplace_back(axis.title);
  return titles;
}

std::string status_cell(const MeasuredCase& c) {
  if (c.status != CaseStatus::ok) return std::string(status_name(c.status)) + ": " + c.reason;
  return std::isnan(c.time) ? "not measured yet" : "ok";
}

void drop_column(TextTable& table, std::ptrdiff_t at) {
  table.header.erase(table.header.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

/// Label columns with a single value are stated once above the table and left out of it, except for
/// the operator.
void drop_constant_labels(TextTable& table) {
  for (std::size_t i = line_axes().size() - 1; i > 0; --i) {
    const bool constant = std::ranges::all_of(
        table.rows, [&](const auto& row) { return row[i] == table.rows.front()[i]; });
    if (constant) drop_column(table, static_cast<std::ptrdiff_t>(i));
  }
}

bool is_empty_column(const TextTable& table, std::ptrdiff_t at) {
  return std::ranges::all_of(
      table.rows, [&](const auto& row) { return row[static_cast<std::size_t>(at)].empty(); });
}

/// A column of notes exists only if there are notes, because it takes space from the numbers.
void drop_empty_notes(TextTable& table) {
  const auto at = std::ranges::find(table.header, "note") - table.header.begin();
  if (is_empty_column(table, at)) drop_column(table, at);
}

/// Leaves out what was measured of no case: times with cold caches, errors, a peak.
void drop_empty_columns(TextTable& table) {
  if (table.rows.empty()) return;
  for (auto i = static_cast<std::ptrdiff_t>(table.header.size()) - 1; i > 0; --i) {
    if (is_empty_column(table, i)) drop_column(table, i);
  }
}

std::vector<std::string> sweep_of(const LabelledFile& file) {
  const LabelledArray* runtime = file.group("bench/runtime");
  if (runtime == nullptr) return {};
  return attribute_or_empty<std::vector<std::string>>(runtime->attributes, "sweep");
}

}  // namespace

std::shared_ptr<const BenchData> bench_data(const LabelledFile& file, const std::string& name) {
  auto data = std::make_shared<BenchData>();
  data->name = name;
  data->cases = measured_cases(file, name);
  data->lengths = label_values(data->cases, axes().back().name);
  data->exponents = measured_exponents(file, name);
  data->sweep = sweep_of(file);
  data->notes = summary_notes(file);
  return data;
}

TextTable numbers_table(const BenchData& data, bool exported) {
  TextTable table;
  table.header = label_titles();
  const std::vector<std::string> plain = {
      "n",       "time (s)",         "low (s)", "high (s)",       "cold (s)", "FLOP/s",
      "of peak", "extra memory (B)", "error",   "local exponent", "status"};
  const std::vector<std::string> with_units = {"n",     "time",           "low",     "high",
                                               "cold",  "rate",           "of peak", "extra memory",
                                               "error", "local exponent", "status"};
  const std::vector<std::string>& titles = exported ? plain : with_units;
  table.header.insert(table.header.end(), titles.begin(), titles.end());
  const auto number = [&](double value, std::string (*text)(double)) {
    return exported ? digits(value) : shown(value, text);
  };
  for (std::size_t i = 0; i < data.cases.size(); ++i) {
    const MeasuredCase& c = data.cases[i];
    std::vector<std::string> row = label_cells(c.labels);
    row.push_back(c.labels[axes().back()]);
    for (const double time : {c.time, c.time_low, c.time_high, c.time_cold}) {
      row.push_back(number(time, time_text));
    }
    row.insert(row.end(), {number(c.flops / c.time, short_rate), number(peak_share(c), share_text),
                           number(c.extra_bytes, bytes_text), number(c.error, short_number),
                           number(local_exponent_at(data, i), exponent_text), status_cell(c)});
    table.rows.push_back(std::move(row));
  }
  drop_constant_labels(table);
  drop_empty_columns(table);
  return table;
}

TextTable exponents_table(const BenchData& data, bool exported) {
  const auto number = [&](double value) {
    return exported ? digits(value) : shown(value, exponent_text);
  };
  TextTable table;
  table.header = label_titles();
  table.header.insert(table.header.end(), {"exponent", "note", "low", "high"});
  const Labels& lengths = data.lengths;
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    table.header.push_back(fmt::format("{} → {}", lengths[i - 1], lengths[i]));
  }
  for (const MeasuredExponent& e : data.exponents) {
    std::vector<std::string> row = label_cells(e.labels);
    row.insert(row.end(), {number(e.value), e.why_not, number(e.low), number(e.high)});
    for (std::size_t i = 1; i < lengths.size(); ++i) {
      row.push_back(i < e.local.size() ? number(e.local[i]) : "");
    }
    table.rows.push_back(std::move(row));
  }
  drop_empty_notes(table);
  drop_constant_labels(table);
  return table;
}

TextTable verdicts_first(TextTable comparison) {
  const std::vector<std::string>& header = comparison.header;
  const auto place = [&](const char* title) {
    return std::ranges::find(header, title) - header.begin();
  };
  const std::ptrdiff_t ratio = place("ratio"), verdict = place("verdict");
  const auto move = [&](std::vector<std::string>& cells) {
    std::rotate(cells.begin() + ratio, cells.begin() + verdict, cells.begin() + verdict + 1);
  };
  for (auto& row : comparison.rows) move(row);
  move(comparison.header);
  return comparison;
}

double local_exponent(const BenchData& data, const Case& labels) {
  const auto found =
      std::ranges::find_if(data.cases, [&](const MeasuredCase& c) { return c.labels == labels; });
  if (found == data.cases.end()) return std::nan("");
  return local_exponent_at(data, static_cast<std::size_t>(found - data.cases.begin()));
}

std::string case_text(const BenchData& data, const MeasuredCase& c) {
  std::string text = describe(c.labels) + ": ";
  if (c.status != CaseStatus::ok) return text + status_name(c.status) + ": " + c.reason;
  if (std::isnan(c.time)) return text + "not measured yet";
  text += fmt::format("{}  [{}, {}]  {}", exact_time(c.time), exact_time(c.time_low),
                      exact_time(c.time_high), rate_text(c.flops / c.time));
  if (std::isfinite(c.peak_flops)) {
    text += fmt::format(" = {:.1f} % of the peak{}", 100 * peak_share(c),
                        peak_disturbed(c) ? ", which was disturbed" : "");
  }
  if (std::isfinite(intensity(c))) text += fmt::format("  {:.4g} FLOP/byte", intensity(c));
  if (std::isfinite(c.bandwidth)) text += fmt::format(" (memory {}/s)", bytes_text(c.bandwidth));
  if (const double e = local_exponent(data, c.labels); std::isfinite(e)) {
    text += fmt::format("  local exponent {:.3f}", e);
  }
  if (std::isfinite(c.time_cold)) text += "  cold " + exact_time(c.time_cold);
  if (std::isfinite(c.error)) text += fmt::format("  error {:.2g}", c.error);
  return text;
}

}  // namespace conelab::desktop
