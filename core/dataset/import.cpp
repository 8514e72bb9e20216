#include "core/dataset/import.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"

namespace conelab {

std::vector<KeyInfo> import_keys(const std::vector<KeyInfo>& own) {
  std::vector<KeyInfo> keys = {
      {"path", "", "what is read", Domain::any, "text"},
      {"sample", "0",
       "nodes to which a larger hierarchy is cut, with all ancestors of each; 0: all",
       Domain::count},
      {"reduce", "no", "whether edges that follow from others are left out", Domain::choice,
       "yes|no"}};
  keys.front().needed = true;
  keys.insert(keys.end(), own.begin(), own.end());
  return keys;
}

std::string import_text(const std::string& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const ByteFile file(path);
  if (file.size() > most_bytes) {
    fail("{}: too large (expected at most {} bytes, found {})", path, most_bytes, file.size());
  }
  std::string text = file.read(0, file.size());
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    fail("{}: is in UTF-16 (expected UTF-8)", path);
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) fail("{}: is no text: byte {} is 0", path, nul + 1);
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string read_quoted(const std::string& path, std::string_view text, std::size_t& at) {
  std::string quoted;
  const std::size_t begin = at;
  for (const char quote = text[at++];; ++at) {
    if (at >= text.size()) fail("{}: byte {}: this quote is not closed", path, begin + 1);
    if (text[at] == quote && (++at >= text.size() || text[at] != quote)) return quoted;
    quoted += text[at];
  }
}

Node ImportedNodes::named(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const Node node = add(name);
  numbers_.emplace(names_.back(), node);
  return node;
}

Node ImportedNodes::add(std::string_view name) {
  names_.emplace_back(name);
  return static_cast<Node>(names_.size()) - 1;
}

void ImportedNodes::rename(Node node, std::string_view name) {
  names_[static_cast<std::size_t>(node)] = name;
}

MadeData ImportedNodes::finish(const KeyValues& values) {
  const std::string& path = values.text("path");
  if (names_.empty()) fail("{}: holds no node", path);
  numbers_.clear();
  std::size_t escaped = 0;
  std::vector<std::string> names(names_.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = names_[i].empty() ? "#" + std::to_string(i) : valid_utf8(names_[i]);
    escaped += !names_[i].empty() && names[i] != names_[i];
  }
  names_.clear();
  if (escaped > 0) {
    remarks.push_back(fmt::format("{}: {} names are not in UTF-8; such bytes are written as \\xNN",
                                  path, escaped));
  }
  std::ranges::sort(edges_);
  const auto copies = std::ranges::unique(edges_);
  if (!copies.empty()) {
    remarks.push_back(
        fmt::format("{}: {} rows repeat an edge; each edge is kept once", path, copies.size()));
  }
  edges_.erase(copies.begin(), copies.end());
  Hierarchy made = make_hierarchy(std::move(edges_), std::move(names), path);
  made.ids = std::move(ids);
  return finish_import(std::move(made), values, std::move(remarks));
}

MadeData finish_import(Hierarchy hierarchy, const KeyValues& values,
                       std::vector<std::string> remarks) {
  const std::string& path = values.text("path");
  const std::size_t edges = hierarchy.edges.size();
  if (values.text("reduce") == "yes") {
    if (!closure_size(hierarchy)) fail("{}: too large for reduce=yes", path);
    hierarchy = reduced(hierarchy);
    remarks.push_back(fmt::format("{}: {} edges that follow from others are left out", path,
                                  edges - hierarchy.edges.size()));
  }
  const Node all = hierarchy.size(), wanted = values.whole("sample");
  if (wanted > 0 && wanted < all) {
    hierarchy = sampled(hierarchy, wanted, static_cast<std::uint64_t>(values.whole("seed")));
    remarks.push_back(fmt::format("{}: {} of {} nodes are drawn, with all ancestors of each", path,
                                  hierarchy.size(), all));
  }
  MadeData made{std::move(hierarchy), {}, {}};
  made.source_nodes = all;
  made.remarks = std::move(remarks);
  return made;
}

// The data set `hierarchy`: that of a data set or another result.
MadeData imported_hierarchy(const KeyValues& values) {
  return finish_import(read_hierarchy(values.text("path")), values, {});
}

}  // namespace conelab
