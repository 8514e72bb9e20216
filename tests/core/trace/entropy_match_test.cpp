#include "core/trace/entropy_match.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/trace/joined_source.h"

namespace conelab {
namespace {

const std::string shipped = CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5";
constexpr std::int64_t head = 5;

/// The mean entropy of the rows of a map, from its cells alone.
double entropy_of_cells(const WholeMap& map) {
  double sum = 0;
  for (const double w : map.values) {
    if (w > 0) sum -= w * std::log(w);
  }
  return sum / static_cast<double>(map.rows);
}

TEST(EntropyMatch, EqualsTheEntropyOfTheOtherOperator) {
  const auto trace = load_trace(shipped, "/german/layer3");
  const EntropyRows rows{.head = head_input(*trace, 0, head)};
  const double goal = mean_row_entropy(rows, call_on_head(call_from_text("dot"), *trace, head), {});
  for (const char* name : {"penumbral", "umbral", "laplacian", "hyperbolic"}) {
    const Call call = call_from_text(name);
    const double value = match_entropy(rows, call_on_head(call, *trace, head), goal, {});
    const Call matched = with_value_on_head(call, *sharpness_key(call), value, head);
    const WholeMap map =
        map_of_head(*trace, 0, head, call_on_head(matched, *trace, head), Map2d::weights, {});
    EXPECT_NEAR(entropy_of_cells(map), goal, 1e-4) << name;
  }
}

TEST(EntropyMatch, DrawsTheTensorsThatACallLeavesToChance) {
  const auto trace = load_trace(shipped, "/german/layer3");
  const EntropyRows rows{.head = head_input(*trace, 0, head)};
  const Call call =
      call_on_head(with_random_tensors(call_from_text("multiplicative")), *trace, head);
  const WholeMap map = map_of_head(*trace, 0, head, call, Map2d::weights, {});
  EXPECT_NEAR(mean_row_entropy(rows, call, {}), entropy_of_cells(map), 1e-4);
}

TEST(EntropyMatch, RowsAndKeysThatAreLeftOutHaveNoPart) {
  const auto trace = load_trace(shipped, "/german/layer3");
  const Call dot = call_on_head(call_from_text("dot"), *trace, head);
  EntropyRows rows{.head = head_input(*trace, 0, head)};
  const auto n = static_cast<std::size_t>(trace->extents().key);
  rows.key_left_out.assign(n, 1);
  rows.key_left_out[3] = 0;
  EXPECT_EQ(mean_row_entropy(rows, dot, {}), 0);  // One key has all the weight.
  rows.query_left_out.assign(n, 1);
  EXPECT_TRUE(std::isnan(mean_row_entropy(rows, dot, {})));
}

TEST(EntropyMatch, AnEntropyThatNoSharpnessHasIsRefused) {
  const auto trace = load_trace(shipped, "/german/layer3");
  const EntropyRows rows{.head = head_input(*trace, 0, head)};
  const Call call = call_on_head(call_from_text("penumbral"), *trace, head);
  EXPECT_ANY_THROW((void)match_entropy(rows, call, std::log(30) + 0.1, {}));
  EXPECT_FALSE(sharpness_key(call_from_text("relation")));
  Call sigmoid = call_from_text("dot");
  sigmoid.weights = "sigmoid";
  EXPECT_FALSE(sharpness_key(sigmoid));
}

TEST(EntropyMatch, ReplacesTheNumberOfItsHead) {
  Call call = call_from_text("penumbral");
  EXPECT_EQ(with_value_on_head(call, "gamma", 2.5, 1).parameters.at("gamma"), "2.5");
  call.parameters["gamma"] = "1,2,3";
  EXPECT_EQ(with_value_on_head(call, "gamma", 2.5, 1).parameters.at("gamma"), "1,2.5,3");
}

}  // namespace
}  // namespace conelab
