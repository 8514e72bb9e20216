#include <gtest/gtest.h>

#include "core/call/call.h"

namespace conelab {
namespace {

using Lists = std::vector<std::vector<double>>;

TEST(Value, IsParsedOnce) {
  EXPECT_EQ(Value("2.5").number(), 2.5);
  EXPECT_EQ(Value("2.5").lists(), (Lists{{2.5}}));
  EXPECT_EQ(Value(" -1, .2").lists(), (Lists{{-1, 0.2}}));
  EXPECT_EQ(Value(".2,.1;.3,.4").lists(), (Lists{{0.2, 0.1}, {0.3, 0.4}}));
  EXPECT_EQ(Value("5x6").sides(), (std::vector<double>{5, 6}));
  EXPECT_TRUE(Value("random").is_random());
  EXPECT_EQ(Value("@a,b.npy").file(), "a,b.npy");
  for (const char* text : {"", "1,", ",1", "1;;2", "1,x", "reference", "@1.npy", "5x6"}) {
    EXPECT_TRUE(Value(text).lists().empty()) << text;
    EXPECT_EQ(Value(text).number(), std::nullopt) << text;
    EXPECT_EQ(Value(text).text(), text);
  }
}

TEST(Value, OfNumbersIsTheirShortestText) {
  for (const double number : {0.1, 1.0 / 3, 1e-300, -2.0, 1e22}) {
    EXPECT_EQ(Value(number).number(), number);
    EXPECT_EQ(Value(Value(number).text()).number(), number);
  }
  EXPECT_EQ(Value(0.1).text(), "0.1");
  EXPECT_EQ(Value(std::vector<double>{1, 0.5}).text(), "1,0.5");
  EXPECT_EQ(Value(Value(std::vector<double>{1, 0.5}).text()).lists(), (Lists{{1, 0.5}}));
  EXPECT_EQ(Value::of_sides({5, 6}).text(), "5x6");
  EXPECT_EQ(Value::of_sides({5, 6}).sides(), (std::vector<double>{5, 6}));
}

TEST(Value, OfAHeadIsItsEntry) {
  EXPECT_EQ(Value("1,2,4").of_head(1, false), "2");
  EXPECT_EQ(Value("1;2;4").of_head(2, false), "4");
  EXPECT_EQ(Value("1,2").of_head(2, false), "1,2");  // There is none.
  EXPECT_EQ(Value("1,2").of_head(0, true), "1,2");
  EXPECT_EQ(Value("1,2;3,4").of_head(1, true), "3,4");
  EXPECT_EQ(Value("@a,b.npy").of_head(1, false), "@a,b.npy");
}

}  // namespace
}  // namespace conelab
