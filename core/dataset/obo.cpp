// A hierarchy from an ontology in the OBO format 1.4, as the Gene Ontology has it: the terms, and
// from each to those that it `is_a`.
//
// `-p relations=part_of,regulates` adds the terms of `relationship: part_of ID`. Obsolete terms are
// left out. Nodes have the terms' names, and their identifiers as `id`.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/utf8.h"
#include "core/dataset/import.h"

namespace conelab {
namespace {

struct OboTerm {
  std::string name;
  bool defined = false, obsolete = false;
};

/// Returns a value without its comment (after " !") and its qualifiers (after " {"), and with the
/// characters that stand for themselves after a backslash.
std::string obo_value(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends = (text[i] == '!' || text[i] == '{') && (i == 0 || text[i - 1] == ' ');
    if (ends) break;
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    value += text[i];
  }
  return std::string(trimmed(value));
}

class OboReader {
 public:
  OboReader(const std::string& path, std::vector<std::string> relations)
      : path_(path), relations_(std::move(relations)) {}

  void read(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      read_line(trimmed(text.substr(at, end - at)));
      at = end + 1;
    }
    begin_stanza(false);
  }

  MadeData finish(const KeyValues& values) {
    if (terms_.empty()) fail("{}: holds no term (expected stanzas [Term])", path_);
    ImportedNodes nodes;
    std::vector<Node> kept;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const OboTerm& term = terms_[i];
      const std::string id = ids_.name(static_cast<Node>(i));
      const bool keeps = term.defined && !term.obsolete;
      kept.push_back(keeps ? nodes.add(term.name.empty() ? id : term.name) : -1);
      if (keeps) nodes.ids.push_back(valid_utf8(id));
    }
    std::vector<std::array<Node, 2>> lost;
    for (const auto& [child, parent] : links_) {
      const Node from = kept[static_cast<std::size_t>(child)];
      const Node to = kept[static_cast<std::size_t>(parent)];
      if (from >= 0 && to >= 0) nodes.link(from, to);
      if (from >= 0 && to < 0) lost.push_back({child, parent});
    }
    if (!lost.empty()) {
      nodes.remarks.push_back(fmt::format(
          "{}: {} relations lead to terms that are obsolete or not in the file, and are left out "
          "(the first: {} to {})",
          path_, lost.size(), printable(ids_.name(lost[0][0])), printable(ids_.name(lost[0][1]))));
    }
    for (const std::string& relation : relations_) {
      if (contains(found_, relation)) continue;
      nodes.remarks.push_back(fmt::format("{}: no term has the relation {}", path_, relation));
    }
    return nodes.finish(values);
  }

 private:
  const std::string& path_;
  std::vector<std::string> relations_, found_;  ///< Those that were asked for; that were found.
  ImportedNodes ids_;                           ///< Of all terms that are defined or named.
  std::vector<OboTerm> terms_;                  ///< [ids_]
  std::vector<std::array<Node, 2>> links_;      ///< Child and parent, in ids_.
  std::size_t line_ = 0, begun_ = 0;            ///< The line, and that of the stanza.
  bool in_term_ = false;
  Node term_ = -1;  ///< The one of the stanza, once its id is known.

  Node term_named(const std::string& id) {
    const Node node = ids_.named(id);
    if (ids_.size() > terms_.size()) terms_.emplace_back();
    return node;
  }

  void begin_stanza(bool of_term) {
    if (in_term_ && term_ < 0) fail("{}:{}: a term without id", path_, begun_);
    in_term_ = of_term, term_ = -1, begun_ = line_;
  }

  void read_line(std::string_view line) {
    if (line.starts_with('[')) return begin_stanza(line == "[Term]");
    if (!in_term_ || line.empty() || line.front() == '!') return;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      fail("{}:{}: expected 'tag: value' (found '{}')", path_, line_, printable(line));
    }
    const std::string value = obo_value(trimmed(line.substr(colon + 1)));
    read_tag(line.substr(0, colon), value);
  }

  void read_tag(std::string_view tag, const std::string& value) {
    if (tag == "id") {
      term_ = term_named(value);
      terms_[static_cast<std::size_t>(term_)].defined = true;
      return;
    }
    if (term_ < 0) return;  // The format puts the id first.
    if (tag == "name") terms_[static_cast<std::size_t>(term_)].name = value;
    if (tag == "is_obsolete") terms_[static_cast<std::size_t>(term_)].obsolete = value == "true";
    if (tag == "is_a") links_.push_back({term_, term_named(value)});
    if (tag != "relationship") return;
    const std::size_t blank = std::min(value.find(' '), value.size());
    if (!contains(relations_, value.substr(0, blank))) return;
    add_once(found_, value.substr(0, blank));
    links_.push_back({term_, term_named(std::string(trimmed(value.substr(blank))))});
  }
};

}  // namespace

MadeData imported_obo(const KeyValues& values) {
  const std::string& path = values.text("path");
  OboReader reader(path, words_at(values.text("relations"), ','));
  reader.read(import_text(path));
  return reader.finish(values);
}

}  // namespace conelab
