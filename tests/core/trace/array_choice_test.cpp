#include "core/trace/array_choice.h"

#include <gtest/gtest.h>

namespace conelab {
namespace {

NamedArray named_array(const char* name, std::vector<std::int64_t> extents = {4, 6, 8}) {
  return {name, std::move(extents), "f32"};
}

TEST(ArrayChoice, GuessesByTheWordsOfNames) {
  const std::vector<NamedArray> model = {named_array("embed"), named_array("l.0.attn.k_proj"),
                                         named_array("l.0.attn.q_proj"),
                                         named_array("l.0.attn.v_proj")};
  EXPECT_EQ(guess_arrays(model),
            (ArrayNames{"l.0.attn.q_proj", "l.0.attn.k_proj", "l.0.attn.v_proj"}));
  EXPECT_EQ(guess_arrays({named_array("/a/keys"), named_array("/a/queries")}),
            (ArrayNames{"/a/queries", "/a/keys", ""}));
  EXPECT_EQ(guess_arrays({named_array("tokens"), named_array("more")}),
            (ArrayNames{"tokens", "", ""}));
  EXPECT_EQ(guess_arrays({named_array("my values"), named_array("Wq x"), named_array("keys!")}),
            (ArrayNames{"Wq x", "keys!", "my values"}));
  EXPECT_EQ(guess_arrays({named_array("a"), named_array("key 1"), named_array("key 2")}),
            (ArrayNames{"a", "", ""}));
  EXPECT_EQ(guess_arrays({}), ArrayNames());
}

TEST(ArrayChoice, TellsWhatDoesNotFit) {
  const std::vector<NamedArray> arrays = {named_array("a"), named_array("b", {4, 9, 8}),
                                          named_array("c", {4, 6, 7}), named_array("d", {2, 6, 8}),
                                          named_array("e", {4, 9, 3})};
  EXPECT_EQ(array_problem(arrays, {"a", "", ""}), "");
  EXPECT_EQ(array_problem(arrays, {"a", "b", "e"}), "");
  EXPECT_EQ(array_problem(arrays, {"a", "c", ""}), "The features of q and k differ: 8 against 7.");
  EXPECT_EQ(array_problem(arrays, {"a", "d", ""}), "The heads of k and v differ: 2 against 4.");
  EXPECT_EQ(array_problem(arrays, {"a", "b", ""}), "The tokens of k and v differ: 9 against 6.");
  EXPECT_NE(array_problem(arrays, {"", "b", ""}), "");
}

TEST(ArrayChoice, NamesArraysWithinTheirGroup) {
  const GroupedNames one = within_group({"/l0/query", "/l0/key", ""});
  EXPECT_EQ(one.group, "/l0");
  EXPECT_EQ(one.arrays, (ArrayNames{"query", "key", ""}));
  const GroupedNames two = within_group({"/a/x", "/b/x", "/b/y"});
  EXPECT_EQ(two.group, "");
  EXPECT_EQ(two.arrays, (ArrayNames{"a/x", "b/x", "b/y"}));
  EXPECT_EQ(within_group({"/x", "", ""}).arrays, (ArrayNames{"x", "", ""}));
  // Dots separate groups in archives, and are parts of names in HDF5.
  const GroupedNames torch = within_group({"m.layers.0.q_proj", "m.layers.0.k_proj", ""});
  EXPECT_EQ(torch.group, "/m.layers.0");
  EXPECT_EQ(torch.arrays, (ArrayNames{"q_proj", "k_proj", ""}));
  EXPECT_EQ(within_group({"/a.q", "", ""}).arrays, (ArrayNames{"a.q", "", ""}));
  EXPECT_EQ(within_group({"a/q", "", ""}).group, "/a");
}

}  // namespace
}  // namespace conelab
