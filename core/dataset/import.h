// Hierarchies from files that users bring: what their readers share.
//
// A reader is a file of this folder with the row of its data set, whose `endings` say which files
// it takes. It reads the text, which may be of any origin, and adds nodes and edges to an
// ImportedNodes; `finish` makes the hierarchy.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dataset/dataset.h"

namespace conelab {

/// Returns the keys that every reader takes, `path`, `sample` and `reduce`, and those of its own.
[[nodiscard]] std::vector<KeyInfo> import_keys(const std::vector<KeyInfo>& own = {});

/// Returns the text of a file without its byte order mark. Throws a failure `PATH: why` if it
/// cannot be read, is empty, larger than 1 GiB, or not in UTF-8 but in UTF-16, and if it contains
/// NUL.
[[nodiscard]] std::string import_text(const std::string& path);

/// Returns the text without blanks and ends of lines at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Reads what stands in quotes from `at` on, where the first one is, and sets `at` to behind the
/// last one. Two quotes are one of the text. Throws a failure if there is no last one.
[[nodiscard]] std::string read_quoted(const std::string& path, std::string_view text,
                                      std::size_t& at);

/// Nodes and edges in the order in which a reader finds them.
class ImportedNodes {
 public:
  /// Returns the node of this name that an earlier call has returned, or adds one.
  Node named(std::string_view name);
  /// Adds a node, even if another one has the name, and returns it. An empty name becomes "#" and
  /// the node's number.
  Node add(std::string_view name);
  /// Names a node that was added without a name.
  void rename(Node node, std::string_view name);
  void link(Node child, Node parent) { edges_.push_back({child, parent}); }
  [[nodiscard]] const std::string& name(Node node) const {
    return names_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  /// Identifiers, [n] or empty.
  std::vector<std::string> ids;
  std::vector<std::string> remarks;

  /// Returns the hierarchy under the keys of `import_keys`. An edge that appears several times is
  /// kept once, and bytes that are no UTF-8 are written as `\xNN`; a remark says so. Throws a
  /// failure that names the path, if there is no node or if there is a cycle.
  [[nodiscard]] MadeData finish(const KeyValues& values);

 private:
  std::deque<std::string> names_;  // Where a name stands in memory does not change.
  std::unordered_map<std::string_view, Node> numbers_;
  std::vector<std::array<Node, 2>> edges_;
};

/// Returns the hierarchy after `reduce` and `sample`, with remarks on what they did.
[[nodiscard]] MadeData finish_import(Hierarchy hierarchy, const KeyValues& values,
                                     std::vector<std::string> remarks);

}  // namespace conelab
