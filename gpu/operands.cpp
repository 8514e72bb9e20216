#include "gpu/operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/non_finite_values.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/upstream.h"
#include "gpu/tile/product.h"

namespace conelab::gpu {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

/// Rounds numbers to `storage` at `to`.
template <class N>
void store(const N* from, std::int64_t count, Storage storage, std::byte* to) {
  const auto put = [&](auto convert) {
    using To = decltype(convert(N(0)));
    for (std::int64_t i = 0; i < count; ++i) {
      const To number = convert(from[i]);
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(To)), &number, sizeof(To));
    }
  };
  switch (storage) {
    case Storage::f64:
      return put([](N x) { return static_cast<double>(x); });
    case Storage::f32:
      return put([](N x) { return static_cast<float>(x); });
    case Storage::f16:
      return put([](N x) { return to_f16(static_cast<double>(x)); });
    case Storage::bf16:
      return put([](N x) { return to_bf16(static_cast<double>(x)); });
  }
}

template <class N>
constexpr N not_finite = std::numeric_limits<N>::quiet_NaN();

int to_int(std::int64_t count) {
  if (count > std::numeric_limits<int>::max() / 2)
    fail("device cuda: {} tokens are too many", count);
  return static_cast<int>(count);
}

/// The bias's differentiable numbers, by their positions among its parameters.
std::vector<std::size_t> bias_numbers(const Plan& plan) {
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < plan.bias_parameters.size(); ++k) {
    const Parameter& p = plan.parameters[plan.bias_parameters[k]];
    if (p.info.differentiable && p.is_number()) numbers.push_back(k);
  }
  return numbers;
}

template <class N>
class Builder {
 public:
  Builder(const Plan& plan, const AttentionInput<N>& input, Storage storage)
      : plan_(plan), input_(input) {
    if (!plan.grid().empty()) fail("a bias on a grid is computed on the CPU only");
    if (plan.bias->of_queries) fail("device cuda: bias {} runs on the CPU only", plan.bias->name);
    const Extents& e = plan.extents;
    Problem<N>& p = out_.shape;
    p.groups = to_int(e.batch * e.head);
    p.heads = to_int(std::max<std::int64_t>(1, e.head));
    p.base_size = plan.map->base_size(static_cast<int>(e.feature));
    p.width = aggregate_width(plan.aggregate, e.value);
    p.storage = storage;
    if (plan.weights == WeightLaw::softmax_over_queries) {
      fail("device cuda: softmax with axis = query runs on the CPU only");
    }
    p.sigmoid = plan.weights == WeightLaw::sigmoid;
    p.normalised = scale_law(plan.weights, plan.aggregate) == WeightLaw::softmax;
    p.query.count = to_int(e.query);
    p.key.count = to_int(e.key);
    p.bias_slopes = static_cast<int>(bias_numbers(plan).size());
  }

  Operands<N> run(const Execution& execution) {
    allocate();
    run_tickets(out_.shape.groups, quiet(execution),
                [&](std::int64_t g, const auto&) { build_group(g); });
    for (std::int64_t h = 0; h < plan_.extents.head && out_.shape.groups > 0; ++h) build_head(h);
    build_masks();
    return std::move(out_);
  }

 private:
  const Plan& plan_;
  const AttentionInput<N>& input_;
  Operands<N> out_;

  [[nodiscard]] std::int64_t relative_positions() const {
    return std::max<std::int64_t>(0, plan_.extents.query + plan_.extents.key - 1);
  }

  void allocate() {
    const Problem<N>& p = out_.shape;
    const std::int64_t queries = static_cast<std::int64_t>(p.groups) * p.query.count;
    const std::int64_t keys = static_cast<std::int64_t>(p.groups) * p.key.count;
    const int bytes = storage_size(p.storage);
    out_.query_base.resize(size_of(queries * p.base_size * bytes));
    out_.key_base.resize(size_of(keys * p.base_size * bytes));
    out_.value.resize(size_of(keys * p.width * bytes));
    out_.query_values.resize(size_of(queries * plan_.similarity->values));
    out_.key_values.resize(size_of(keys * plan_.similarity->values));
    out_.query_offset.resize(size_of(queries));
    out_.key_offset.resize(size_of(keys));
    out_.value_mark.resize(size_of(keys));
    out_.non_finite_values.resize(size_of(p.groups));
    for (int g = 0; g < p.groups; ++g) {
      out_.heads.emplace_back(plan_, kernels<N>(), input_, g);
    }
  }

  void build_group(std::int64_t g) {
    const Problem<N>& p = out_.shape;
    const std::int64_t b = g / p.heads;
    const std::int64_t h = g % p.heads;
    place(g, input_.query.row(b, h, 0), p.query.count, "q", out_.query_base, out_.query_values,
          out_.query_offset);
    place(g, input_.key.row(b, h, 0), p.key.count, "k", out_.key_base, out_.key_values,
          out_.key_offset);
    std::vector<N> lifted(size_of(static_cast<std::int64_t>(p.key.count) * p.width));
    std::vector<std::int64_t>& bad = out_.non_finite_values[size_of(g)];
    lift_values(plan_.aggregate, input_.value.row(b, h, 0), plan_.extents.value, 0, p.key.count,
                p.width, lifted.data(), bad);
    const auto size = static_cast<std::int64_t>(lifted.size());
    store(lifted.data(), size, p.storage, out_.value.data() + g * size * storage_size(p.storage));
    for (const std::int64_t key : bad) {
      out_.value_mark[size_of(g * p.key.count + key)] = not_finite<N>;
    }
  }

  void place(std::int64_t g, const N* tokens, std::int64_t count, const char* tensor,
             std::vector<std::byte>& base, std::vector<N>& values, std::vector<N>& offset) const {
    const Problem<N>& p = out_.shape;
    Operand<N> operand;
    // The rows have no padding, because the device packs panels in its own layout.
    out_.heads[size_of(g)].place(tokens, count, count, tensor, 0, 1, operand);
    const int bytes = storage_size(p.storage);
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* to = base.data() + (g * count + i) * p.base_size * bytes;
      store(operand.base.data() + i * operand.stride, p.base_size, p.storage, to);
      offset[size_of(g * count + i)] = distance() ? norm(to) : N(0);
    }
    const int size = plan_.similarity->values;
    std::copy_n(operand.values.begin(), count * size, values.begin() + g * count * size);
    for (const std::int64_t i : operand.non_finite) offset[size_of(g * count + i)] = not_finite<N>;
  }

  [[nodiscard]] bool distance() const {
    return plan_.similarity->info.measure == Measure::squared_distance;
  }

  /// The squared norm of one stored token.
  [[nodiscard]] N norm(const std::byte* stored) const {
    double sum = 0;
    for (int c = 0; c < out_.shape.base_size; ++c) {
      const auto x = load<double>(stored, out_.shape.storage, c);
      sum += x * x;
    }
    return static_cast<N>(sum);
  }

  void build_head(std::int64_t h) {
    const Head<N>& head = out_.heads[size_of(h)];
    const int constants = plan_.similarity->constants;
    out_.constants.insert(out_.constants.end(), head.constants(), head.constants() + constants);
    if (!head.bias().exists() || relative_positions() == 0) return;
    const auto append = [&](std::vector<N>& to, const N* table) {
      to.insert(to.end(), table, table + relative_positions());
    };
    const std::int64_t last = plan_.extents.query - 1;
    append(out_.bias, head.bias().values(last, 0));
    for (const std::size_t k : bias_numbers(plan_)) {
      append(out_.bias_slope, head.bias().slope_table(k).data() + head.bias().index(last, 0));
    }
  }

  void build_masks() {
    const Extents& e = plan_.extents;
    const Mask mask = plan_.mask(input_);
    for (std::int64_t b = 0; b < e.batch; ++b) {
      const std::size_t first = out_.span.size();
      for (std::int64_t i = 0; i < e.query; ++i) {
        const KeyRange seen = mask.range(b, i);
        out_.span.push_back({static_cast<int>(seen.begin), static_cast<int>(seen.end)});
      }
      for (std::int64_t i = 0; i < e.query; i += tile_rows) {
        const std::int64_t end = std::min<std::int64_t>(i + tile_rows, e.query);
        out_.block_span.push_back(join(out_.span.data() + first + i, end - i));
      }
    }
    if (!mask.has_holes()) return;
    out_.allowed.resize(size_of(e.query * e.key));
    for (std::int64_t i = 0; i < e.query; ++i) {
      mask.holes(i, &out_.allowed[size_of(i * e.key)]);
    }
  }

  /// What a block of queries sees; queries that see nothing do not widen it.
  [[nodiscard]] static BlockSpan join(const KeySpan* spans, std::int64_t count) {
    BlockSpan block{{0, 0}, spans[0]};
    for (std::int64_t i = 0; i < count; ++i) {
      const KeySpan s = spans[i];
      block.all = {std::max(block.all.begin, s.begin), std::min(block.all.end, s.end)};
      if (s.begin >= s.end) continue;
      const bool first = block.any.begin >= block.any.end;
      block.any =
          first ? s : KeySpan{std::min(block.any.begin, s.begin), std::max(block.any.end, s.end)};
    }
    return block;
  }
};

template <class N>
void add_non_finite_values(const Plan& plan, const AttentionInput<N>& input,
                           const Operands<N>& operands, const Execution& execution,
                           Tensor4<N>& output) {
  const Mask mask = plan.mask(input);
  run_tickets(operands.shape.groups, execution, [&](std::int64_t g, const auto&) {
    const std::int64_t b = g / operands.shape.heads, h = g % operands.shape.heads;
    const NonFiniteValues<N> values(plan.aggregate, input.value.row(b, h, 0), plan.extents.value,
                                    operands.non_finite_values[size_of(g)]);
    for (std::int64_t i = 0; i < plan.extents.query; ++i)
      values.add_seen(mask, b, i, output.row(b, h, i));
  });
}

}  // namespace

template <class N>
Operands<N> make_operands(const Plan& plan, const AttentionInput<N>& input, Storage storage,
                          const Execution& execution) {
  return Builder<N>(plan, input, storage).run(execution);
}

template <class N>
ForwardSums<N>::ForwardSums(const Problem<N>& p)
    : output(size_of(static_cast<std::int64_t>(p.groups) * p.query.count * p.width)),
      maximum(size_of(static_cast<std::int64_t>(p.groups) * p.query.count)),
      sum(maximum.size()) {}

template <class N>
Forward<N> finish_forward(const Plan& plan, const AttentionInput<N>& input,
                          const Operands<N>& operands, const ForwardSums<N>& sums,
                          const Execution& execution) {
  const Extents& e = plan.extents;
  const int width = operands.shape.width;
  const Shape4 per_row{e.batch, e.head, e.query, 1};
  Forward<N> result;
  result.output = Tensor4<N>({e.batch, e.head, e.query, e.value});
  result.lse = Tensor4<N>(per_row);
  result.row_reference = Tensor4<N>(per_row);
  result.row_sum = Tensor4<N>(per_row);
  if (is_midpoint(plan.aggregate)) result.midpoint_sum = Tensor4<N>(per_row);
  for (std::size_t i = 0; i < sums.sum.size(); ++i) {
    const N* lifted = sums.output.data() + i * static_cast<std::size_t>(width);
    finish_row(plan.aggregate, lifted, e.value, N(1),
               result.output.data.data() + i * static_cast<std::size_t>(e.value));
    const N sum = sums.sum[i];
    result.row_reference.data[i] = sum == 0 ? N(0) : sums.maximum[i];
    result.row_sum.data[i] = sum;
    result.lse.data[i] =
        sum == 0 ? -std::numeric_limits<N>::infinity() : sums.maximum[i] + std::log(sum);
    if (is_midpoint(plan.aggregate)) result.midpoint_sum.data[i] = lifted[e.value];
  }
  add_non_finite_values(plan, input, operands, quiet(execution), result.output);
  return result;
}

template <class N>
UpstreamArrays<N> make_upstream(const Plan& plan, const AttentionInput<N>& input,
                                const Problem<N>& p, const Forward<N>& saved) {
  if (plan.without_stopped_pairs()) {
    fail("gradients under a mask that stops some of them are computed on the CPU only");
  }
  for (const std::size_t i : plan.bias_parameters) {
    const ParameterInfo& info = plan.parameters[i].info;
    if (info.domain == Domain::tensor && info.differentiable) {
      fail("gradients of tensor {} are computed on the CPU only", info.key);
    }
  }
  const std::int64_t rows = static_cast<std::int64_t>(p.groups) * p.query.count;
  const conelab::Upstream<N> upstream(plan, input, saved);
  UpstreamArrays<N> u;
  u.output_grad.resize(size_of(rows * p.width));
  N* to = u.output_grad.data();
  for (std::int64_t g = 0; g < p.groups; ++g) {
    const std::int64_t b = g / p.heads, h = g % p.heads;
    const N* lifted = upstream.lifted(b, h, 0, p.query.count, p.width, to);
    if (lifted != to) std::copy_n(lifted, static_cast<std::int64_t>(p.query.count) * p.width, to);
    to += static_cast<std::int64_t>(p.query.count) * p.width;
    for (std::int64_t i = 0; i < p.query.count; ++i) {
      u.delta.push_back(upstream.delta(b, h, i));
      u.reference.push_back(*saved.row_reference.row(b, h, i));
      u.inverse_sum.push_back(upstream.scale(b, h, i));
    }
  }
  return u;
}

template <class N>
GradientSums<N>::GradientSums(const Problem<N>& p, int constants)
    : query_base(size_of(static_cast<std::int64_t>(p.groups) * p.query.count * p.base_size)),
      query_potential(size_of(static_cast<std::int64_t>(p.groups) * p.query.count)),
      key_base(size_of(static_cast<std::int64_t>(p.groups) * p.key.count * p.base_size)),
      key_potential(size_of(static_cast<std::int64_t>(p.groups) * p.key.count)),
      value(size_of(static_cast<std::int64_t>(p.groups) * p.key.count * p.width)),
      sums(size_of(static_cast<std::int64_t>(p.groups) * ceil_div(p.query.count, tile_rows) *
                   (constants + p.bias_slopes))) {}

template <class N>
Backward<N> finish_backward(const Plan& plan, const AttentionInput<N>& input,
                            const Operands<N>& operands, const GradientSums<N>& sums,
                            const Execution& execution) {
  const Problem<N>& p = operands.shape;
  const Extents& e = plan.extents;
  Backward<N> result;
  result.query = Tensor4<N>(input.query.shape);
  result.key = Tensor4<N>(input.key.shape);
  result.value = Tensor4<N>(input.value.shape);
  std::vector<ParameterSums> parameters(size_of(p.groups), ParameterSums(plan));
  run_tickets(p.groups, quiet(execution), [&](std::int64_t g, const auto&) {
    const std::int64_t b = g / p.heads;
    const std::int64_t h = g % p.heads;
    const auto tokens = [&](const Tensor4<N>& tensor, const std::vector<N>& base,
                            const std::vector<N>& potential, Tensor4<N>& to) {
      const std::int64_t count = tensor.shape.token, first = g * count;
      operands.heads[size_of(g)].token_gradients(
          tensor.row(b, h, 0), count,
          {base.data() + first * p.base_size, p.base_size, potential.data() + first},
          to.row(b, h, 0), parameters[size_of(g)].similarity.data());
    };
    tokens(input.query, sums.query_base, sums.query_potential, result.query);
    tokens(input.key, sums.key_base, sums.key_potential, result.key);
    for (std::int64_t j = 0; j < e.key; ++j) {
      lower_value_grad(plan.aggregate, sums.value.data() + (g * e.key + j) * p.width,
                       input.value.row(b, h, j), e.value, result.value.row(b, h, j));
    }
  });
  const int constants = plan.similarity->constants, count = constants + p.bias_slopes;
  const int blocks = ceil_div(p.query.count, tile_rows);
  const std::vector<std::size_t> numbers = bias_numbers(plan);
  for (std::int64_t g = 0; g < p.groups; ++g) {
    ParameterSums& total = parameters[size_of(g)];
    total.bias = plan.zeros(plan.bias_parameters);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(blocks) * count; ++i) {
      const auto k = static_cast<int>(i % count);
      double& sum = k < constants ? total.constant[size_of(k)]
                                  : total.bias.p[numbers[size_of(k - constants)]];
      sum += sums.sums[size_of(g * blocks * count + i)];
    }
  }
  add_parameter_gradients<N>(plan, parameters, result);
  return result;
}

#define CONELAB_OPERANDS(N)                                                                       \
  template Operands<N> make_operands(const Plan&, const AttentionInput<N>&, Storage,              \
                                     const Execution&);                                           \
  template struct ForwardSums<N>;                                                                 \
  template Forward<N> finish_forward(const Plan&, const AttentionInput<N>&, const Operands<N>&,   \
                                     const ForwardSums<N>&, const Execution&);                    \
  template UpstreamArrays<N> make_upstream(const Plan&, const AttentionInput<N>&,                 \
                                           const Problem<N>&, const Forward<N>&);                 \
  template struct GradientSums<N>;                                                                \
  template Backward<N> finish_backward(const Plan&, const AttentionInput<N>&, const Operands<N>&, \
                                       const GradientSums<N>&, const Execution&);
CONELAB_OPERANDS(float)
CONELAB_OPERANDS(double)

}  // namespace conelab::gpu
