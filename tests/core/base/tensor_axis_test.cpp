#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/base/tensor.h"

namespace conelab {
namespace {

const TensorAxis& axis(const std::string& name) {
  const auto table = tensor_axis_table();
  return *std::find_if(table.begin(), table.end(),
                       [&](const TensorAxis& row) { return row.name == name; });
}

TEST(TensorAxis, IsPartOfItsMultiples) {
  const ParameterInfo info{"W", 0, Domain::tensor, true, "a tensor", "", "2f,f=d,2clip+1,3"};
  EXPECT_TRUE(has_axis(info, axis("f")));
  EXPECT_TRUE(has_axis(info, axis("clip")));
  EXPECT_FALSE(has_axis(info, axis("d"))) << "the size of f if the tensor is absent";
  const ParameterInfo number{"memory", 0, Domain::count, false, "a number", "", "m"};
  EXPECT_FALSE(has_axis(number, axis("m")));
}

TEST(TensorAxis, HasADrawnSizeWhereNothingElseDeterminesIt) {
  const DefaultContext context{0, 1, 5, 7, 12};
  const NamedSizes sizes = with_drawn_sizes({{"clip", 3}}, context);
  EXPECT_EQ(sizes, (NamedSizes{{"clip", 3}, {"buckets", 32}, {"classes", 4}, {"m", 28}}));
}

}  // namespace
}  // namespace conelab
