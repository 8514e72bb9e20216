#include "core/files/json_reader.h"

#include <charconv>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/files/text.h"

namespace conelab {
namespace {

constexpr int most_levels = 64;
/// A header of tensors needs seven for each; this many take about 200 MB.
constexpr int most_values = 2'000'000;

class Parser {
 public:
  Parser(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  JsonValue document() {
    JsonValue value = parse(0);
    skip_space();
    if (at_ != text_.size()) malformed("the end");
    return value;
  }

 private:
  using Kind = JsonValue::Kind;

  [[noreturn]] void malformed(const char* expected) const {
    fail("{}: malformed JSON at byte {} (expected {}, found '{}')", place_, at_, expected,
         printable(text_.substr(at_, 12)));
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void require(char c, const char* expected) {
    if (!accept(c)) malformed(expected);
  }
  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  JsonValue parse(int level) {
    if (level > most_levels) malformed("at most 64 levels");
    if (++values_ > most_values) malformed("at most 2,000,000 values");
    skip_space();
    JsonValue value;
    if (peek() == '{') {
      parse_object(value, level);
    } else if (peek() == '[') {
      parse_array(value, level);
    } else if (peek() == '"') {
      value.kind = Kind::string;
      value.text = string();
    } else if (word("true") || word("false")) {
      value.kind = Kind::boolean;
      value.boolean = text_[at_ - 2] == 'u';
    } else if (!word("null")) {
      value.kind = Kind::number;
      value.text = number();
    }
    return value;
  }

  void parse_object(JsonValue& value, int level) {
    value.kind = Kind::object;
    std::set<std::string> seen;
    require('{', "'{'");
    if (accept('}')) return;
    do {
      skip_space();
      if (peek() != '"') malformed("a key");
      std::string key = string();
      if (!seen.insert(key).second) malformed("each key once");
      require(':', "':'");
      value.members.push_back({std::move(key), parse(level + 1)});
    } while (accept(','));
    require('}', "',' or '}'");
  }

  void parse_array(JsonValue& value, int level) {
    value.kind = Kind::array;
    require('[', "'['");
    if (accept(']')) return;
    do {
      value.items.push_back(parse(level + 1));
    } while (accept(','));
    require(']', "',' or ']'");
  }

  std::string number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (peek() == '.') ++at_, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  void digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (at_ == begin) malformed("a value");
  }

  std::string string() {
    std::string result;
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) malformed("no control character in a string");
      if (c == '\\') {
        escape(result);
      } else {
        result += c;
      }
    }
    if (at_ >= text_.size()) malformed("the end of a string");
    ++at_;
    if (valid_utf8(result) != result) malformed("UTF-8 without NUL before here");
    return result;
  }

  void escape(std::string& result) {
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) malformed("the end of a string");
    const char c = text_[at_++];
    const std::size_t known = names.find(c);
    if (c == 'u') {
      unicode(result);
    } else if (known != names.npos) {
      result += meanings[known];
    } else {
      malformed("an escape");
    }
  }

  std::uint32_t four_digits() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) {
      malformed("four hexadecimal digits");
    }
    at_ += 4;
    return code;
  }

  void unicode(std::string& result) {
    std::uint32_t code = four_digits();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!word("\\u")) malformed("the second half of a surrogate pair");
      const std::uint32_t low = four_digits();
      if (low < 0xDC00 || low > 0xDFFF) malformed("the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(result, code);
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t at_ = 0;
  int values_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(const std::string& key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::optional<std::int64_t> JsonValue::whole_number() const {
  const std::optional<std::int64_t> number = parse_integer(text);
  return kind == Kind::number && number && *number >= 0 ? number : std::nullopt;
}

JsonValue parse_json(std::string_view text, const std::string& place) {
  return Parser(text, place).document();
}

}  // namespace conelab
