#include "core/drawing/svg.h"

#include <gtest/gtest.h>
#include <hb-ot.h>
#include <png.h>

#include "core/base/error.h"
#include "core/drawing/fonts.h"
#include "core/drawing/raster.h"
#include "core/drawing/text.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

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

/// A font file as a reader of it sees it.
struct ReadFont {
  explicit ReadFont(Bytes bytes)
      : blob(hb_blob_create(reinterpret_cast<const char*>(bytes.data()),
                            static_cast<unsigned>(bytes.size()), HB_MEMORY_MODE_DUPLICATE, nullptr,
                            nullptr)),
        face(hb_face_create(blob, 0)),
        font(hb_font_create(face)) {}
  ~ReadFont() { hb_font_destroy(font), hb_face_destroy(face), hb_blob_destroy(blob); }
  ReadFont(const ReadFont&) = delete;
  ReadFont& operator=(const ReadFont&) = delete;

  [[nodiscard]] hb_codepoint_t glyph(char32_t code) const {
    hb_codepoint_t glyph = 0;
    return hb_font_get_nominal_glyph(font, code, &glyph) ? glyph : 0;
  }
  [[nodiscard]] double advance(char32_t code) const {
    return static_cast<double>(hb_font_get_glyph_h_advance(font, glyph(code))) /
           hb_face_get_upem(face);
  }
  [[nodiscard]] int height(char32_t code) const {
    hb_glyph_extents_t extents{};
    hb_font_get_glyph_extents(font, glyph(code), &extents);
    return extents.height;
  }
  [[nodiscard]] std::string name(hb_ot_name_id_t id) const {
    char text[100] = "";
    unsigned size = sizeof text;
    hb_ot_name_get_utf8(face, id, hb_language_from_string("en", -1), &size, text);
    return text;
  }

  hb_blob_t* blob;
  hb_face_t* face;
  hb_font_t* font;
};

TEST(FontSubset, KeepsMetricsAndOutlinesOfTheCharacters) {
  const auto bytes = subset_font(FontFile::regular, {U'a', U'é', U'Ω', U'中'}, "Test Sans");
  const ReadFont subset(bytes), whole(font_bytes(FontFile::regular));
  for (const char32_t c : {U'a', U'é', U'Ω'}) {
    ASSERT_NE(subset.glyph(c), 0u) << static_cast<unsigned>(c);
    EXPECT_EQ(subset.advance(c), advance(FontFile::regular, c));
    EXPECT_EQ(subset.height(c), whole.height(c));
  }
  EXPECT_EQ(subset.glyph(U'b'), 0u);
  EXPECT_LT(bytes.size(), 4000u);
}

TEST(FontSubset, CarriesAnotherNameAsTheLicencesAsk) {
  const auto bytes = subset_font(FontFile::bold, {U'a'}, "Test Sans");
  const ReadFont font(bytes);
  EXPECT_EQ(font.name(HB_OT_NAME_ID_FONT_FAMILY), "Test Sans");
  EXPECT_EQ(font.name(HB_OT_NAME_ID_POSTSCRIPT_NAME), "TestSans");
}

TEST(FontSubset, ChecksumMakesTheFileSumToTheMagicNumber) {
  const auto bytes = subset_font(FontFile::fallback, {U'א', U'😀', U'ﬁ'}, "Test Fallback");
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum += std::uint32_t{bytes[i + k]} << (24 - 8 * k);
  }
  EXPECT_EQ(bytes.size() % 4, 0u);
  EXPECT_EQ(sum, 0xB1B0AFBAu);
}

TEST(Fonts, SignsDrawTheNulOfAToken) {
  EXPECT_EQ(font_for(Face::regular, U'␀'), FontFile::signs);
  EXPECT_TRUE(has_glyph(Face::bold, U'␀'));
  EXPECT_NEAR(advance(FontFile::signs, U'␀'), 0.89, 1e-9);
}

TEST(Fonts, FallbackDrawsWhatTheFaceLacks) {
  EXPECT_EQ(font_for(Face::bold, U'a'), FontFile::bold);
  EXPECT_EQ(font_for(Face::regular, U'ℵ'), FontFile::fallback);
  EXPECT_EQ(font_for(Face::regular, U'中'), FontFile::regular);
}

/// The pixels of a PNG, as any reader of them sees them.
std::vector<std::uint8_t> rgba_of(const std::vector<std::uint8_t>& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0);
  image.format = PNG_FORMAT_RGBA;
  std::vector<std::uint8_t> rgba(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr), 0);
  return rgba;
}

/// 300 opaque pixels of as many colours.
std::vector<std::uint8_t> many_colours() {
  std::vector<std::uint8_t> rgba;
  for (int i = 0; i < 300; ++i) {
    rgba.insert(rgba.end(),
                {static_cast<std::uint8_t>(i / 2), static_cast<std::uint8_t>(i), 7, 255});
  }
  return rgba;
}

TEST(Png, KeepsEveryPixel) {
  const std::vector<std::uint8_t> few = {9, 2, 3, 255, 4, 5, 6, 255, 9, 2, 3, 255, 0, 0, 0, 255};
  const std::vector<std::uint8_t> clear = {1, 2, 3, 4, 5, 6, 7, 8, 250, 251, 252, 0};
  EXPECT_EQ(rgba_of(encode_png(2, 2, few)), few);
  EXPECT_EQ(rgba_of(encode_png(1, 3, clear)), clear);
  EXPECT_EQ(rgba_of(encode_png(3, 100, many_colours())), many_colours());
}

TEST(Png, StoresFewColoursInAPaletteAndSaysWhatItIs) {
  const std::vector<std::uint8_t> rgba = {9, 2, 3, 255, 4, 5, 6, 255, 9, 2, 3, 255, 0, 0, 0, 255};
  const auto png = encode_png(2, 2, rgba, 254, {{"Title", "größer"}, {"Empty", ""}});
  const std::string text(png.begin(), png.end());
  EXPECT_NE(text.find(std::string("pHYs\0\0\x27\x10\0\0\x27\x10\1", 13)), std::string::npos);
  EXPECT_EQ(count(text, "iTXt"), 1u);
  EXPECT_NE(text.find("größer"), std::string::npos);
  EXPECT_NE(text.find(std::string("PLTE\x09\x02\x03\x04\x05\x06\0\0\0", 13)), std::string::npos);
  EXPECT_EQ(encode_png(2, 2, rgba, 254, {{"Title", "größer"}}), png);
  EXPECT_THROW((void)encode_png(2, 2, {}, 0), Error);
  EXPECT_THROW((void)encode_png(0, 0, {}, 0), Error);
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
