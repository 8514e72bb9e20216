// Attention, the chain of parts, as a row of operators: maps of tokens first, then the tiles of
// pairs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/error.h"
#include "core/operators/operator.h"
#include "core/tiles/head_bias.h"

namespace conelab {
namespace {

/// Queries or keys as one token map after the other sees them: the first entry are the given ones.
template <class T>
using Stages = std::vector<Tensor4<T>>;

enum class Side { query, key };

bool maps(const TokenMapRow& row, Side side) {
  return side == Side::query ? row.maps_query : row.maps_key;
}

std::int64_t first_position(const Plan& plan, Side side) {
  return side == Side::query ? plan.extents.key - plan.extents.query : 0;
}

/// The tokens of one head under one map.
template <class T>
TokenBlock<T> block_of(const Plan& plan, const Tensor4<T>& x, std::int64_t b, std::int64_t h,
                       Side side, const PartValues& values) {
  return {x.row(b, h, 0),      x.shape.token, x.shape.feature, first_position(plan, side),
          side == Side::query, values};
}

template <class T>
Stages<T> mapped_stages(const Plan& plan, Tensor4<T> tokens, Side side,
                        const std::map<std::string, Array<T>>& tensors) {
  Stages<T> stages;
  stages.push_back(std::move(tokens));
  for (const PlannedTokens& map : plan.token_maps) {
    if (!maps(*map.row, side)) continue;
    const Tensor4<T>& x = stages.back();
    Shape4 shape = x.shape;
    if (map.row->appends != nullptr) {
      shape.feature += map.row->appends(plan.values(map.parameters, 0, tensors));
    }
    Tensor4<T> out(shape);
    for (std::int64_t h = 0; h < x.shape.head; ++h) {
      const PartValues values = plan.values(map.parameters, h, tensors);
      for (std::int64_t b = 0; b < x.shape.batch; ++b) {
        map.row->functions<T>().value(block_of(plan, x, b, h, side, values), out.row(b, h, 0));
      }
    }
    stages.push_back(std::move(out));
  }
  return stages;
}

/// Takes dL/d(mapped tokens) back through the maps; adds to the gradients of parameters.
template <class T>
Tensor4<T> pulled_back(const Plan& plan, const Stages<T>& stages, Tensor4<T> gradient, Side side,
                       const std::map<std::string, Array<T>>& tensors, Backward<T>& result) {
  std::size_t stage = stages.size() - 1;
  for (auto map = plan.token_maps.rbegin(); map != plan.token_maps.rend(); ++map) {
    if (!maps(*map->row, side)) continue;
    const Tensor4<T>& x = stages[--stage];
    Tensor4<T> dx(x.shape);
    std::vector<PartValues> by_head;
    for (std::int64_t b = 0; b < x.shape.batch; ++b) {
      for (std::int64_t h = 0; h < x.shape.head; ++h) {
        const PartValues values = plan.values(map->parameters, h, tensors);
        by_head.push_back(plan.zeros(map->parameters));
        map->row->functions<T>().pullback(block_of(plan, x, b, h, side, values),
                                          gradient.row(b, h, 0), dx.row(b, h, 0), by_head.back());
      }
    }
    add_gradients(plan, map->parameters, by_head, result);
    gradient = std::move(dx);
  }
  return gradient;
}

template <class S>
constexpr double largest = std::numeric_limits<S>::max();
template <>
constexpr double largest<Float16> = 65504;
template <>
constexpr double largest<Bfloat16> = 0x1.fep127;

/// Throws misuse where a mapped token is no number of type S.
template <class S>
void check_maps(const Plan& plan, const AttentionInput<S>& input) {
  const std::int64_t begin = std::min<std::int64_t>(0, first_position(plan, Side::query));
  for (const PlannedTokens& map : plan.token_maps) {
    for (std::int64_t h = 0; map.row->check != nullptr && h < plan.extents.head; ++h) {
      const PartValues values = plan.values(map.parameters, h, input.tensors);
      map.row->check(values, begin, plan.extents.key, largest<S>);
    }
  }
}

template <class S>
Forward<S> narrowed(Forward<Compute<S>>&& wide) {
  if constexpr (std::is_same_v<S, Compute<S>>) {
    return std::move(wide);
  } else {
    return {convert<S>(wide.output), std::move(wide.lse), std::move(wide.row_reference),
            std::move(wide.row_sum), std::move(wide.midpoint_sum)};
  }
}

template <class S>
Forward<Compute<S>> widened(const Forward<S>& narrow) {
  return {convert<Compute<S>>(narrow.output), narrow.lse, narrow.row_reference, narrow.row_sum,
          narrow.midpoint_sum};
}

template <class S>
Backward<S> narrowed(Backward<Compute<S>>&& wide) {
  if constexpr (std::is_same_v<S, Compute<S>>) {
    return std::move(wide);
  } else {
    return {convert<S>(wide.query), convert<S>(wide.key), convert<S>(wide.value),
            std::move(wide.parameters), std::move(wide.tensors)};
  }
}

template <class S>
Forward<S> forward_attention(const Plan& plan, const AttentionInput<S>& input,
                             const Execution& run) {
  if (!plan.inner) return attention_forward(plan, input, run);
  check_input(plan, input);
  return narrowed<S>(attention_forward(*plan.inner, map_tokens(plan, input), run));
}

/// Gradients through the pairs that the plan's masks admit; `saved` may be that of more pairs.
template <class S>
Backward<S> backward_over_pairs(const Plan& plan, const AttentionInput<S>& input,
                                const Forward<S>& saved, const Execution& run) {
  if (!plan.inner) return attention_backward(plan, input, saved, run);
  check_input(plan, input);
  using T = Compute<S>;
  Backward<T> of_mapped =
      attention_backward(*plan.inner, map_tokens(plan, input), widened(saved), run);
  if constexpr (std::is_same_v<S, T>) {
    return pull_back(plan, input, std::move(of_mapped));
  } else {
    return narrowed<S>(pull_back(plan, convert<T>(input), std::move(of_mapped)));
  }
}

/// dL/dlogit of a pair depends on the other pairs through the row's sums alone, so that what some
/// pairs add to the gradients is what is computed over these with the sums of all.
template <class S>
Backward<S> backward_attention(const Plan& plan, const AttentionInput<S>& input,
                               const Forward<S>& saved, const Execution& run) {
  const auto flowing = plan.without_stopped_pairs();
  if (!flowing) return backward_over_pairs(plan, input, saved, run);
  Backward<S> result = backward_over_pairs(plan, input, saved, stage(run, 0, 0.5));
  Backward<S> of_flowing = backward_over_pairs(*flowing, input, saved, stage(run, 0.5, 1));
  result.key = std::move(of_flowing.key);
  result.value = std::move(of_flowing.value);
  return result;
}

double attention_flops(const Plan& plan, Pass pass) {
  return pass == Pass::forward ? forward_flops(plan.extents) : backward_flops(plan.extents);
}

template <class S>
constexpr OperatorFunctions<S> attention_functions{&forward_attention<S>, &backward_attention<S>};

constexpr const char* all_masks[] = {""};

}  // namespace

template <class S>
AttentionInput<Compute<S>> map_tokens(const Plan& plan, const AttentionInput<S>& input) {
  check_maps(plan, input);
  auto in = convert<Compute<S>>(input);
  in.query = std::move(mapped_stages(plan, std::move(in.query), Side::query, in.tensors).back());
  in.key = std::move(mapped_stages(plan, std::move(in.key), Side::key, in.tensors).back());
  return in;
}

template <class T>
Backward<T> pull_back(const Plan& plan, const AttentionInput<T>& input, Backward<T> result) {
  const auto back = [&](const Tensor4<T>& tokens, Tensor4<T>& gradient, Side side) {
    if (gradient.empty()) return;  // A structured operator need not read k.
    const Stages<T> stages = mapped_stages(plan, tokens, side, input.tensors);
    gradient = pulled_back(plan, stages, std::move(gradient), side, input.tensors, result);
  };
  back(input.query, result.query, Side::query);
  back(input.key, result.key, Side::key);
  // The inner call differentiates numbers that this call fixes.
  std::erase_if(result.parameters, [&](const auto& entry) {
    return std::any_of(plan.parameters.begin(), plan.parameters.end(), [&](const Parameter& p) {
      return entry.first == p.info.key && !p.info.differentiable;
    });
  });
  return result;
}

template <class S>
double hype_columns_error(const Plan& plan, const AttentionInput<S>& input) {
  using T = Compute<S>;
  constexpr std::int64_t most = 512;
  const AttentionInput<T> mapped = map_tokens(plan, input);
  const Extents& e = plan.extents;
  const auto step = [](std::int64_t n) { return std::max<std::int64_t>(1, (n - 1) / most); };
  const std::int64_t first = e.feature, end = mapped.query.shape.feature;
  double error = 0;
  for (std::int64_t h = 0; h < e.head && e.batch > 0; ++h) {
    const HeadBias<double> bias(plan, plan.values(plan.bias_parameters, h, input.tensors));
    const auto scale = static_cast<T>(plan.values(plan.similarity_parameters, h).front());
    for (std::int64_t i = 0; i < e.query; i += step(e.query)) {
      const T* q = mapped.query.row(0, h, i);
      for (std::int64_t j = 0; j < e.key; j += step(e.key)) {
        const T* k = mapped.key.row(0, h, j);
        T sum = 0;
        for (std::int64_t c = first; c < end; ++c) sum += q[c] * k[c];
        double direct = 0;
        bias.fill(i, j, 1, &direct);
        error = std::max(error, std::abs(static_cast<double>(scale * sum) - direct));
      }
    }
  }
  return error;
}

template <class S>
PairMap<S>::PairMap(const Plan& plan, const AttentionInput<S>& input)
    : plan_(&plan), input_(&input) {
  if (!is_attention(plan.call)) {
    misuse("{} has no weights or logits of pairs", plan.call.operation);
  }
  if (plan.inner) mapped_ = map_tokens(plan, input);
}

template <class S>
void PairMap<S>::tile(Map2d which, const Forward<S>* saved, const MapTile& tile, Compute<S>* out,
                      const Execution& run) const {
  if (!plan_->inner) return pair_map_tile(*plan_, *input_, which, saved, tile, out, run);
  Forward<Compute<S>> rows;
  if (saved != nullptr) {
    rows.row_reference = saved->row_reference;
    rows.row_sum = saved->row_sum;
  }
  pair_map_tile(*plan_->inner, mapped_, which, saved == nullptr ? nullptr : &rows, tile, out, run);
}

template <class S>
void attention_map_tile(const Plan& plan, const AttentionInput<S>& input, Map2d which,
                        const Forward<S>* saved, const MapTile& tile, Compute<S>* out,
                        const Execution& run) {
  PairMap<S>(plan, input).tile(which, saved, tile, out, run);
}

template <class S>
Tensor4<Compute<S>> attention_map(const Plan& plan, const AttentionInput<S>& input, Map2d which,
                                  const Execution& run) {
  const PairMap<S> pairs(plan, input);  // Refuses structured operators.
  if (!plan.inner) return pair_map(plan, input, which, run);
  return pair_map(*plan.inner, map_tokens(plan, input), which, run);
}

template <class T>
PairCall<T> pair_call(const Call& call, AttentionInput<T> input) {
  draw_tensors(call, input);
  auto plan = resolve(call, check_extents(input));
  const PairMap<T> pairs(*plan, input);
  if (!plan->inner) return {plan, std::move(input)};
  return {plan->inner, map_tokens(*plan, input)};
}
template PairCall<float> pair_call(const Call&, AttentionInput<float>);
template PairCall<double> pair_call(const Call&, AttentionInput<double>);
template Backward<float> pull_back(const Plan&, const AttentionInput<float>&, Backward<float>);
template Backward<double> pull_back(const Plan&, const AttentionInput<double>&, Backward<double>);

#define CONELAB_PAIRS(S)                                                                   \
  template AttentionInput<Compute<S>> map_tokens(const Plan&, const AttentionInput<S>&);   \
  template double hype_columns_error(const Plan&, const AttentionInput<S>&);               \
  template class PairMap<S>;                                                               \
  template void attention_map_tile(const Plan&, const AttentionInput<S>&, Map2d,           \
                                   const Forward<S>*, const MapTile&, Compute<S>*,         \
                                   const Execution&);                                      \
  template Tensor4<Compute<S>> attention_map(const Plan&, const AttentionInput<S>&, Map2d, \
                                             const Execution&);
CONELAB_PAIRS(float)
CONELAB_PAIRS(double)
CONELAB_PAIRS(Float16)
CONELAB_PAIRS(Bfloat16)

OperatorRow attention_row();
OperatorRow attention_row() {
  return {{"attention", "similarity, bias, mask, weights, aggregate", "n^2", {}, all_masks},
          nullptr,
          &attention_flops,
          true,
          attention_functions<double>,
          attention_functions<float>,
          attention_functions<Float16>,
          attention_functions<Bfloat16>};
}

}  // namespace conelab
