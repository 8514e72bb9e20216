// A hierarchy from nested JSON (RFC 8259): {"name": "root", "children": [{"name": "leaf"}, ...]}.
//
// The file holds one such object or a list of them, nested to any depth. Names are texts or
// numbers. Other members are passed over, but not objects that have others alone.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/dataset/import.h"

namespace conelab {
namespace {

using nlohmann::json;

/// Receives the parser's events, and keeps the values that are open.
class NodeEvents : public nlohmann::json_sax<json> {
 public:
  NodeEvents(const std::string& path, ImportedNodes& nodes) : path_(path), nodes_(nodes) {}

  bool null() override { return in(Open::node) && key_ == "children" ? true : plain("null"); }
  bool boolean(bool value) override { return plain(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return plain(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return plain(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return plain(text); }
  bool string(string_t& value) override { return plain(value); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    key_ = value;
    if (in(Open::node)) {
      Members& members = members_.back();
      if (key_ == "name" || key_ == "children") members = Members::own;
      if (members == Members::none) members = Members::others;
    }
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool start_object(std::size_t) override {
    if (!open_.empty() && !in(Open::nodes)) return begin_other();
    const Node node = nodes_.add("");
    if (!above_.empty()) nodes_.link(node, above_.back());
    above_.push_back(node);
    members_.push_back(Members::none);
    open_.push_back(Open::node);
    return true;
  }
  bool start_array(std::size_t) override {
    if (!open_.empty() && !(in(Open::node) && key_ == "children")) return begin_other();
    open_.push_back(Open::nodes);
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) override {
    const std::string why = error.what();  // "[json.exception.parse_error.101] parse error: why"
    const std::size_t reason = why.find(": ");
    fail("{}: malformed JSON (byte {}: {})", path_, byte,
         printable(reason == std::string::npos ? why : why.substr(reason + 2), 200));
  }

 private:
  enum class Open { node, nodes, other };
  enum class Members { none, others, own };
  const std::string& path_;
  ImportedNodes& nodes_;
  std::vector<Open> open_;
  std::vector<Node> above_;       ///< Those of `open_` that are nodes.
  std::vector<Members> members_;  ///< Of each of these, so far; `own`: a name or children.
  std::string key_;               ///< The last one.

  [[nodiscard]] bool in(Open kind) const { return !open_.empty() && open_.back() == kind; }
  [[noreturn]] void wrong(const std::string& found) const {
    fail("{}: after {} nodes: expected {{\"name\": a text, \"children\": [objects]}} (found {})",
         path_, nodes_.size(), printable(found));
  }
  bool plain(const std::string& text) {
    if (in(Open::other)) return true;
    if (!in(Open::node) || key_ == "children") wrong(text);
    if (key_ == "name") nodes_.rename(above_.back(), valid_utf8(text));
    return true;
  }
  bool begin_other() {
    if (in(Open::nodes) || (in(Open::node) && (key_ == "name" || key_ == "children"))) {
      wrong("another value in '" + key_ + "'");
    }
    open_.push_back(Open::other);
    return true;
  }
  bool end() {
    if (in(Open::node)) {
      if (members_.back() == Members::others) wrong("an object with other members alone");
      above_.pop_back(), members_.pop_back();
    }
    open_.pop_back();
    key_.clear();
    return true;
  }
};

}  // namespace

MadeData imported_json(const KeyValues& values) {
  const std::string text = import_text(values.text("path"));
  ImportedNodes nodes;
  NodeEvents events(values.text("path"), nodes);
  (void)json::sax_parse(text, &events);
  return nodes.finish(values);
}

}  // namespace conelab
