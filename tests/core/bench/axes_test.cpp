#include "core/bench/axes.h"

#include <gtest/gtest.h>

#include <set>

#include "core/bench/sweep.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::failure_of;

TEST(Axes, HaveDistinctNamesAndReadTheirOwnDefaults) {
  std::set<std::string> names, titles, options;
  for (const Axis& axis : axes()) {
    EXPECT_TRUE(names.insert(axis.name).second) << axis.name;
    EXPECT_TRUE(titles.insert(axis.title).second) << axis.title;
    EXPECT_TRUE(options.insert(axis.option).second) << axis.option;
    EXPECT_EQ(&axis_named(axis.name), &axis);
    EXPECT_NE(std::string(axis.about), "");
    const Labels choices = choices_of(axis), initial = parse_labels(axis, "x", axis.initial);
    EXPECT_FALSE(initial.empty());
    for (const std::string& label : choices.empty() ? Labels{} : initial) {
      EXPECT_NE(std::find(choices.begin(), choices.end(), label), choices.end()) << label;
    }
  }
  for (const Axis& axis : fixed_axes()) EXPECT_NE(std::string(axis.which), "") << axis.name;
}

TEST(Axes, OfNoNameAreMisuse) {
  for (const char* wrong : {"d", "heads", "n", ""}) {
    EXPECT_TRUE(
        failure_of([&] { (void)axis_named(wrong); }).starts_with("2: unknown label of cases"))
        << wrong;
  }
}

TEST(Axes, TakeTheImpliedLabelBesideNumbers) {
  const Axis& heads = axis_named("key_head");
  EXPECT_EQ(parse_labels(heads, "x", "8,0,1"), (Labels{"0", "1", "8"}));
  EXPECT_EQ(parse_labels(heads, "x", "0"), Labels{"0"});
  for (const char* wrong : {"", ",8", "0,", "-1"}) {
    EXPECT_TRUE(failure_of([&] { (void)parse_labels(heads, "x", wrong); }).starts_with("2: x: "));
  }
}

TEST(Axes, WriteTheirLabelsInWords) {
  EXPECT_EQ(label_text(axis_named("pass"), "forward"), "forward");
  EXPECT_EQ(label_text(axis_named("threads"), "2"), "2 threads");
  EXPECT_EQ(label_text(axis_named("head"), "1"), "1 head");
  EXPECT_EQ(label_text(axis_named("dim"), "64"), "d = 64");
}

/// Whatever axes there are: each is set and found by its name, and tells cases apart.
TEST(Case, HasALabelOnEveryAxis) {
  for (const Axis& axis : axes()) {
    Case c;
    EXPECT_EQ(c[axis], Sweep()[axis].front());
    c.set(axis.name, 77);
    EXPECT_EQ(c[axis.name], "77");
    EXPECT_EQ(c.number(axis.name), 77);
    EXPECT_NE(c, Case());
    EXPECT_NE(describe(c), describe(Case()));
    EXPECT_EQ(c, Case({{axis.name, "77"}}));
  }
}

TEST(Case, OfASweepHasEachOfItsLabels) {
  Sweep sweep;
  std::size_t all = 1, count = 1;
  for (const Axis& axis : axes()) {
    count = count % 3 + 1;
    sweep[axis].clear();
    for (std::size_t i = 0; i < count; ++i) sweep[axis].push_back(std::to_string(i + 1));
    all *= count;
  }
  const std::vector<Case> cases = sweep.cases();
  ASSERT_EQ(cases.size(), all);
  std::size_t inner = all;
  for (const Axis& axis : axes()) {
    const std::size_t size = sweep[axis].size();
    inner /= size;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(cases[i][axis], sweep[axis][i / inner % size]);
    }
  }
}

}  // namespace
}  // namespace conelab
