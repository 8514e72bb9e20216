#include "core/figure/missing_glyphs.h"

#include <fmt/format.h>

#include "core/figure/fonts.h"
#include "core/figure/text.h"

namespace conelab::figure {
namespace {

std::set<char32_t> missing_characters(const DisplayList& list) {
  std::set<char32_t> missing;
  for (const Item& item : list.items) {
    const auto* text = std::get_if<TextItem>(&item);
    if (text == nullptr) continue;
    for (const TextRun& run : text->runs) {
      for (const char32_t c : decode_utf8(run.text)) {
        if (!has_glyph(run.face, c)) missing.insert(c);
      }
    }
  }
  return missing;
}

}  // namespace

std::u32string code_point_text(char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  return decode_utf8(code > 0xFFFF ? fmt::format("\\u{{{:X}}}", number)
                                   : fmt::format("\\u{:04X}", number));
}

std::u32string drawn_text(Face face, std::u32string_view text) {
  std::u32string drawn;
  for (const char32_t c : text) {
    if (has_glyph(face, c)) {
      drawn += c;
    } else {
      drawn += code_point_text(c);
    }
  }
  return drawn;
}

std::string missing_note(const DisplayList& list) {
  constexpr std::size_t most_named = 4;
  const std::set<char32_t> missing = missing_characters(list);
  if (missing.empty()) return "";
  std::string names;
  std::size_t named = 0;
  for (const char32_t c : missing) {
    if (named == most_named) break;
    names += fmt::format("{}{} (U+{:04X})", named++ == 0 ? "" : ", ",
                         encode_utf8(std::u32string(1, c)), static_cast<std::uint32_t>(c));
  }
  const std::size_t more = missing.size() - named;
  if (more > 0) names += fmt::format(" and {} more", more);
  return fmt::format("no embedded font has {}: drawn as {}{}", names,
                     encode_utf8(code_point_text(*missing.begin())),
                     missing.size() > 1 ? " and so on" : "");
}

}  // namespace conelab::figure
