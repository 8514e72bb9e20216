#include "core/base/utf8.h"

#include <gtest/gtest.h>

namespace conelab {
namespace {

TEST(Utf8, DecodesWhatItEncodes) {
  for (const char32_t code :
       {0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string bytes;
    append_utf8(bytes, code);
    const Utf8Character c = first_character(bytes + "a");
    EXPECT_TRUE(c.valid) << static_cast<unsigned>(code);
    EXPECT_EQ(c.code, code);
    EXPECT_EQ(c.length, bytes.size());
  }
  EXPECT_EQ(encode_utf8(decode_utf8("Hé ℵ 😀")), "Hé ℵ 😀");
}

TEST(Utf8, TakesInvalidBytesOneByOne) {
  for (const std::string_view bytes :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xF0\x9F\x98", "\xC3("}) {
    const Utf8Character c = first_character(bytes);
    EXPECT_FALSE(c.valid) << bytes.size();
    EXPECT_EQ(c.length, 1u);
    EXPECT_EQ(decode_utf8(bytes).front(), replacement_character);
  }
  EXPECT_EQ(decode_utf8("a\xE2\x82z"), U"a\uFFFD\uFFFDz");
}

TEST(Utf8, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("aé😀", 100), "aé😀");
  EXPECT_EQ(cut_utf8("aé😀", 7), "aé😀");
  EXPECT_EQ(cut_utf8("aé😀", 6), "aé");
  EXPECT_EQ(cut_utf8("aé😀", 2), "a");
  EXPECT_EQ(cut_utf8("é", 1), "");
}

}  // namespace
}  // namespace conelab
