#include "core/bench/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/evaluation.h"
#include "core/base/names.h"
#include "core/bench/axes.h"
#include "core/statistics/interval.h"

namespace conelab {
namespace {

/// Returns the value with three digits and the largest unit in which it is at least 1.
template <std::size_t N>
std::string with_unit(double value, const std::pair<double, const char*> (&units)[N]) {
  if (std::isnan(value)) return "-";
  for (const auto& [size, name] : units) {
    const double scaled = value / size;
    if (scaled >= 1) {
      return fmt::format("{:.{}f} {}", scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0, name);
    }
  }
  const auto& [size, name] = units[N - 1];
  return fmt::format("{:.3g} {}", value / size, name);
}

/// Returns the number of characters of UTF-8 text.
std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

/// Returns a table with a row for each item: its labels on those axes that always get a column or
/// on which the items have several labels, followed by `cells(item)` below `titles`.
template <class Item, class Cells>
TextTable labelled_table(const std::vector<Item>& items, std::span<const Axis> some,
                         std::vector<std::string> titles, const Cells& cells) {
  TextTable table;
  table.rows.resize(items.size());
  for (const Axis& axis : some) {
    std::set<std::string> labels;
    for (const Item& item : items) labels.insert(item.labels[axis]);
    if (!axis.always && labels.size() < 2) continue;
    table.header.emplace_back(axis.title);
    for (std::size_t i = 0; i < items.size(); ++i) {
      table.rows[i].push_back(items[i].labels[axis]);
    }
  }
  table.header.insert(table.header.end(), titles.begin(), titles.end());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::vector<std::string> more = cells(items[i]);
    table.rows[i].insert(table.rows[i].end(), more.begin(), more.end());
  }
  return table;
}

/// Returns the share of the peak, in brackets if it is above 1, which shows that the peak was
/// disturbed.
std::string peak_text(const MeasuredCase& c) {
  const double share = peak_share(c);
  if (std::isnan(share)) return "-";
  const std::string text = fmt::format("{:.0f} %", 100 * share);
  return peak_disturbed(c) ? "(" + text + ")" : text;
}

std::vector<std::string> measurements(const MeasuredCase& c) {
  if (c.status != CaseStatus::ok) {
    return {status_name(c.status), "-", "-", "-", "-", "-", c.reason};
  }
  const bool one = !(median_interval(c.samples).coverage > 0);
  return {time_text(c.time),
          one ? "-" : time_text(c.time_low) + " .. " + time_text(c.time_high),
          time_text(c.time_cold),
          peak_text(c),
          bytes_text(c.extra_bytes),
          std::isnan(c.error) ? "-" : fmt::format("{:.1e}", c.error),
          c.evaluation == static_cast<double>(Evaluation::intervals) ? "by intervals" : ""};
}

/// Returns "memory: 17.4 GB/s read by 1 thread, 20.1 GB/s by 2 threads". It is empty if the
/// bandwidth was not measured.
std::string bandwidth_note(const std::vector<MeasuredCase>& cases) {
  std::map<std::int64_t, double> by_threads;
  for (const MeasuredCase& c : cases) {
    if (std::isfinite(c.bandwidth)) by_threads[c.labels.number("threads")] = c.bandwidth;
  }
  std::string text;
  for (const auto& [threads, bandwidth] : by_threads) {
    text += fmt::format("{}{}/s {} {}", text.empty() ? "memory: " : ", ", bytes_text(bandwidth),
                        text.empty() ? "read by" : "by", counted(threads, "thread"));
  }
  return text;
}

/// Returns "94 % interval", or "interval" for one round, whose interval covers nothing.
std::string interval_title(double coverage) {
  return coverage > 0 ? coverage_text(coverage) + " interval" : "interval";
}

std::string coverage_note(double coverage) {
  const std::string what =
      coverage > 0
          ? fmt::format("so few rounds: the intervals of the times cover {:.0f} %", 100 * coverage)
          : "a case of one round has no interval";
  return fmt::format("{}; 95 % and verdicts need {} rounds", what, samples_to_cover());
}

std::string interval_text(const Interval& i) {
  return fmt::format("{:.3f} .. {:.3f}", i.low, i.high);
}

}  // namespace

std::string time_text(double seconds) {
  return with_unit(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}});
}

std::string bytes_text(double bytes) {
  return with_unit(bytes, {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}});
}

TextTable summary_table(const std::vector<MeasuredCase>& cases) {
  return labelled_table(cases, axes(),
                        {"time", interval_title(time_coverage(cases)), "cold", "of peak",
                         "extra memory", "error", "note"},
                        measurements);
}

TextTable exponent_table(const std::vector<MeasuredExponent>& exponents) {
  return labelled_table(
      exponents, line_axes(), {"exponent", "95 % interval", "note"},
      [](const MeasuredExponent& e) -> std::vector<std::string> {
        if (std::isnan(e.value)) return {"-", "-", e.why_not};
        return {fmt::format("{:.3f}", e.value), interval_text({e.value, e.low, e.high, 0}), ""};
      });
}

TextTable comparison_table(const std::vector<CaseComparison>& cases) {
  return labelled_table(cases, axes(),
                        {"ratio", interval_title(ratio_coverage(cases)), "verdict", "note"},
                        [](const CaseComparison& c) -> std::vector<std::string> {
                          const Interval& ratio = c.result.ratio;
                          const bool known = !std::isnan(ratio.value);
                          return {known ? fmt::format("{:.3f}", ratio.value) : "-",
                                  known && ratio.coverage > 0 ? interval_text(ratio) : "-",
                                  verdict_name(c.result.verdict), c.note};
                        });
}

std::vector<std::string> exponent_lines(const std::vector<MeasuredExponent>& exponents) {
  std::vector<std::string> reasons;
  for (const MeasuredExponent& e : exponents) {
    if (!std::isnan(e.value)) return table_lines(exponent_table(exponents));
    add_once(reasons, e.why_not);
  }
  if (reasons.empty()) return {};
  return {fmt::format("exponents: {}", fmt::join(reasons, "; "))};
}

std::string control_note(const MeasuredControl& control) {
  if (control.comparisons == 0) return "A/A control: no case was measured twice";
  const int enough = samples_to_cover();
  const std::string cases = counted(control.comparisons, "case");
  if (control.rounds < enough) {
    return fmt::format(
        "A/A control: no verdict is possible below {} rounds, also of the {} measured twice",
        enough, cases);
  }
  return fmt::format(
      "A/A control: {:.0f} of {} measured twice came out different (95 % interval of the "
      "rate {:.0f} .. {:.0f} %)",
      control.rate * control.comparisons, cases, 100 * control.rate_low, 100 * control.rate_high);
}

std::vector<std::string> summary_notes(const LabelledFile& file) {
  std::vector<std::string> notes;
  if (file.changed) {
    notes.emplace_back("its bytes are not those that were written: damaged, or changed since");
  }
  const LabelledArray* runtime = file.group("bench/runtime");
  const auto cases = runtime == nullptr ? std::vector<MeasuredCase>{} : measured_cases(file, "");
  const MeasuredControl control = measured_control(file);
  if (control.comparisons > 0) notes.push_back(control_note(control));
  if (const std::string note = bandwidth_note(cases); !note.empty()) notes.push_back(note);
  if (std::ranges::any_of(cases, peak_disturbed)) {
    notes.emplace_back(
        "of peak in brackets: more than 100 %, so the peak was measured while something else held "
        "the machine, and is not to be trusted; more rounds help");
  }
  if (const double coverage = time_coverage(cases); coverage < usual_level) {
    notes.push_back(coverage_note(coverage));
  }
  for (std::string& note : stored_notes(file)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> table_lines(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const std::string& title : table.header) widths.push_back(length_of(title));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], length_of(row[i]));
    }
  }
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = i == 0 || i + 1 == row.size();
      const std::string space(widths[i] - length_of(row[i]), ' ');
      text += left ? row[i] + space : space + row[i];
      if (i + 1 < row.size()) text += "  ";
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  std::vector<std::string> lines = {line(table.header)};
  for (const auto& row : table.rows) lines.push_back(line(row));
  return lines;
}

}  // namespace conelab
