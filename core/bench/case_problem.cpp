#include "core/bench/case_problem.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/base/random.h"
#include "core/bench/machine.h"
#include "core/pair/mask.h"
#include "core/reference/evaluate.h"

namespace conelab {

// ---- input --------------------------------------------------------------------------------------

namespace {

void plant_twins(AttentionInput<float>& in) {
  Tensor4<float>& key = in.key.owned();
  const Shape4 shape = key.shape;
  for (std::int64_t b = 0; b < shape.batch && shape.token >= 4; ++b) {
    for (std::int64_t h = 0; h < shape.head; ++h) {
      const std::int64_t first = h * (in.query.shape.head / shape.head);
      std::copy_n(in.query.row(b, first, 0), shape.feature, key.row(b, h, 1));
      if (in.query.shape.token < 3) continue;
      std::copy_n(in.query.row(b, first, 2), shape.feature, key.row(b, h, 3));
      key.at(b, h, 3, 0) += 1e-4f;
    }
  }
}

}  // namespace

Extents extents_of(const Case& c, std::int64_t batch) {
  const auto size = [&](const char* axis, const char* otherwise) {
    return is_implied(axis_named(axis), c[axis]) ? c.number(otherwise) : c.number(axis);
  };
  Extents e{.batch = batch,
            .head = c.number("head"),
            .query = size("query_len", "seq_len"),
            .key = c.number("seq_len"),
            .feature = c.number("dim"),
            .value = size("value_dim", "dim")};
  e.key_head = e.value_head = c.number("key_head");
  return e;
}

AttentionInput<float> random_input(const Case& c, std::int64_t batch, std::uint64_t seed) {
  Random random(seed);
  AttentionInput<float> in;
  const Extents e = extents_of(c, batch);
  const auto draw = [&](const Shape4& shape) {
    Tensor4<float> t(shape);
    for (float& x : t.data) x = static_cast<float>(random.normal());
    return t;
  };
  in.query = draw({batch, e.head, e.query, e.feature});
  in.key = draw({batch, e.key_heads(), e.key, e.feature});
  in.value = draw({batch, e.value_heads(), e.key, e.value});
  in.output_grad = draw({batch, e.head, e.query, e.value});
  plant_twins(in);
  return in;
}

// ---- error --------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t outputs_checked_whole = 256;
constexpr std::int64_t gradients_checked_whole = 512;
constexpr std::int64_t checked_rows = 16;
/// Errors of gradients in float64 are measured by finite differences, for this number of features
/// of query `plain_row`, the first query without a planted twin.
constexpr std::int64_t checked_slopes = 8;
constexpr std::int64_t plain_row = 4;

/// One head of a batch element. Errors are measured head by head, so that the copies in wider
/// numbers take little memory compared with the case itself.
struct HeadIndex {
  std::int64_t batch = 0, head = 0;
};

struct QueryRange {
  std::int64_t begin = 0, count = 0;
};

/// Returns `count` of `all` queries. Positions are counted from the end of the sequence, so a call
/// with a bias or a mask gives the same results only for its last queries. Any other call is
/// checked at its first queries, which include the planted twins (random_input).
QueryRange checked_queries(const Call& call, std::int64_t count, std::int64_t all) {
  const bool positional = call.bias != "none" || call.masks != Call{}.masks;
  return {positional ? all - count : 0, count};
}

/// Returns whether a call with some of the queries is another problem. It is one for a structured
/// operator, whose outputs depend on all tokens; for weights over queries; and for a mask that
/// reads edges, which give queries by their number.
bool needs_all_queries(const Call& call) {
  const auto axis = call.parameters.find("axis");
  return !is_attention(call) || (axis != call.parameters.end() && axis->second.text() == "query") ||
         read_by_any(call.masks, MaskOperand::edges);
}

/// Returns all queries if the call needs all or there are at most `whole` of them, otherwise
/// checked_rows of them.
template <class T>
QueryRange compared_queries(const Call& call, const AttentionInput<T>& input, std::int64_t whole) {
  const std::int64_t all = input.query.shape.token;
  return checked_queries(call, all <= whole || needs_all_queries(call) ? all : checked_rows, all);
}

template <class Tensor>
Tensor4<double> tokens_of(const Tensor& from, HeadIndex at, QueryRange range) {
  return tensor_of_tokens<double>(from.tokens(at.batch, at.head).part(range.begin, range.count));
}

/// Returns the same problem in float64, for some queries of a head and all its keys.
template <class S>
AttentionInput<double> exact_input(const Call& call, const AttentionInput<S>& in, HeadIndex at,
                                   QueryRange queries) {
  const QueryRange keys{0, in.key.shape.token};
  AttentionInput<double> exact;
  exact.query = tokens_of(in.query, at, queries);
  const HeadIndex shared{at.batch, shared_head(at.head, in.key.shape.head, in.query.shape.head)};
  exact.key = tokens_of(in.key, shared, keys);
  exact.value = tokens_of(in.value, shared, keys);
  exact.output_grad = tokens_of(in.output_grad, at, queries);
  // If the tokens have one head, the operator makes the heads, and tensors keep their axis of
  // heads.
  const bool alone = in.query.shape.head == 1;
  for (const auto& [name, tensor] :
       alone ? in.tensors : tensors_of_head(in.tensors, at.head, call_parameters(call))) {
    exact.tensors[name] = convert<double>(tensor);
  }
  exact.indices = in.indices;
  return exact;
}

/// Returns the larger of two errors. It is NaN if either is.
double worse(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

template <class S, class Exact>
double largest_difference(const Tensor4<S>& a, HeadIndex at, std::int64_t begin,
                          const Tensor4<Exact>& exact) {
  const Tensor4<double> part = tokens_of(a, at, {begin, exact.shape.token});
  double largest = 0;
  for (std::size_t i = 0; i < part.data.size(); ++i) {
    largest = worse(largest, std::abs(part.data[i] - static_cast<double>(exact.data[i])));
  }
  return largest;
}

template <class F>
double over_heads(const Shape4& shape, F error) {
  double largest = 0;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t h = 0; h < shape.head; ++h) {
      largest = worse(largest, error(HeadIndex{b, h}));
    }
  }
  return largest;
}

/// Returns the call for one head alone, as some defaults depend on the head. An operator that makes
/// its heads is called as it is.
template <class T>
Call call_of(const Call& call, const AttentionInput<T>& input, HeadIndex at) {
  return call_of_head(call, check_extents(input), at.head);
}

/// Returns the largest difference between gradients of one query and finite differences of the
/// reference. It is NaN if the reference is not smooth at any of the checked numbers.
double slope_error(const Call& call, const AttentionInput<double>& input,
                   const Tensor4<double>& query_grad) {
  const std::int64_t n = input.query.shape.token, dim = input.query.shape.feature;
  const std::int64_t count = std::min<std::int64_t>(plain_row + 1, n);
  const QueryRange queries = checked_queries(call, count, n);
  auto problem =
      reference::make_problem(call_of(call, input, {}), exact_input(call, input, {}, queries));
  double largest = 0;
  int compared = 0;
  for (std::int64_t i = 0; i < std::min(checked_slopes, dim); ++i) {
    const std::int64_t feature = dim - 1 - i;  // The last one, the height, comes first.
    const auto exact =
        reference::central_difference(problem, problem.query.at(0, 0, count - 1, feature));
    if (!exact.smooth) continue;
    const double mine = query_grad.at(0, 0, queries.begin + count - 1, feature);
    largest = worse(largest, std::abs(mine - exact.slope));
    ++compared;
  }
  return compared > 0 ? largest : unknown;
}

}  // namespace

template <class T>
double output_error(const Call& call, const AttentionInput<T>& input, const Tensor4<T>& output) {
  const QueryRange queries = compared_queries(call, input, outputs_checked_whole);
  const bool by_reference = queries.count <= outputs_checked_whole;
  if (!by_reference && std::is_same_v<T, double>) return unknown;
  return over_heads(input.query.shape, [&](HeadIndex at) {
    const Call own = call_of(call, input, at);
    const AttentionInput<double> exact = exact_input(call, input, at, queries);
    if (by_reference) {
      const auto problem = reference::make_problem(own, exact);
      return largest_difference(output, at, queries.begin, reference::evaluate(problem).output);
    }
    const auto plan = resolve(own, check_extents(exact));
    return largest_difference(output, at, queries.begin, forward(*plan, exact).output);
  });
}

template <class T>
double gradient_error(const Call& call, const AttentionInput<T>& input, const Backward<T>& gradient,
                      const Execution& execution) {
  if constexpr (std::is_same_v<T, double>) {
    return needs_all_queries(call) ? unknown : slope_error(call, input, gradient.query);
  }
  const QueryRange queries = compared_queries(call, input, gradients_checked_whole);
  // Gradients of keys and values are sums over the heads that share them.
  const std::int64_t heads = input.query.shape.head, own = input.key.shape.head;
  Tensor4<double> key, value;
  const auto add = [](Tensor4<double> of_head, bool is_first, Tensor4<double>& sum) {
    if (is_first) {
      sum = std::move(of_head);
      return;
    }
    for (std::size_t i = 0; i < sum.data.size(); ++i) sum.data[i] += of_head.data[i];
  };
  return over_heads(input.query.shape, [&](HeadIndex at) {
    const AttentionInput<double> exact = exact_input(call, input, at, queries);
    const auto plan = resolve(call_of(call, input, at), check_extents(exact));
    auto g = backward(*plan, exact, forward(*plan, exact, execution), execution);
    double error = largest_difference(gradient.query, at, queries.begin, g.query);
    // Gradients of keys are sums over all queries.
    if (queries.count < input.query.shape.token) return error;
    const std::int64_t place = at.head % (heads / own);
    add(std::move(g.key), place == 0, key);
    add(std::move(g.value), place == 0, value);
    if (place + 1 < heads / own) return error;
    const HeadIndex shared{at.batch, shared_head(at.head, own, heads)};
    if (!key.empty()) error = worse(error, largest_difference(gradient.key, shared, 0, key));
    if (!value.empty()) error = worse(error, largest_difference(gradient.value, shared, 0, value));
    return error;
  });
}

#define CONELAB_ERRORS(T)                                                                   \
  template double output_error(const Call&, const AttentionInput<T>&, const Tensor4<T>&);   \
  template double gradient_error(const Call&, const AttentionInput<T>&, const Backward<T>&, \
                                 const Execution&);
CONELAB_EACH_TYPE(CONELAB_ERRORS)

}  // namespace conelab
