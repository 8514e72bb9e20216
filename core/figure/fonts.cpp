#include "core/figure/fonts.h"

#include <array>

// Put into the object file by fonts_data.cpp.in.
extern "C" {
extern const unsigned char conelab_font_regular[], conelab_font_regular_end[];
extern const unsigned char conelab_font_bold[], conelab_font_bold_end[];
extern const unsigned char conelab_font_italic[], conelab_font_italic_end[];
extern const unsigned char conelab_font_fallback[], conelab_font_fallback_end[];
}

namespace conelab::figure {

Bytes font_bytes(FontFile file) {
  switch (file) {
    case FontFile::regular:
      return {conelab_font_regular, conelab_font_regular_end};
    case FontFile::bold:
      return {conelab_font_bold, conelab_font_bold_end};
    case FontFile::italic:
      return {conelab_font_italic, conelab_font_italic_end};
    case FontFile::fallback:
      return {conelab_font_fallback, conelab_font_fallback_end};
  }
  return {};
}

const TrueType& font(FontFile file) {
  static const std::array<TrueType, 4> fonts = {
      TrueType(font_bytes(FontFile::regular)), TrueType(font_bytes(FontFile::bold)),
      TrueType(font_bytes(FontFile::italic)), TrueType(font_bytes(FontFile::fallback))};
  return fonts[static_cast<std::size_t>(file)];
}

FontFile font_for(Face face, char32_t code) {
  const auto own = static_cast<FontFile>(face);
  if (font(own).glyph(code) != 0 || font(FontFile::fallback).glyph(code) == 0) return own;
  return FontFile::fallback;
}

bool has_glyph(Face face, char32_t code) { return font(font_for(face, code)).glyph(code) != 0; }

}  // namespace conelab::figure
