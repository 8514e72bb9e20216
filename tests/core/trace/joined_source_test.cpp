#include "core/trace/joined_source.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/call/call.h"

namespace conelab {
namespace {

/// Returns two heads of three tokens. Query 0 does not see key 1 in head 0, query 2 does not see
/// key 0 in either.
Trace two_masked_heads() {
  Trace trace;
  trace.query = Tensor4<double>({1, 2, 3, 2});
  std::iota(trace.query.data.begin(), trace.query.data.end(), 1);
  trace.key = trace.value = trace.query;
  trace.allowed.assign(2 * 9, 1);
  trace.allowed[1] = trace.allowed[6] = trace.allowed[9 + 6] = 0;
  trace.allowed_sizes = {1, 2, 3, 3};
  return trace;
}

TEST(JoinedMap, OfTheMaximumHidesOnlyPairsThatNoHeadSees) {
  const Trace trace = two_masked_heads();
  const CallOnHead dot = [](const Trace& of, std::int64_t head) {
    return given_call_on_head(call_from_text("dot"), of, head);
  };
  const WholeMap joined = joined_map(trace, 0, dot, false, Map2d::logits, {});
  const WholeMap second = map_of_head(trace, 0, 1, dot(trace, 1), Map2d::logits, {});
  EXPECT_EQ(joined.masked, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(joined.values[1], second.values[1]);
  EXPECT_EQ(joined.values[6], 0);
}

}  // namespace
}  // namespace conelab
