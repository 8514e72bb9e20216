#include "core/bench/case_axes.h"

#include <gtest/gtest.h>

#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::error_of;

const Case every_label_differs = {"dot", "forward", "cpu", "f32", 1, 2, 3, 4};

TEST(CaseAxes, AreFoundByTheirLabels) {
  const auto label = [](const char* name) {
    return label_of(every_label_differs, axis_named(name));
  };
  EXPECT_EQ(label("operator"), "dot");
  EXPECT_EQ(label("pass"), "forward");
  EXPECT_EQ(label("device"), "cpu");
  EXPECT_EQ(label("dtype"), "f32");
  EXPECT_EQ(label("threads"), "1");
  EXPECT_EQ(label("dim"), "2");
  EXPECT_EQ(label("head"), "3");
  EXPECT_EQ(label("seq_len"), "4");
}

TEST(CaseAxes, OfNoLabelAreMisuse) {
  for (const char* wrong : {"d", "heads", "n", ""}) {
    EXPECT_TRUE(error_of([&] { (void)axis_named(wrong); }).starts_with("2: unknown label of cases"))
        << wrong;
  }
}

TEST(CaseAxes, OfASweepAreWhatItsCasesDifferBy) {
  const Sweep sweep{{"dot", "umbral"}, {"forward"}, {"cpu", "cuda"}, {"f32", "f64"}, {1, 2}, {8},
                    {1, 2, 3},         {64, 128}};
  const std::vector<Case> cases = sweep.cases();
  ASSERT_EQ(cases.size(), 96u);
  std::size_t inner = cases.size();
  for (const CaseAxis& axis : case_axes) {
    const std::size_t size = axis_size(sweep, axis);
    inner /= size;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::size_t at = i / inner % size;
      EXPECT_EQ(label_of(cases[i], axis), axis.names != nullptr
                                              ? (sweep.*axis.names)[at]
                                              : std::to_string((sweep.*axis.numbers)[at]));
    }
  }
}

}  // namespace
}  // namespace conelab
