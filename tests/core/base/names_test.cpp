#include "core/base/names.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace conelab
