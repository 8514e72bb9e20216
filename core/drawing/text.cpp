#include "core/drawing/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace conelab::figure {
namespace {

bool has_no_shape(char32_t c) {
  return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

char32_t visible(char32_t c) {
  if (c == 0) return 0x2400;     // ␀
  if (c == '\n') return 0x21B5;  // ↵
  if (c == '\r') return 0x2190;  // ←
  if (c == '\t') return 0x21E5;  // ⇥
  if (c < 0x20 || (c >= 0x7F && c < 0xA0) || (c & 0xFFFE) == 0xFFFE || c == 0x2028 || c == 0x2029) {
    return replacement_character;
  }
  return c;
}

bool is_blank(char32_t c) {
  return c == ' ' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

struct Tag {
  std::string_view open, close;
};
constexpr std::array<Tag, 4> tags = {
    {{"<i>", "</i>"}, {"<b>", "</b>"}, {"<sup>", "</sup>"}, {"<sub>", "</sub>"}}};

class Markup {
 public:
  std::vector<TextRun> parse(std::string_view text) {
    while (!text.empty()) {
      if (tag(text) || entity(text, "&lt;", '<') || entity(text, "&amp;", '&')) continue;
      current_.text += text.front();
      text.remove_prefix(1);
    }
    flush();
    return std::move(runs_);
  }

 private:
  bool tag(std::string_view& text) {
    for (std::size_t k = 0; k < tags.size(); ++k) {
      for (const bool opening : {true, false}) {
        const std::string_view name = opening ? tags[k].open : tags[k].close;
        if (!text.starts_with(name)) continue;
        flush();
        set(k, opening);
        text.remove_prefix(name.size());
        return true;
      }
    }
    return false;
  }
  bool entity(std::string_view& text, std::string_view name, char value) {
    if (!text.starts_with(name)) return false;
    current_.text += value;
    text.remove_prefix(name.size());
    return true;
  }
  void set(std::size_t tag, bool on) {
    if (tag == 0) current_.face = on ? Face::italic : Face::regular;
    if (tag == 1) current_.face = on ? Face::bold : Face::regular;
    if (tag == 2) current_.script = on ? Script::super : Script::normal;
    if (tag == 3) current_.script = on ? Script::sub : Script::normal;
  }
  void flush() {
    if (!current_.text.empty()) runs_.push_back(current_);
    current_.text.clear();
  }

  TextRun current_;
  std::vector<TextRun> runs_;
};

}  // namespace

std::string clean_text(std::string_view text) {
  std::u32string out;
  for (const char32_t c : decode_utf8(text)) {
    if (!has_no_shape(c)) out += visible(c);
  }
  return encode_utf8(out);
}

std::string token_text(std::string_view token) {
  const std::u32string text = decode_utf8(clean_text(token));
  const bool blank = std::ranges::all_of(text, is_blank);
  return encode_utf8(blank ? std::u32string(text.size(), U'·') : text);
}

std::string decimal(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

namespace {

constexpr std::string_view special = "&<>\"";
constexpr std::string_view escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::size_t i = special.find(c);
    out += i == special.npos ? std::string_view(&c, 1) : escapes[i];
  }
  return out;
}

std::string xml_unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto* found =
        std::ranges::find_if(escapes, [&](auto one) { return text.starts_with(one); });
    const bool escape = found != std::end(escapes);
    out += escape ? special[static_cast<std::size_t>(found - escapes)] : text.front();
    text.remove_prefix(escape ? found->size() : 1);
  }
  return out;
}

std::vector<TextRun> rich(std::string_view markup) { return Markup().parse(markup); }

std::string plain(const std::vector<TextRun>& runs) {
  std::string text;
  for (const TextRun& run : runs) text += run.text;
  return text;
}

}  // namespace conelab::figure
