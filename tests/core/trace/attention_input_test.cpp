#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/trace/trace.h"

namespace conelab {
namespace {

/// Two tokens of two features, and the edges of a graph between them.
Input with_edges(const std::vector<double>& numbers) {
  Input file;
  file.query = {"q", Dtype::f64, {2, 2}, std::vector<double>{1, 2, 3, 4}};
  const auto rows = static_cast<std::int64_t>(numbers.size() / 2);
  file.parameters["edge"] = {"edge", Dtype::f64, {rows, 2}, numbers};
  return file;
}

TEST(AttentionInput, ReadsEdgesAsWholeNumbers) {
  const auto input = attention_input<double>(with_edges({0, 1, 1, 1}), Dtype::f64);
  EXPECT_EQ(input.indices.at("edge").data, (std::vector<std::int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(input.indices.at("edge").extents, (std::vector<std::int64_t>{2, 2}));
  EXPECT_FALSE(input.tensors.contains("edge"));
  EXPECT_EQ(input.value.at(0, 0, 1, 0), 3);  // Of q, which stands for k and v.
}

TEST(AttentionInput, RefusesEdgesThatAreNoWholeNumbers) {
  for (const double wrong : {0.5, std::nan(""), HUGE_VAL, -1e300}) {
    EXPECT_THROW((void)attention_input<double>(with_edges({0, wrong}), Dtype::f64), Error) << wrong;
  }
}

}  // namespace
}  // namespace conelab
