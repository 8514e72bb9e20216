// A hierarchy from trees in Newick's format: (A,(B,C)'inner node':0.5)root;
//
// Labels in single quotes may contain anything, and two quotes are one; others keep their
// underscores. Comments [...] and lengths of branches are passed over. Each tree of the file has a
// root.
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/utf8.h"
#include "core/dataset/import.h"

namespace conelab {
namespace {

class NewickReader {
 public:
  NewickReader(const std::string& path, std::string_view text, ImportedNodes& nodes)
      : path_(path), text_(text), nodes_(nodes) {}

  void read() {
    for (skip(); at_ < text_.size(); skip()) {
      const char c = text_[at_];
      const bool begins = stage_ == Stage::node;
      if (c == '(' && begins) {
        add("");
        open_.push_back(node_);
        ++at_;
      } else if ((c == ',' || c == ')') && !open_.empty()) {
        if (begins) add("");
        if (c == ')') node_ = open_.back(), open_.pop_back();
        stage_ = c == ')' ? Stage::children : Stage::node;
        ++at_;
      } else if (c == ';' && open_.empty() && !begins) {
        stage_ = Stage::node;
        ++at_;
      } else if (c == ':' && stage_ != Stage::length) {
        if (begins) add("");
        ++at_;
        skip();
        if (!parse_number(plain_text())) wrong("the length of a branch");
        stage_ = Stage::length;
      } else {
        read_label();
      }
    }
    if (!open_.empty() || stage_ != Stage::node) wrong("a tree that ends with ';'");
  }

 private:
  /// The last thing that was read of a node; `node`: nothing, one begins.
  enum class Stage { node, children, label, length };

  const std::string& path_;
  std::string_view text_;
  ImportedNodes& nodes_;
  std::size_t at_ = 0;
  Stage stage_ = Stage::node;
  Node node_ = 0;           ///< The last node that was read.
  std::vector<Node> open_;  ///< Those whose children are read.

  [[noreturn]] void wrong(const std::string& expected) const {
    fail("{}: byte {}: expected {} (found '{}')", path_, at_ + 1, expected,
         at_ < text_.size() ? printable(text_.substr(at_, 1)) : "the end");
  }

  void add(std::string_view label) {
    node_ = nodes_.add(label);
    if (!open_.empty()) nodes_.link(node_, open_.back());
  }

  void skip() {
    while (true) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (at_ == text_.size() || text_[at_] != '[') return;
      const std::size_t end = text_.find(']', at_);
      if (end == std::string_view::npos) wrong("']' after a comment");
      at_ = end + 1;
    }
  }

  std::string_view plain_text() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n()[]':;,", at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  void read_label() {
    const bool quoted = text_[at_] == '\'', fits = stage_ <= Stage::children;
    const std::size_t begin = at_;
    const std::string label =
        quoted && fits ? read_quoted(path_, text_, at_) : std::string(plain_text());
    if (!fits || at_ == begin) {
      at_ = begin;
      wrong(open_.empty() ? "a tree, or ';' after one" : "',' or ')'");
    }
    stage_ == Stage::node ? add(label) : nodes_.rename(node_, label);
    stage_ = Stage::label;
  }
};

}  // namespace

MadeData imported_newick(const KeyValues& values) {
  const std::string text = import_text(values.text("path"));
  ImportedNodes nodes;
  NewickReader(values.text("path"), text, nodes).read();
  return nodes.finish(values);
}

}  // namespace conelab
