#include "core/base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace conelab {
namespace {

TEST(EditDistance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", "dot"), 3);
  EXPECT_EQ(edit_distance("dot", "dot"), 0);
  EXPECT_EQ(edit_distance("penumbrl", "penumbral"), 1);
  EXPECT_EQ(edit_distance("dto", "dot"), 1);
  EXPECT_EQ(edit_distance("casual", "causal"), 1);
  EXPECT_EQ(edit_distance("gamma", "height"), 6);
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("dto", {"dot", "umbral"}), "dot");
  EXPECT_EQ(nearest_name("xyzzy", {"dot", "umbral"}), "");
  EXPECT_EQ(nearest_name("dot", {}), "");
}

TEST(Names, AreSeparatedByCommas) {
  using ::testing::ElementsAre;
  EXPECT_THAT(split_names("dot, penumbral"), ElementsAre("dot", "penumbral"));
  EXPECT_THAT(split_names("umbral:model=halfspace:radius=1,dot"),
              ElementsAre("umbral:model=halfspace:radius=1", "dot"));
  EXPECT_THAT(split_names("dot,,"), ElementsAre("dot", "", ""));
}

TEST(Names, KeepListsOfNumbersWhole) {
  using ::testing::ElementsAre;
  EXPECT_THAT(split_names("umbral:gamma=1,2.5,-3e1:radius=.5,1,2,dot"),
              ElementsAre("umbral:gamma=1,2.5,-3e1:radius=.5,1,2", "dot"));
  EXPECT_THAT(split_names("dot:bias=hype:hype_mu=1,2;3,4;5;6,7,dot"),
              ElementsAre("dot:bias=hype:hype_mu=1,2;3,4;5;6,7", "dot"));
  // Only a parameter is a list.
  EXPECT_THAT(split_names("dot,2"), ElementsAre("dot", "2"));
  EXPECT_THAT(split_names("dot:scale=1,2x,"), ElementsAre("dot:scale=1", "2x", ""));
}

TEST(Names, AreNotEmpty) {
  EXPECT_EQ(parse_names("--operators", "dot").size(), 1u);
  for (const char* text : {"", "dot,", ",dot", "dot,,umbral", "dot:scale=1,"}) {
    EXPECT_THROW((void)parse_names("--operators", text), Error) << text;
  }
}

}  // namespace
}  // namespace conelab
