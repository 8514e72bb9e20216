#include "core/files/json_reader.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace conelab {
namespace {

using nlohmann::json;

constexpr int most_nested = 64;
/// A header of tensors contains seven values for each tensor.
constexpr std::size_t most_json_values = 2'000'000;

/// Checks what nlohmann-json does not check, event by event. Throws a failure.
class Checker {
 public:
  explicit Checker(const std::string& place) : place_(place) {}

  /// Takes one event of the parser. Returns true, which keeps the value.
  bool operator()(int depth, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    const bool ends = event == Event::object_end || event == Event::array_end;
    if (ends) keys_.pop_back();
    if (ends) return true;
    if (value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos) {
      refuse("expected strings without NUL");
    }
    if (event == Event::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!keys_.back().insert(name).second) refuse("expected each key once, found '" + name + "'");
      return true;
    }
    if (++values_ > most_json_values) refuse("expected at most 2,000,000 values");
    if (event == Event::value) return true;
    if (depth == most_nested) refuse("expected at most 64 levels");
    keys_.emplace_back();
    return true;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    fail("{}: malformed JSON ({})", place_, printable(why, 200));
  }

 private:
  const std::string& place_;
  /// The keys of each open object; no keys for an open array.
  std::vector<std::set<std::string>> keys_;
  std::size_t values_ = 0;
};

}  // namespace

json parse_json(std::string_view text, const std::string& place) {
  Checker checker(place);
  try {
    return json::parse(text, std::ref(checker));
  } catch (const json::parse_error& error) {
    // The library's text is "[json.exception.parse_error.101] parse error at line 1, column 2:
    // syntax error while ...".
    const std::string why = error.what();
    const std::size_t reason = why.find(": ");
    checker.refuse(fmt::format("byte {}: {}", error.byte,
                               reason == std::string::npos ? why : why.substr(reason + 2)));
  }
}

}  // namespace conelab
