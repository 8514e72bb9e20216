#include "core/files/json_reader.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace conelab {
namespace {

using nlohmann::json;

constexpr std::size_t most_nested = 64;
/// A header of tensors contains seven values for each tensor.
constexpr std::size_t most_json_values = 2'000'000;

/// Checks what nlohmann-json does not check, before it builds a value. The functions return false
/// to stop.
class Checker : public nlohmann::json_sax<json> {
 public:
  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(json::number_integer_t) override { return count(); }
  bool number_unsigned(json::number_unsigned_t) override { return count(); }
  bool number_float(json::number_float_t, const std::string&) override { return count(); }
  bool string(std::string& text) override { return without_nul(text) && count(); }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(); }
  bool key(std::string& name) override {
    if (!without_nul(name)) return false;
    return keys_.back().insert(name).second ||
           refuse("expected each key once, found '" + name + "'");
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& error) override {
    // The library's text is "[json.exception.parse_error.101] parse error at line 1, column 2:
    // syntax error while ...".
    const std::string text = error.what();
    const std::size_t reason = text.find(": ");
    return refuse(fmt::format("byte {}: {}", position,
                              reason == std::string::npos ? text : text.substr(reason + 2)));
  }

  std::string problem;

 private:
  bool refuse(const std::string& why) {
    problem = why;
    return false;
  }
  bool count() {
    return ++values_ <= most_json_values || refuse("expected at most 2,000,000 values");
  }
  bool open() {
    if (keys_.size() == most_nested) return refuse("expected at most 64 levels");
    keys_.emplace_back();
    return count();
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  bool without_nul(const std::string& text) {
    return text.find('\0') == std::string::npos || refuse("expected strings without NUL");
  }

  /// The keys of each open object; no keys for an open array.
  std::vector<std::set<std::string>> keys_;
  std::size_t values_ = 0;
};

}  // namespace

json parse_json(std::string_view text, const std::string& place) {
  Checker checker;
  if (!json::sax_parse(text, &checker)) {
    fail("{}: malformed JSON ({})", place, printable(checker.problem, 200));
  }
  return json::parse(text);
}

}  // namespace conelab
