// A hierarchy from a table of edges: child and parent in the first two columns of each row.
//
// Columns are separated by tabs if the first row that has a tab or a comma has a tab. A field may
// stand in double quotes, in which two quotes are one, and which may contain separators and ends of
// lines (RFC 4180); blanks around fields do not count. A row without a parent is a root. Lines that
// are blank, and those before the first row that begin with #, are passed over.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/utf8.h"
#include "core/dataset/import.h"

namespace conelab {
namespace {

struct EdgeRow {
  std::array<std::string, 2> field;  ///< The first two.
  std::size_t fields = 0;
  std::size_t line = 0;  ///< Of its beginning, counted from 1.
};

class EdgeTable {
 public:
  EdgeTable(const std::string& path, std::string_view text) : path_(path), text_(text) {
    while (at_ < text_.size() && text_[at_] == '#') {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      end_line();
    }
    separator_ = first_separator();
  }

  bool next(EdgeRow& row) {
    while (at_ < text_.size()) {
      row = {{}, 0, line_};
      do read_field(row);
      while (at_ < text_.size() && text_[at_] == separator_ && ++at_ > 0);
      end_line();
      if (row.fields > 1 || !row.field[0].empty()) return true;
    }
    return false;
  }

 private:
  const std::string& path_;
  std::string_view text_;
  char separator_ = ',';
  std::size_t at_ = 0, line_ = 1;

  /// Returns the separator of the first row that has one, outside of quotes: a tab before a comma.
  [[nodiscard]] char first_separator() const {
    bool quoted = false, comma = false;
    for (const char c : text_.substr(at_)) {
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (c == '\t') return '\t';
      comma = comma || c == ',';
      if (comma && (c == '\n' || c == '\r')) break;
    }
    return ',';
  }

  /// Passes over the end of a line: CR LF, LF or CR.
  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  std::string_view plain_field() {
    const std::array<char, 3> ends = {separator_, '\r', '\n'};
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of({ends.data(), ends.size()}, at_), text_.size());
    return trimmed(text_.substr(begin, at_ - begin));
  }

  void read_field(EdgeRow& row) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    std::string field;
    if (at_ < text_.size() && text_[at_] == '"') {
      field = read_quoted(path_, text_, at_);
      line_ += static_cast<std::size_t>(std::ranges::count(field, '\n'));
      if (!plain_field().empty()) fail("{}:{}: text follows a quoted field", path_, row.line);
    } else {
      field = plain_field();
    }
    if (row.fields < 2) row.field[row.fields] = std::move(field);
    ++row.fields;
  }
};

/// Returns which column a header's field calls so: 0 child, 1 parent, -1 unknown.
int column_of(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto is = [&](std::vector<std::string> known) { return contains(known, name); };
  if (is({"child", "child_id", "id", "node", "source", "from"})) return 0;
  return is({"parent", "parent_id", "parents", "target", "to"}) ? 1 : -1;
}

bool is_header(const EdgeRow& first, const EdgeRow& second) {
  if (column_of(first.field[0]) + column_of(first.field[1]) == 1) return true;
  const auto number = [](const std::string& text) { return parse_number(text).has_value(); };
  return number(second.field[0]) && number(second.field[1]) && !number(first.field[0]) &&
         !number(first.field[1]);
}

}  // namespace

MadeData imported_edges(const KeyValues& values) {
  const std::string &path = values.text("path"), &header = values.text("header");
  const std::string text = import_text(path);
  const std::size_t child = values.text("order") == "child,parent" ? 0 : 1;
  EdgeTable table(path, text);
  ImportedNodes nodes;
  std::size_t most_fields = 0, rows = 0, alone = 0;
  std::array<std::string, 2> first;
  const auto take = [&](const EdgeRow& row) {
    if (rows++ == 0) first = row.field;
    alone += !contains(first, row.field[0]) && !contains(first, row.field[1]) ? 1 : 0;
    const std::string &below = row.field[child], &above = row.field[1 - child];
    if (below.empty()) {
      fail("{}:{}: no child stands beside the parent '{}'", path, row.line, printable(above));
    }
    most_fields = std::max(most_fields, row.fields);
    const Node node = nodes.named(below);
    if (!above.empty()) nodes.link(node, nodes.named(above));
  };
  EdgeRow row, second;
  if (!table.next(row)) fail("{}: holds no row", path);
  const bool more = table.next(second);
  if (header == "yes" || (header == "auto" && is_header(row, second))) {
    const std::string shown = printable(row.field[0]) + ", " + printable(row.field[1]);
    if (column_of(row.field[child]) == 1 && column_of(row.field[1 - child]) == 0) {
      fail("{}:{}: the columns are called {}; give -p order={}, or -p header=no", path, row.line,
           shown, child == 0 ? "parent,child" : "child,parent");
    }
    if (header == "auto") {
      nodes.remarks.push_back(
          fmt::format("{}: the row '{}' is taken as a header (-p header=no)", path, shown));
    }
  } else {
    take(row);
  }
  if (more) take(second);
  while (table.next(row)) take(row);
  constexpr std::size_t enough = 3;  // Of fewer rows, any may stand alone.
  if (header == "auto" && alone >= enough && alone + 1 == rows && !first[0].empty() &&
      !first[1].empty()) {
    nodes.remarks.push_back(
        fmt::format("{}: the names '{}, {}' stand in the first row alone; if it is a header, give "
                    "-p header=yes",
                    path, printable(first[0]), printable(first[1])));
  }
  if (most_fields == 1) fail("{}: no row has two columns (expected a tab or a comma)", path);
  return nodes.finish(values);
}

}  // namespace conelab
