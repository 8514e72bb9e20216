#include "core/tree/tree_file.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/files/fixture.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::tree {
namespace {

std::vector<HeadTree> some_trees(const std::string& similarity, std::int64_t n) {
  geometry::test::Sampler sampler(3);
  AttentionInput<double> input;
  for (auto* t : {&input.query, &input.key, &input.value}) {
    *t = Tensor4<double>({1, 2, n, 3});
    for (double& x : t->owned().data) x = sampler.uniform(-1, 1);
  }
  const Call call = call_from_text(similarity);
  return head_trees(pair_call(call, input));
}

using TreeOnDisk = fixtures::FilesTest;

TEST_F(TreeOnDisk, IsReadBack) {
  const std::vector<HeadTree> trees = some_trees("umbral", 5);
  write_labelled(path("t.h5"), tree_file(trees, {1, 2, {"a", "b", "ü", "d", "e"}}));
  const StoredTrees back = read_trees(read_labelled_file(path("t.h5")));
  EXPECT_EQ(back.labels.tokens[2], "ü");
  EXPECT_TRUE(back.trees[1].heights);
  ASSERT_EQ(back.trees.size(), 2u);
  for (std::size_t h = 0; h < 2; ++h) {
    EXPECT_EQ(back.trees[h].depth, trees[h].depth);
    EXPECT_EQ(back.trees[h].common, trees[h].common);
    EXPECT_EQ(back.trees[h].order->cover, trees[h].order->cover);
    EXPECT_EQ(back.trees[h].dendrogram.leaf_order, trees[h].dendrogram.leaf_order);
    EXPECT_EQ(back.trees[h].dendrogram.merges[3].depth, trees[h].dendrogram.merges[3].depth);
    EXPECT_EQ(back.trees[h].segmentation->crossing, trees[h].segmentation->crossing);
    ASSERT_EQ(back.trees[h].ancestors.size(), 4u);
    EXPECT_EQ(back.trees[h].placed->system.values, trees[h].placed->system.values);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(back.trees[h].placed->elements[i].axis, trees[h].placed->elements[i].axis);
      EXPECT_EQ(back.trees[h].placed->elements[i].radial, trees[h].placed->elements[i].radial);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(back.trees[h].ancestors[k]->radial, trees[h].ancestors[k]->radial);
    }
    EXPECT_EQ(back.trees[h].segmentation->strongest, trees[h].segmentation->strongest);
  }
}

TEST(TreeFile, IndicesThatAreNoneAreRefused) {
  const LabelledFile good = tree_file(some_trees("umbral", 5), {1, 2, {}});
  (void)read_trees(good);
  struct Wrong {
    const char *group, *variable;
    std::int64_t index;
  };
  for (const Wrong& w : {Wrong{"tree/dendrogram", "left", 100000000},
                         {"tree/dendrogram", "right", -5},
                         {"tree/dendrogram", "leaf_order", 5},
                         {"tree/order", "representative", -1},
                         {"tree/segmentation", "strongest", 4}}) {
    LabelledFile file = good;
    for (auto& [name, array] : file.groups) {
      if (name != w.group) continue;
      for (LabelledVariable& v : array.variables) {
        if (v.name == w.variable) std::get<std::vector<std::int64_t>>(v.data).back() = w.index;
      }
    }
    EXPECT_THROW((void)read_trees(file), Error) << w.group << " " << w.variable;
  }
}

TEST(TreeFile, ATokenIsDrawnOnce) {
  LabelledFile file = tree_file(some_trees("umbral", 5), {1, 2, {}});
  for (auto& [name, array] : file.groups) {
    for (LabelledVariable& v : array.variables) {
      if (v.name != "leaf_order") continue;
      auto& order = std::get<std::vector<std::int64_t>>(v.data);
      order[1] = order[0];
    }
  }
  EXPECT_THROW((void)read_trees(file), Error);
}

TEST(TreeFile, LeavesOutWhatThereIsNot) {
  const LabelledFile plain = tree_file(some_trees("dot", 4), {1, 2, {}});
  EXPECT_EQ(plain.group("tree/order"), nullptr);
  EXPECT_NE(plain.group("tree/dendrogram"), nullptr);
  EXPECT_EQ(plain.group("tree/depth")->variable("common_ancestor"), nullptr);
  const LabelledFile single = tree_file(some_trees("umbral", 1), {1, 2, {"a"}});
  EXPECT_EQ(single.group("tree/dendrogram"), nullptr);
  const StoredTrees alone = read_trees(single);
  ASSERT_EQ(alone.trees.size(), 2u);
  EXPECT_EQ(alone.trees[0].dendrogram.leaf_order, std::vector<std::int64_t>{0});
}

TEST(TreeFile, RefusesWhatDoesNotFit) {
  EXPECT_THROW((void)tree_file(some_trees("dot", 4), {1, 3, {}}), Error);
  EXPECT_THROW((void)tree_file(some_trees("dot", 4), {1, 2, {"a"}}), Error);
  EXPECT_THROW((void)read_trees({}), Error);
}

}  // namespace
}  // namespace conelab::tree
