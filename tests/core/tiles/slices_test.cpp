// Slices of the sequences with explicit positions, and their rows joined again.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/call/call.h"
#include "core/tiles/merge_rows.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

const Extents whole_extents{2, 2, 37, 60, 6, 3};

template <class T>
StridedTensor4<T> tokens_of(const StridedTensor4<T>& x, std::int64_t begin, std::int64_t end) {
  Tensor4<T> part({x.shape.batch, x.shape.head, end - begin, x.shape.feature});
  for (std::int64_t b = 0; b < x.shape.batch; ++b) {
    for (std::int64_t h = 0; h < x.shape.head; ++h) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::copy_n(x.row(b, h, i), x.shape.feature, part.row(b, h, i - begin));
      }
    }
  }
  return part;
}

struct Range {
  std::int64_t begin, end;
};

/// Returns these queries and keys of an input, with their positions in it.
template <class T>
AttentionInput<T> slice_of(const AttentionInput<T>& all, Range queries, Range keys) {
  AttentionInput<T> part{tokens_of(all.query, queries.begin, queries.end),
                         tokens_of(all.key, keys.begin, keys.end),
                         tokens_of(all.value, keys.begin, keys.end),
                         {},
                         {},
                         all.key_lengths,
                         all.tensors,
                         all.indices};
  const std::int64_t n_q = all.query.shape.token, n_k = all.key.shape.token;
  for (std::int64_t i = queries.begin; i < queries.end && !all.allowed.empty(); ++i) {
    const auto row = all.allowed.begin() + i * n_k;
    part.allowed.insert(part.allowed.end(), row + keys.begin, row + keys.end);
  }
  if (const auto bias = all.tensors.find("bias"); bias != all.tensors.end()) {
    Array<T>& own =
        part.tensors["bias"] = {{queries.end - queries.begin, keys.end - keys.begin}, {}};
    for (std::int64_t i = queries.begin; i < queries.end; ++i) {
      const auto row = bias->second.data.begin() + i * n_k;
      own.data.insert(own.data.end(), row + keys.begin, row + keys.end);
    }
  }
  if (!all.output_grad.empty()) {
    part.output_grad = tokens_of(all.output_grad, queries.begin, queries.end);
  }
  part.positions = {queries.begin, keys.begin, n_q, n_k};
  return part;
}

/// Returns a block of a map [batch x head x n_q x n_k].
Tensor4<double> block_of(const Tensor4<double>& map, Range queries, Range keys) {
  Tensor4<double> block(
      {map.shape.batch, map.shape.head, queries.end - queries.begin, keys.end - keys.begin});
  for (std::int64_t b = 0; b < map.shape.batch; ++b) {
    for (std::int64_t h = 0; h < map.shape.head; ++h) {
      for (std::int64_t i = queries.begin; i < queries.end; ++i) {
        std::copy(map.row(b, h, i) + keys.begin, map.row(b, h, i) + keys.end,
                  block.row(b, h, i - queries.begin));
      }
    }
  }
  return block;
}

/// Every bias with every mask, and what reads positions otherwise.
std::vector<Call> positioned_calls() {
  std::vector<Call> calls;
  const Variant dot{"dot", call_from_text("dot")};
  for (const std::string& bias : bias_names()) {
    for (const std::string& mask : mask_names()) {
      calls.push_back(make_call(dot, {bias, {mask}, "softmax", "mean", true}, whole_extents));
    }
  }
  for (const char* text :
       {"penumbral:position=sinusoidal:masks=causal", "dot:position=rope:masks=strided",
        "dot:masks=fixed", "dot:bias=hype:hype_form=columns", "dot:bias=alibi:masks=graph",
        "laplacian:bias=hype:grid=6x10:hype_mu=0.1,0.05;0.2,0.1:masks=window:window=9",
        "dot:bias=hype:grid=6x10:hype_form=columns", "umbral:bias=t5:masks=segment:segment=8",
        "dot:bias=shaw:shaw_k=random:shaw_v=random:clip=5:masks=causal+padding",
        "multiplicative:bias=shaw:shaw_v=random:position=rope", "dot:sinks=random:masks=causal",
        "umbral:sinks=random:masks=window:window=9:aggregate=einstein"}) {
    calls.push_back(with_random_tensors(call_from_text(text)));
  }
  return calls;
}

TEST(Slices, HaveTheLogitsOfTheWhole) {
  const std::vector<Range> query_ranges{{0, 37}, {5, 20}, {36, 37}},
      key_ranges{{0, 60}, {0, 23}, {17, 44}, {59, 60}};
  for (const Call& call : positioned_calls()) {
    SCOPED_TRACE(call_text(call));
    AttentionInput<double> all = random_input(call, whole_extents, 41);
    const Tensor4<double> whole = run(call, all).logits;
    for (const Range& queries : query_ranges) {
      for (const Range& keys : key_ranges) {
        const auto part = slice_of(all, queries, keys);
        EXPECT_LT(difference(run(call, part).logits, block_of(whole, queries, keys)), 1e-12)
            << queries.begin << " " << keys.begin;
      }
    }
  }
}

/// Cuts [0, n) into `parts` ranges, some of which may be empty.
std::vector<Range> cut(std::int64_t n, std::size_t parts, Random& random) {
  std::vector<std::int64_t> ends{0, n};
  while (ends.size() < parts + 1) {
    ends.push_back(static_cast<std::int64_t>(random.index(static_cast<std::size_t>(n + 1))));
  }
  std::sort(ends.begin(), ends.end());
  std::vector<Range> ranges;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) ranges.push_back({ends[i], ends[i + 1]});
  return ranges;
}

/// Compares the rows joined from slices of the keys with those of all keys, and the gradients of
/// the slices under the joined rows.
template <class T>
void expect_merged(const Call& call, const AttentionInput<T>& all, const std::vector<Range>& cuts,
                   double tolerance) {
  const Range queries{0, all.query.shape.token};
  const auto plan = resolve(call, check_extents(all));
  const Forward<T> whole = forward(*plan, all, one_thread());
  std::vector<AttentionInput<T>> inputs;
  std::vector<std::shared_ptr<const Plan>> plans;
  Forward<T> joined;
  for (const Range& keys : cuts) {
    inputs.push_back(slice_of(all, queries, keys));
    plans.push_back(resolve(call, check_extents(inputs.back())));
    Forward<T> part = forward(*plans.back(), inputs.back(), one_thread());
    if (plans.size() == 1) {
      joined = std::move(part);
    } else {
      merge_rows(*plan, joined, part);
    }
  }
  EXPECT_LT(difference(joined.output, whole.output), tolerance);
  EXPECT_LT(difference(joined.lse, whole.lse), tolerance);
  const Backward<T> expected = backward(*plan, all, whole, one_thread());
  Tensor4<T> query_grad(expected.query.shape), key_grad(expected.key.shape);
  std::vector<double> sinks_grad(2);
  for (std::size_t s = 0; s < cuts.size(); ++s) {
    const Backward<T> part = backward(*plans[s], inputs[s], joined, one_thread());
    for (std::size_t i = 0; i < query_grad.data.size(); ++i)
      query_grad.data[i] += part.query.data[i];
    for (std::size_t h = 0; h < 2 && part.tensors.contains("sinks"); ++h)
      sinks_grad[h] += part.tensors.at("sinks").data[h];
    for (std::int64_t b = 0; b < key_grad.shape.batch; ++b) {
      for (std::int64_t h = 0; h < key_grad.shape.head; ++h) {
        std::copy_n(part.key.row(b, h, 0), part.key.shape.token * part.key.shape.feature,
                    key_grad.row(b, h, cuts[s].begin));
      }
    }
  }
  EXPECT_LT(difference(query_grad, expected.query), 30 * tolerance);
  EXPECT_LT(difference(key_grad, expected.key), 30 * tolerance);
  for (std::size_t h = 0; h < 2 && expected.tensors.contains("sinks"); ++h) {
    EXPECT_NEAR(sinks_grad[h], expected.tensors.at("sinks").data[h], 200 * tolerance);
  }
}

TEST(Slices, MergeToTheRowsAndGradientsOfTheWhole) {
  std::uint64_t seed = 0;
  std::vector<Call> calls = positioned_calls();
  for (const Variant& variant : variants()) {
    for (const char* weights : {"softmax:axis=key", "sigmoid", "exp"}) {
      const std::string aggregate = seed % 2 == 0 ? "mean" : "einstein";
      const std::string mask = seed % 3 == 0 ? "causal" : seed % 3 == 1 ? "padding" : "full";
      calls.push_back(
          make_call(variant, {"none", {mask}, weights, aggregate, true}, whole_extents));
      ++seed;
    }
  }
  for (const Call& call : calls) {
    SCOPED_TRACE(call_text(call));
    Random random(++seed);
    AttentionInput<double> all = random_input(call, whole_extents, seed, 0.8);
    draw_tensors(call, all);
    const std::vector<Range> cuts = cut(whole_extents.key, 1 + seed % 7, random);
    expect_merged<double>(call, all, cuts, 1e-13);
    expect_merged<float>(call, convert<float>(all), cuts, 4e-6);
  }
}

TEST(Slices, RowsThatSeeNoKeyStayEmpty) {
  const Call call = call_from_text("penumbral:masks=causal");
  const AttentionInput<double> all = random_input(call, {1, 1, 20, 8, 4, 2}, 3);
  expect_merged<double>(call, all, {{0, 3}, {3, 3}, {3, 8}}, 1e-13);
}

TEST(Slices, AreRefusedWhereTheyCannotBeSaid) {
  const Call dot = call_from_text("dot");
  const AttentionInput<double> all = random_input(dot, {1, 1, 8, 8, 4, 2}, 3);
  AttentionInput<double> part = slice_of(all, {0, 8}, {2, 5});
  part.positions.all_keys = 4;
  EXPECT_THROW((void)check_extents(part), Error);
  part.positions = {0, -1, 8, 8};
  EXPECT_THROW((void)check_extents(part), Error);
  part.positions = {0, 2, 8, 8};
  const Extents extents = check_extents(part);
  Call structured = dot;
  structured.operation = "star";
  EXPECT_THROW((void)resolve(structured, extents), Error);
  const auto over_queries = resolve(call_from_text("dot:axis=query"), extents);
  Forward<double> rows = forward(*over_queries, part);
  EXPECT_THROW(merge_rows(*over_queries, rows, rows), Error);
  const auto plan = resolve(dot, extents);
  part.positions.first_key = 3;
  EXPECT_THROW((void)forward(*plan, part), Error);  // Other positions than the plan's.
}

}  // namespace
}  // namespace conelab::tests
