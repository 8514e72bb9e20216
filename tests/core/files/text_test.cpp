#include <nlohmann/json.hpp>

#include "core/base/utf8.h"
#include "core/files/json_reader.h"
#include "tests/helpers/errors.h"

namespace conelab {
namespace {

using fixtures::message_of;
using ::testing::HasSubstr;

TEST(Text, KeepsUtf8AndEscapesTheRest) {
  EXPECT_EQ(valid_utf8("größer 日本 🙂\n"), "größer 日本 🙂\n");
  EXPECT_EQ(valid_utf8("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(valid_utf8("\xe6\x97"), "\\xe6\\x97") << "cut";
}

TEST(Text, PrintsOneLineOfBoundedLength) {
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable(std::string(10'000'000, 'x')).size(), 80 + std::string("…").size());
}

TEST(Json, ReadsTheGrammar) {
  const nlohmann::json value = parse_json(
      R"( {"a": [1, -2.5e3, true, false, null, "x\n\u00e4\ud83d\ude42"], "b": {}} )", "t");
  EXPECT_EQ(value, (nlohmann::json{{"a", {1, -2500.0, true, false, nullptr, "x\nä🙂"}},
                                   {"b", nlohmann::json::object()}}));
  EXPECT_EQ(parse_json("9007199254740993", "t"), 9007199254740993);
  EXPECT_FALSE(parse_json("18446744073709551616", "t").is_number_integer());
}

TEST(Json, RefusesEverythingElse) {
  for (const char* text : {"",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "1e",
                           "nul",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"a\nb\"",
                           "1 2",
                           "{\"a\":1,\"a\":2}",
                           "\"\xff\"",
                           "\"\\u0000\"",
                           "[1 2]",
                           "{\"a\" 1}",
                           "\"\\",
                           "-",
                           "tru",
                           "/**/1"}) {
    EXPECT_THAT(message_of([&] { (void)parse_json(text, "t"); }), HasSubstr("t: malformed JSON"))
        << text;
  }
  EXPECT_THAT(message_of([] { (void)parse_json(std::string(100000, '['), "t"); }),
              HasSubstr("at most 64 levels"));
  std::string many = "[0";
  for (int i = 0; i < 2'000'000; ++i) many += ",0";
  EXPECT_THAT(message_of([&] { (void)parse_json(many + "]", "t"); }),
              HasSubstr("2,000,000 values"));
}

}  // namespace
}  // namespace conelab
