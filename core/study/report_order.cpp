#include "core/study/report_order.h"

#include <string_view>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

constexpr const char* entry_forms =
    "'text: ...', the name of a figure, 'table: BLOCK by KEY, KEY: MEASURE, MEASURE' or "
    "'claim: TEXT | RELATION | WHY'";

/// Returns the text without white space at both ends.
std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// Returns the names between commas. Throws misuse if one is empty.
std::vector<std::string> entry_names(const std::string& entry, std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split_commas(list)) {
    if (name.empty()) misuse("'{}': a name between commas is empty", entry);
    names.emplace_back(name);
  }
  return names;
}

TableEntry parse_table_entry(const std::string& entry, std::string_view rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) {
    misuse("'{}': its measures are missing (expected 'table: BLOCK by KEY: MEASURE')", entry);
  }
  TableEntry table;
  table.measures = entry_names(entry, rest.substr(colon + 1));
  const std::string_view rows = rest.substr(0, colon);
  const std::size_t by = rows.find(" by ");
  table.block = trimmed(rows.substr(0, by));
  if (by != std::string_view::npos) table.keys = entry_names(entry, rows.substr(by + 4));
  return table;
}

ClaimEntry parse_claim_entry(const std::string& entry, std::string_view rest) {
  const auto fields = split_at(rest, '|');
  if (fields.size() < 2 || fields.size() > 3 || fields[0].empty() || fields[1].empty()) {
    misuse("'{}': expected 'claim: TEXT | RELATION | WHY'", entry);
  }
  return {std::string(fields[0]), std::string(fields[1]),
          fields.size() == 3 ? std::string(fields[2]) : ""};
}

}  // namespace

ReportEntry parse_report_entry(const std::string& text, const std::vector<ReportBlock>& blocks) {
  const std::size_t colon = text.find(':');
  const std::string word = trimmed(std::string_view(text).substr(0, colon));
  if (colon == std::string::npos) {
    const ReportBlock& block = row_named("block", blocks, word);
    if (block.kind == "figure") return FigureEntry{word};
    misuse("'{}' is a block of the kind {}; show its numbers by 'table: {} by KEY: MEASURE'", text,
           block.kind, word);
  }
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  if (word == "text") return TextEntry{trimmed(rest)};
  if (word == "claim") return parse_claim_entry(text, rest);
  if (word != "table") misuse("'{}': expected {}", text, entry_forms);
  TableEntry table = parse_table_entry(text, rest);
  const ReportBlock& block = row_named("block", blocks, table.block);
  if (block.kind == "figure") misuse("'{}': {} is a figure and has no numbers", text, block.name);
  return table;
}

}  // namespace conelab
