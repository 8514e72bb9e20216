#include "core/study/report_order.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/bench/axes.h"
#include "core/statistics/claim.h"

namespace conelab {
namespace {

constexpr const char* entry_forms =
    "'text: ...', the name of a figure, 'table: BLOCK by KEY, KEY: MEASURE, MEASURE', "
    "'recommend: BLOCK by KEY, KEY: MEASURE within NUMBER | KEY | COST', "
    "'compare: BLOCK over KEY by KEY: MEASURE' or "
    "'claim: TEXT | RELATION | WHY'";

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::vector<std::string> entry_names(const std::string& entry, std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split_commas(list)) {
    if (name.empty()) misuse("'{}': a name between commas is empty", entry);
    names.emplace_back(name);
  }
  return names;
}

TableEntry parse_table_entry(const std::string& entry, std::string_view rest, bool compares) {
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
  if (!compares) return table;
  const std::size_t over = table.block.find(" over ");
  if (over == std::string::npos || table.measures.size() != 1) {
    misuse("'{}': expected 'compare: BLOCK over KEY by KEY: MEASURE'", entry);
  }
  table.over = trimmed(std::string_view(table.block).substr(over + 6));
  table.block = trimmed(std::string_view(table.block).substr(0, over));
  table.keys.push_back(table.over);
  return table;
}

ClaimEntry parse_claim_entry(const std::string& entry, std::string_view rest) {
  const auto fields = split_at(rest, '|');
  if (fields.size() < 2 || fields.size() > 3 || fields[0].empty() || fields[1].empty()) {
    misuse("'{}': expected 'claim: TEXT | RELATION | WHY'", entry);
  }
  (void)judge_claim(std::string(fields[1]), [](const std::string&) { return lone(1); });
  return {std::string(fields[0]), std::string(fields[1]),
          fields.size() == 3 ? std::string(fields[2]) : ""};
}

/// Parses "BLOCK by KEY, KEY: [lowest] MEASURE within NUMBER | KEY | COST".
RecommendEntry parse_recommend_entry(const std::string& entry, std::string_view rest) {
  const auto fields = split_at(rest, '|');
  RecommendEntry made{parse_table_entry(entry, fields[0], false), false, 0, "", ""};
  std::vector<std::string> words;
  for (const std::string& word : words_at(made.table.measures.front(), ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  made.lowest = words.front() == "lowest";
  if (made.lowest) words.erase(words.begin());
  const auto margin = words.size() == 3 ? parse_number(words[2]) : std::nullopt;
  if (!margin || words[1] != "within" || fields.size() < 2 || fields.size() > 3 ||
      made.table.measures.size() != 1) {
    misuse("'{}': expected 'recommend: BLOCK by KEY, KEY: MEASURE within NUMBER | KEY | COST'",
           entry);
  }
  made.table.measures = {words[0]};
  made.margin = *margin;
  made.fewest = fields[1];
  if (fields.size() == 3) made.cost = fields[2];
  (void)index_of_name("key of the recommendation", made.fewest, made.table.keys);
  return made;
}

/// Throws misuse for a key or a measure that the block of a table does not have.
void check_table(const std::string& text, const TableEntry& table, const ReportBlock& block) {
  std::vector<std::string> keys;
  for (const Json& sweep : block.sweeps) {
    for (const auto& [key, value] : sweep.items()) add_once(keys, key);
  }
  if (block.kind == "bench") {
    for (const Axis& axis : axes()) add_once(keys, axis.name);
  }
  std::ranges::sort(keys);
  if (keys.empty() && !table.keys.empty()) {
    misuse("'{}': {} sweeps no key (expected 'table: {}: MEASURE')", text, block.name, block.name);
  }
  for (const std::string& key : table.keys) {
    (void)index_of_name("swept key of " + block.name, key, keys);
  }
  for (const std::string& name : table.measures) {
    // A benchmark stores one for each operator, and a search one for each key.
    const bool of_operator = name.starts_with("exponent_") || name.starts_with("tuned_");
    if (!block.measures.empty() && !of_operator) {
      (void)index_of_name("measure", name, block.measures);
    }
    for (const std::string& key : block.case_keys) {
      const bool along = name == "exponent" && key == axes().back().name;
      if (along || contains(table.keys, key)) continue;
      misuse("'{}': {} has several values of {}; name that key too", text, block.name, key);
    }
  }
}

}  // namespace

const TableEntry* table_of(const RecommendEntry& entry, const std::vector<TableEntry>& tables) {
  const auto found = std::ranges::find_if(tables, [&](const TableEntry& table) {
    return table.block == entry.table.block && table.keys == entry.table.keys &&
           contains(table.measures, entry.table.measures[0]);
  });
  return found == tables.end() ? nullptr : &*found;
}

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
  if (word == "recommend") return parse_recommend_entry(text, rest);
  const bool compares = word == "compare";
  if (word != "table" && !compares) misuse("'{}': expected {}", text, entry_forms);
  TableEntry table = parse_table_entry(text, rest, compares);
  const ReportBlock& block = row_named("block", blocks, table.block);
  if (block.kind == "figure") misuse("'{}': {} is a figure and has no numbers", text, block.name);
  if (block.sweeps.empty()) return table;  // Its jobs are unknown.
  if (compares && block.kind == "bench") misuse("'{}': {} is a benchmark", text, block.name);
  check_table(text, table, block);
  return table;
}

void ReportNumbers::add_unknown(const std::string& entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string::npos || !entry.starts_with("table")) return;
  for (const std::string_view measure : split_commas(std::string_view(entry).substr(colon + 1))) {
    beginnings_.push_back(plain_name(std::string(measure)));
  }
}

void ReportNumbers::add(const ReportEntry& entry, const std::vector<ReportBlock>& blocks) {
  const auto* table = std::get_if<TableEntry>(&entry);
  if (table == nullptr) return;
  tables_.push_back(*table);
  const ReportBlock& block = row_named("block", blocks, table->block);
  for (const std::string& measure : shown_measures(*table)) {
    // A name that two tables would have gets the block's name before it.
    for (const std::string& prefix : {std::string(), plain_name(block.name) + "-"}) {
      if (block.kind == "bench") beginnings_.push_back(prefix + plain_name(measure));
      for (const Json& sweep : block.sweeps) {
        std::vector<std::string> values;
        for (const std::string& key : table->keys) {
          // The labels of a benchmark's axes are unknown; messages show "time-operator-seq_len".
          values.push_back(sweep.contains(key) ? value_text(sweep[key]) : key);
        }
        names_.push_back(prefix + number_name(measure, values));
      }
    }
  }
}

void ReportNumbers::check(const ReportEntry& entry) const {
  const auto check_text = [&](const std::string& text) {
    for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
      const std::size_t close = text.find('}', at);
      if (close == std::string::npos) misuse("'{}': a {{ without }}", text);
      const std::string name = text.substr(at + 1, close - at - 1);
      const auto begins = [&](const std::string& beginning) { return name.starts_with(beginning); };
      // A further study's label, or a counter, may follow.
      const auto goes_on = [&](const std::string& known) { return name.starts_with(known + "-"); };
      if (std::ranges::any_of(beginnings_, begins) || std::ranges::any_of(names_, goes_on))
        continue;
      (void)index_of_name("number", name, names_);
    }
  };
  if (const auto* text = std::get_if<TextEntry>(&entry)) check_text(text->text);
  if (const auto* one = std::get_if<RecommendEntry>(&entry);
      one != nullptr && table_of(*one, tables_) == nullptr) {
    misuse("recommend: the report has no table of {} by {} with {}", one->table.block,
           join(one->table.keys), one->table.measures.front());
  }
  if (const auto* claim = std::get_if<ClaimEntry>(&entry)) {
    for (const std::string* part : {&claim->says, &claim->relation, &claim->why}) check_text(*part);
  }
}

std::vector<std::string> shown_measures(const TableEntry& table) {
  if (table.over.empty()) return table.measures;
  return {"difference_" + table.measures.front(), "p_" + table.measures.front()};
}

std::string number_name(const std::string& measure, const std::vector<std::string>& values) {
  std::string name = measure;
  for (const std::string& value : values) name += "-" + value;
  return plain_name(name);
}

std::string plain_name(const std::string& text) {
  std::string name = text;
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.' || c == '+';
    if (!kept) c = '-';
  }
  return name;
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace conelab
