#include <gtest/gtest.h>

#include "core/drawing/font_metrics.h"
#include "core/drawing/fonts.h"
#include "core/drawing/svg.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

DisplayList page(const std::string& text, Face face = Face::regular) {
  DisplayList list;
  list.width = 200, list.height = 50;
  list.text({10, 20}, text, {.face = face});
  return list;
}

TEST(MissingGlyphs, AreDrawnByTheirNumbers) {
  EXPECT_EQ(drawn_text(Face::regular, U"a中😀Ġ"), U"a\\u4E2D😀Ġ");
  EXPECT_EQ(drawn_text(Face::bold, U"\U0001F9FF"), U"\\u{1F9FF}");
  const std::string svg = to_svg(page("a中"));
  EXPECT_NE(svg.find(">a\\u4E2D</text>"), std::string::npos);
}

TEST(MissingGlyphs, HaveTheWidthOfWhatIsDrawn) {
  for (const Face face : {Face::regular, Face::bold, Face::italic}) {
    EXPECT_DOUBLE_EQ(text_width("x中", 7, face), text_width("x\\u4E2D", 7, face));
  }
  // Cut between characters, never within the number of one.
  const double room = text_width("x\\u4E2D…", 7) + 1;
  EXPECT_EQ(elide("x中文", 7, room), "x中…");
}

TEST(MissingGlyphs, NoneIsLeftInWhatIsDrawn) {
  const std::u32string drawn =
      drawn_text(Face::italic, U"中文字 한국어 हिन्दी ไทย \uE000\U0001F9FF\uFFFD");
  for (const char32_t c : drawn) EXPECT_TRUE(has_glyph(Face::italic, c)) << static_cast<int>(c);
}

TEST(MissingGlyphs, AreNamedOnceInOneLine) {
  EXPECT_EQ(missing_note(page("plain, ünïcode ▁Ġ ↵ שלום 😀")), "");
  EXPECT_EQ(missing_note(page("中 and 中", Face::bold)),
            "no embedded font has 中 (U+4E2D): drawn as \\u4E2D");
  const std::string many = missing_note(page("一丁七三上下"));
  EXPECT_EQ(many,
            "no embedded font has 一 (U+4E00), 丁 (U+4E01), 七 (U+4E03), 三 (U+4E09) and 2 more: "
            "drawn as \\u4E00 and so on");
}

}  // namespace
}  // namespace conelab::figure
