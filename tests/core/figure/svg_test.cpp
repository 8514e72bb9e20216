#include "core/figure/svg.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/base/error.h"
#include "core/figure/font_subset.h"
#include "core/figure/fonts.h"
#include "core/figure/png.h"
#include "core/figure/text.h"

namespace conelab::figure {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

DisplayList page() {
  DisplayList list;
  list.width = 100, list.height = 50;
  return list;
}

TEST(Svg, KeepsArcsAsArcCommands) {
  DisplayList list = page();
  list.path(Path().arc({20, 20}, 10, 0, 1), Paint::stroked(black, 1));
  list.circle({60, 20}, 10, Paint::filled(black));
  const std::string svg = to_svg(list);
  EXPECT_EQ(count(svg, "A10 10 0 0 1 "), 3u);  // One arc, and a circle in two halves.
  EXPECT_NE(svg.find("d=\"M30 20A10 10 0 0 1 25.403 28.415\""), std::string::npos);
}

TEST(Svg, WritesOneTextElementPerString) {
  DisplayList list = page();
  list.text({10, 10}, "two words");
  list.text({10, 20}, rich("<i>n</i><sup>2</sup> log <i>n</i>"));
  const std::string svg = to_svg(list);
  EXPECT_EQ(count(svg, "<text "), 2u);
  EXPECT_NE(svg.find(">two words</text>"), std::string::npos);
  EXPECT_NE(svg.find("<tspan font-size=\"5.6\" dy=\"-2.88\">2</tspan><tspan dy=\"2.88\"> log "),
            std::string::npos);
}

TEST(Svg, EscapesWhatXmlReserves) {
  DisplayList list = page();
  list.metadata.title = "a<b & \"c\"";
  list.text({10, 10}, "<s>&\x02");
  const std::string svg = to_svg(list);
  EXPECT_NE(svg.find(">&lt;s&gt;&amp;\uFFFD</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title>a&lt;b &amp; &quot;c&quot;</title>"), std::string::npos);
}

TEST(Svg, IsTheSameEveryTime) {
  DisplayList list = page();
  list.text({10, 10}, "token 中 😀");
  EXPECT_EQ(to_svg(list), to_svg(list));
}

TEST(Svg, EmbedsOnlyTheFontsUsed) {
  DisplayList list = page();
  EXPECT_EQ(count(to_svg(list), "@font-face"), 0u);
  list.text({10, 10}, "abc");
  EXPECT_EQ(count(to_svg(list), "@font-face"), 1u);
  EXPECT_LT(to_svg(list).size(), 8000u);
  list.text({10, 20}, "ℵ𝔸", {.face = Face::bold});
  EXPECT_EQ(count(to_svg(list), "'Conelab Fallback"), 2u);  // The family list and one font.
}

TEST(Svg, RefusesAnUnsoundList) {
  DisplayList list = page();
  list.group_begin("open");
  EXPECT_THROW((void)to_svg(list), Error);
}

TEST(FontSubset, KeepsMetricsAndOutlinesOfTheCharacters) {
  const TrueType& whole = font(FontFile::regular);
  const auto bytes = subset_font(whole, {U'a', U'é', U'Ω', U'中'}, "Test Sans");
  const TrueType subset(bytes);
  for (const char32_t c : {U'a', U'é', U'Ω'}) {
    ASSERT_NE(subset.glyph(c), 0) << static_cast<unsigned>(c);
    EXPECT_EQ(subset.advance(subset.glyph(c)), whole.advance(whole.glyph(c)));
    EXPECT_FALSE(subset.outline(subset.glyph(c)).empty());
  }
  EXPECT_EQ(subset.glyph(U'b'), 0);
  EXPECT_NE(subset.glyph(U'中'), 0);  // The box, so that every viewer draws it.
  EXPECT_LT(bytes.size(), 4000u);
}

TEST(FontSubset, ChecksumMakesTheFileSumToTheMagicNumber) {
  auto bytes = subset_font(font(FontFile::fallback), {U'א', U'😀', U'ﬁ'}, "Test Fallback");
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) sum += read_u32(bytes, i);
  EXPECT_EQ(bytes.size() % 4, 0u);
  EXPECT_EQ(sum, 0xB1B0AFBAu);
}

TEST(TrueType, RefusesAFileThatIsNoFont) {
  const std::vector<std::uint8_t> junk(40, 7);
  EXPECT_THROW(TrueType{junk}, Error);
  EXPECT_THROW(TrueType{Bytes{}}, Error);
}

TEST(Fonts, FallbackDrawsWhatTheFaceLacks) {
  EXPECT_EQ(font_for(Face::bold, U'a'), FontFile::bold);
  EXPECT_EQ(font_for(Face::regular, U'ℵ'), FontFile::fallback);
  EXPECT_EQ(font_for(Face::regular, U'中'), FontFile::regular);
}

/// The unfiltered-to-be rows of a PNG with one IDAT chunk.
std::vector<std::uint8_t> rows_of(const std::vector<std::uint8_t>& png, std::size_t size) {
  const std::string text(png.begin(), png.end());
  const std::size_t data = text.find("IDAT") + 4;
  std::vector<std::uint8_t> raw(size);
  uLongf length = raw.size();
  EXPECT_EQ(uncompress(raw.data(), &length, png.data() + data, png.size() - data - 16), Z_OK);
  EXPECT_EQ(length, size);
  return raw;
}

TEST(Png, StoresFewColoursInAPalette) {
  const std::vector<std::uint8_t> rgba = {9, 2, 3, 255, 4, 5, 6, 255, 9, 2, 3, 255, 0, 0, 0, 255};
  const auto png = encode_png(2, 2, rgba, 254, {{"Title", "t"}, {"Empty", ""}});
  const std::string text(png.begin(), png.end());
  EXPECT_NE(text.find("pHYs"), std::string::npos);
  EXPECT_EQ(count(text, "iTXt"), 1u);
  EXPECT_NE(text.find(std::string("PLTE\x09\x02\x03\x04\x05\x06\0\0\0", 13)), std::string::npos);
  EXPECT_EQ(rows_of(png, 6), (std::vector<std::uint8_t>{0, 0, 1, 2, 0, 1}));
  EXPECT_THROW((void)encode_png(2, 2, {}, 0), Error);
}

TEST(Png, KeepsAlphaAndManyColours) {
  const auto clear = encode_png(1, 2, std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(rows_of(clear, 10), (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 2, 4, 4, 4, 4}));
  std::vector<std::uint8_t> many;
  for (int i = 0; i < 300; ++i) {
    many.insert(many.end(),
                {static_cast<std::uint8_t>(i / 2), static_cast<std::uint8_t>(i), 7, 255});
  }
  const auto rows = rows_of(encode_png(300, 1, many), 901);
  EXPECT_EQ(rows[900], 7);
  EXPECT_EQ(rows[898], 149);
}

TEST(Png, Base64PadsAsTheStandardSays) {
  const auto of = [](const std::string& s) {
    return base64(std::vector<std::uint8_t>(s.begin(), s.end()));
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace conelab::figure
