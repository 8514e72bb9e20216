#include "core/base/key_values.h"

#include <gmock/gmock.h>

#include "tests/helpers/errors.h"

namespace conelab {
namespace {

using fixtures::message_of;
using ::testing::HasSubstr;

const std::vector<KeyInfo> keys = {{"n", "500", "nodes", Domain::whole, "", 1000},
                                   {"dtype", "f32", "type", Domain::choice, "f32|f64"},
                                   {"path", "", "folder", Domain::any, "text"}};

TEST(Keys, GiveValuesAndDefaults) {
  const KeyValues values("data set tree", keys, {{"n", "7"}, {"path", "/a b"}});
  EXPECT_EQ(values.whole("n"), 7);
  EXPECT_EQ(values.text("dtype"), "f32");
  EXPECT_EQ(values.text("path"), "/a b");
}

TEST(Keys, RefuseWhatIsUnknownOrOutsideItsDomain) {
  const auto message = [](const KeyTexts& given) {
    return message_of([&] { KeyValues("data set tree", keys, given); });
  };
  EXPECT_THAT(message({{"dtypes", "f32"}}),
              HasSubstr("unknown key of data set tree 'dtypes'; did you mean 'dtype'? (known: n"));
  EXPECT_THAT(message({{"n", "many"}}), HasSubstr("n=many is not a number"));
  EXPECT_THAT(message({{"n", "2.5"}}), HasSubstr("n"));
  EXPECT_THAT(message({{"n", "1001"}}), HasSubstr("at most 1000"));
  EXPECT_THAT(message({{"dtype", "f16"}}), HasSubstr("unknown value of dtype 'f16'"));
}

}  // namespace
}  // namespace conelab
