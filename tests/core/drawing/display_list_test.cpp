#include "core/drawing/display_list.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"
#include "tests/core/figure/dump.h"

namespace conelab::figure {
namespace {

DisplayList sample() {
  DisplayList list;
  list.width = 100, list.height = 50;
  list.metadata.title = "A \"small\" figure";
  list.group_begin("panel", "Panel one");
  list.clip_begin(Box{0, 0, 100, 40});
  list.path(Path().move({10, 20}).arc({20, 20}, 10, std::numbers::pi, std::numbers::pi).close(),
            Paint{Colour{230, 159, 0}.opacity(0.5), Stroke{black, 0.5, {2, 1}}});
  list.clip_end();
  list.text({50, 45}, rich("<i>n</i><sup>2</sup>"), {.size = 7, .anchor = Anchor::middle});
  list.image({60, 10, 20, 20}, 2, 1, {0, 0, 0, 255, 255, 255, 255, 255});
  list.group_end();
  return list;
}

TEST(DisplayList, DumpIsTheGoldenText) {
  EXPECT_EQ(dump(sample()),
            "page 100.00 x 50.00\n"
            "title \"A \\\"small\\\" figure\"\n"
            "group panel \"Panel one\"\n"
            "clip M 0.00,0.00 L 100.00,0.00 L 100.00,40.00 L 0.00,40.00 Z\n"
            "path fill #e69f0080 stroke #000000 0.50 dash 2.00,1.00: M 10.00,20.00 "
            "A 20.00,20.00 r 10.00 180.00+180.00 Z\n"
            "end clip\n"
            "text 50.00,45.00 size 7.00 middle italic \"n\" super \"2\"\n"
            "image 60.00,10.00 20.00x20.00 cells 2x1 crc 71fd3806\n"
            "end group\n");
}

TEST(DisplayList, ArcJoinsByALineWhereItDoesNotStartAtThePen) {
  const Path path = Path().move({0, 0}).arc({20, 0}, 10, std::numbers::pi, 1);
  ASSERT_EQ(path.segments.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<LineTo>(path.segments[1]));
}

TEST(DisplayList, PenReturnsToTheStartWhenClosed) {
  const Path path = Path().move({3, 4}).line({9, 9}).close();
  EXPECT_EQ(path.current(), (Point{3, 4}));
}

TEST(DisplayList, ValidateRefusesWhatSinksCannotDraw) {
  DisplayList list = sample();
  EXPECT_NO_THROW(validate(list));
  list.group_begin("open");
  EXPECT_THROW(validate(list), Error);
  list = sample();
  list.clip_end();
  EXPECT_THROW(validate(list), Error);
  list = sample();
  list.line({0, 0}, {std::numeric_limits<double>::quiet_NaN(), 1}, {black, 1});
  EXPECT_THROW(validate(list), Error);
  list = sample();
  list.image({0, 0, 1, 1}, 2, 2, {0, 0, 0, 255});
  EXPECT_THROW(validate(list), Error);
  EXPECT_THROW(validate(DisplayList{}), Error);
}

TEST(Text, DecodesAndEncodesEveryScript) {
  const std::string text = "aé中😀";
  EXPECT_EQ(decode_utf8(text), U"aé中😀");
  EXPECT_EQ(encode_utf8(U"aé中😀"), text);
}

TEST(Text, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(decode_utf8("a\xFF"
                        "b"),
            U"a\uFFFDb");
  EXPECT_EQ(decode_utf8("\xC3"), U"\uFFFD");                      // Cut off.
  EXPECT_EQ(decode_utf8("\xE0\x80\x80"), U"\uFFFD\uFFFD\uFFFD");  // Overlong.
  EXPECT_EQ(decode_utf8("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");  // A surrogate.
}

TEST(Text, CleanTextMakesControlsVisible) {
  EXPECT_EQ(clean_text("a\nb\t\x01"), "a↵b⇥\uFFFD");
  EXPECT_EQ(clean_text("\u200Fא\uFE0F"), "א");
  EXPECT_EQ(clean_text(std::string_view("a\0b", 3)), "a␀b");
  EXPECT_EQ(clean_text(" "), " ");
  EXPECT_EQ(token_text("  "), "··");
  EXPECT_EQ(token_text("\u00A0"), "·");
  EXPECT_EQ(token_text(" a "), " a ");
}

TEST(Text, MarkupBecomesRuns) {
  const auto runs = rich("10<sup>−3</sup> &lt; <b>x</b>");
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[1], (TextRun{"−3", Face::regular, Script::super}));
  EXPECT_EQ(runs[3], (TextRun{"x", Face::bold, Script::normal}));
  EXPECT_EQ(plain(runs), "10−3 < x");
  EXPECT_EQ(plain(rich("a<u>b")), "a<u>b");
}

TEST(FontMetrics, WidthsAreThoseOfLiberationSans) {
  EXPECT_NEAR(text_width("0", 10), 5.5615, 1e-3);  // Metric-compatible with Arial: 1139/2048.
  EXPECT_NEAR(text_width("W", 10, Face::bold), 9.4385, 1e-3);
  EXPECT_NEAR(cap_height(), 0.716, 0.03);
  EXPECT_NEAR(text_width(rich("10<sup>2</sup>"), 10), 5.5615 * 2.7, 2e-3);
}

TEST(FontMetrics, ElideFitsTheWidth) {
  const std::string cut = elide("antidisestablishmentarianism", 8, 40);
  EXPECT_LE(text_width(cut, 8), 40);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_EQ(elide("short", 8, 40), "short");
  EXPECT_EQ(elide("long", 8, 1), "…");
}

TEST(FontMetrics, OverlapUsesTheTurnedBox) {
  DisplayList list;
  list.text({0, 0}, "diagonal", {.size = 8, .rotation = 45});
  list.text({14, 0}, "diagonal", {.size = 8, .rotation = 45});
  list.text({2, 2}, "x", {.size = 8});
  const auto quad = [&](std::size_t i) { return text_quad(std::get<TextItem>(list.items[i])); };
  EXPECT_FALSE(overlap(quad(0), quad(1)));  // Their upright boxes do overlap.
  EXPECT_TRUE(overlap(quad(0), quad(2)));
}

}  // namespace
}  // namespace conelab::figure
