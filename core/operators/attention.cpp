// Attention, the chain of parts, as a row of operators: it applies the maps of tokens and then
// processes the tiles of pairs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/operators/joined_heads.h"
#include "core/operators/structured.h"
#include "core/tiles/head_bias.h"
#include "core/tiles/upstream.h"

namespace conelab {
namespace {

/// The tokens of one side after each map; the first entry are the given tokens. Tokens with fewer
/// heads than the plan are shared by its heads (shared_head) until a map has numbers of its own for
/// each head.
template <class T>
using Stages = std::vector<StridedTensor4<T>>;

enum class Side { query, key, value };

bool maps(const TokenMapRow& row, Side side) {
  return side == Side::query ? row.maps_query : side == Side::key ? row.maps_key : row.maps_value;
}

std::int64_t first_position(const Plan& plan, Side side) {
  const Slice slice = plan.extents.slice();
  return side == Side::query ? slice.of_query(0) : slice.of_key(0);
}

/// Returns tokens of one head as the input of one map.
template <class T>
TokenBlock<T> block_of(const Plan& plan, const StridedTensor4<T>& x, std::int64_t b, std::int64_t h,
                       Side side, const PartValues& values,
                       std::span<const std::span<const T>> tensors) {
  return {x.tokens(b, h),
          first_position(plan, side),
          plan.extents.slice().all_keys,
          side == Side::query,
          values,
          tensors};
}

template <class T>
Stages<T> mapped_stages(const Plan& plan, StridedTensor4<T> tokens, Side side,
                        const std::map<std::string, Array<T>>& tensors) {
  Stages<T> stages;
  stages.push_back(std::move(tokens));
  for (const PlannedTokens& map : plan.token_maps) {
    if (!maps(*map.row, side)) continue;
    const StridedTensor4<T>& x = stages.back();
    const bool own = plan.differs_by_head(map.parameters);
    const std::int64_t heads = own ? plan.extents.head : x.shape.head;
    Tensor4<T> out({x.shape.batch, heads, x.shape.token, map.columns});
    for (std::int64_t h = 0; h < heads; ++h) {
      const PartValues values = plan.numbers(map.parameters, h);
      const std::vector<std::span<const T>> own_tensors =
          plan.tensors_of(map.parameters, h, tensors);
      const std::int64_t from = shared_head(h, x.shape.head, heads);
      for (std::int64_t b = 0; b < x.shape.batch; ++b) {
        map.row->functions<T>().value(block_of<T>(plan, x, b, from, side, values, own_tensors),
                                      out.row(b, h, 0));
      }
    }
    stages.push_back(std::move(out));
  }
  return stages;
}

/// Returns queries with as many heads as the plan: those of a single head are copied.
template <class T>
StridedTensor4<T> queries_of_heads(const Plan& plan, StridedTensor4<T> x) {
  const std::int64_t heads = plan.extents.head;
  if (x.shape.head == heads) return x;
  Shape4 shape = x.shape;
  shape.head = heads;
  Tensor4<T> out(shape);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) copy_tokens(x.tokens(b, 0), out.row(b, h, 0));
  }
  return out;
}

template <class T>
StridedTensor4<T> mapped_tokens(const Plan& plan, StridedTensor4<T> tokens, Side side,
                                const std::map<std::string, Array<T>>& tensors) {
  StridedTensor4<T> mapped =
      std::move(mapped_stages(plan, std::move(tokens), side, tensors).back());
  return side == Side::query ? queries_of_heads(plan, std::move(mapped)) : mapped;
}

/// Takes dL/d(mapped tokens) back through the maps and adds to the gradients of their parameters.
template <class T>
Tensor4<T> pulled_back(const Plan& plan, const Stages<T>& stages, Tensor4<T> gradient, Side side,
                       const std::map<std::string, Array<T>>& tensors, Backward<T>& result) {
  std::size_t stage = stages.size() - 1;
  gradient = sum_over_heads(std::move(gradient), stages.back().shape.head);
  for (auto map = plan.token_maps.rbegin(); map != plan.token_maps.rend(); ++map) {
    if (!maps(*map->row, side)) continue;
    const StridedTensor4<T>& x = stages[--stage];
    const std::int64_t heads = gradient.shape.head;
    Tensor4<T> dx({x.shape.batch, heads, x.shape.token, x.shape.feature});
    std::vector<PartValues> by_head;
    for (std::int64_t b = 0; b < x.shape.batch; ++b) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const PartValues values = plan.numbers(map->parameters, h);
        const std::vector<std::span<const T>> own = plan.tensors_of(map->parameters, h, tensors);
        by_head.push_back(plan.zeros(map->parameters));
        const std::int64_t from = shared_head(h, x.shape.head, heads);
        map->row->functions<T>().pullback(block_of<T>(plan, x, b, from, side, values, own),
                                          gradient.row(b, h, 0), dx.row(b, h, 0), by_head.back());
      }
    }
    add_gradients(plan, map->parameters, by_head, result);
    gradient = sum_over_heads(std::move(dx), x.shape.head);
  }
  return gradient;
}

template <class S>
constexpr double largest = std::numeric_limits<S>::max();
template <>
constexpr double largest<Float16> = 65504;
template <>
constexpr double largest<Bfloat16> = 0x1.fep127;

/// Returns an input in the type of the computation without its tensors. Tokens of this type are
/// viewed, others copied.
template <class S>
AttentionInput<Compute<S>> tokens_in_compute_type(const AttentionInput<S>& input) {
  const auto own = [](const StridedTensor4<S>& tokens) -> StridedTensor4<Compute<S>> {
    if constexpr (std::is_same_v<S, Compute<S>>) {
      return tokens.view();
    } else {
      return convert<Compute<S>>(tokens);
    }
  };
  return with_tokens<Compute<S>>(input, own, {});
}

/// Returns the tensors of an input in the type of the computation: the map itself, or a copy in
/// another type, with the sizes alone of the tensor `viewed`.
template <class S>
decltype(auto) tensors_in_compute_type(const AttentionInput<S>& input, const std::string& viewed) {
  if constexpr (std::is_same_v<S, Compute<S>>) {
    return (input.tensors);
  } else {
    return converted_tensors<Compute<S>>(input.tensors, viewed);
  }
}

/// Returns whether only the token maps of a plan read a tensor.
bool is_of_maps_alone(const Plan& plan, const std::string& name) {
  const auto reads = [&](const Plan& of, std::size_t i) {
    return of.parameters[i].info.key == name;
  };
  const bool maps = std::ranges::any_of(plan.token_maps, [&](const PlannedTokens& map) {
    return std::ranges::any_of(map.parameters, [&](std::size_t i) { return reads(plan, i); });
  });
  return maps && std::ranges::none_of(plan.inner->parameters,
                                      [&](const Parameter& p) { return p.info.key == name; });
}

/// Throws misuse if a mapped token overflows in type S.
template <class S>
void check_maps(const Plan& plan) {
  const std::int64_t begin = std::min<std::int64_t>(0, first_position(plan, Side::query));
  for (const PlannedTokens& map : plan.token_maps) {
    for (std::int64_t h = 0; map.row->check != nullptr && h < plan.extents.head; ++h) {
      const PartValues values = plan.numbers(map.parameters, h);
      map.row->check(values, begin, plan.extents.slice().all_keys, largest<S>);
    }
  }
}

template <class S>
Forward<S> forward_attention(const Plan& plan, const AttentionInput<S>& input,
                             const Execution& run) {
  if (!plan.inner) return attention_forward(plan, input, run);
  check_input(plan, input);
  using T = Compute<S>;
  const AttentionInput<T> mapped = map_tokens(plan, input);
  return converted<S>(
      join_heads(plan, mapped.tensors, attention_forward(*plan.inner, mapped, run)));
}

/// Computes gradients through the pairs that the plan's masks admit. `saved` may include more
/// pairs.
template <class S>
Backward<S> backward_over_pairs(const Plan& plan, const AttentionInput<S>& input,
                                const Forward<S>& saved, const Execution& run) {
  if (!plan.inner) return attention_backward(plan, input, saved, run);
  check_input(plan, input);
  using T = Compute<S>;
  const Forward<T> of_heads = outputs_of_heads(plan, converted<T>(saved));
  Backward<T> of_mapped = attention_backward(*plan.inner, map_tokens(plan, input), of_heads, run);
  if constexpr (std::is_same_v<S, T>) {
    return pull_back(plan, input, of_heads, std::move(of_mapped));
  } else {
    return converted<S>(pull_back(plan, convert<T>(input), of_heads, std::move(of_mapped)));
  }
}

template <class S>
Backward<S> backward_attention(const Plan& plan, const AttentionInput<S>& input,
                               const Forward<S>& saved, const Execution& run) {
  return gradients_by(plan, [&](const Plan& pairs, double begin, double end) {
    return backward_over_pairs(pairs, input, saved, stage(run, begin, end));
  });
}

/// Returns the operations of the pairs and of the projections. A projection takes 2 rows × columns
/// for each token of each head in the forward pass and three times that in the backward pass.
double attention_flops(const Plan& plan, Pass pass, double share) {
  const Extents& pairs = plan.inner ? plan.inner->extents : plan.extents;
  const Extents& e = plan.extents;
  double products = 0;
  for (const PlannedTokens& map : plan.token_maps) {
    const auto rows = token_projections();
    if (map.row < rows.data() || map.row >= rows.data() + rows.size()) continue;
    const bool own = map.row->maps_query || plan.differs_by_head(map.parameters);
    const std::int64_t heads = own ? e.head : map.row->maps_value ? e.value_heads() : e.key_heads();
    const std::int64_t tokens = map.row->maps_query ? e.query : e.key;
    products += static_cast<double>(heads * tokens * map.columns) *
                static_cast<double>(map.row->maps_value ? e.value : e.feature);
  }
  if (plan.joins_heads && !plan.parameters[plan.output_parameters.front()].extents.empty()) {
    products += static_cast<double>(pairs.query * pairs.head) *
                static_cast<double>(pairs.value * plan.output.feature);
  }
  products *= 2 * static_cast<double>(pairs.batch);
  return pass == Pass::forward ? forward_flops(pairs) * share + products
                               : backward_flops(pairs) * share + 3 * products;
}

template <class S>
constexpr OperatorFunctions<S> attention_functions{&forward_attention<S>, &backward_attention<S>,
                                                   &pair_map_tile<S>, nullptr};

}  // namespace

template <class S>
AttentionInput<Compute<S>> map_tokens(const Plan& plan, const AttentionInput<S>& input) {
  check_maps<S>(plan);
  AttentionInput<Compute<S>> in = tokens_in_compute_type(input);
  std::string viewed;  // The bias of pairs, which is as large as all pairs.
  if (plan.inner && plan.inner->bias != nullptr && plan.inner->bias->of_pairs) {
    viewed = plan.inner->parameters[plan.inner->bias_parameters.front()].info.key;
    in.bias = pair_bias_view(*plan.inner, input);
  }
  const auto& tensors = tensors_in_compute_type(input, viewed);
  in.query = mapped_tokens(plan, std::move(in.query), Side::query, tensors);
  in.key = mapped_tokens(plan, std::move(in.key), Side::key, tensors);
  in.value = mapped_tokens(plan, std::move(in.value), Side::value, tensors);
  for (const auto& [name, tensor] : tensors) {
    if (name == viewed) {
      in.tensors[name].extents = tensor.extents;
    } else if (!is_of_maps_alone(plan, name)) {
      in.tensors.emplace(name, tensor);
    }
  }
  if (plan.joins_heads) {
    in.output_grad = output_grad_of_heads(plan, in.tensors, std::move(in.output_grad.owned()));
  }
  return in;
}

template <class T>
Backward<T> pull_back(const Plan& plan, const AttentionInput<T>& input, const Forward<T>& of_heads,
                      Backward<T> result) {
  const auto back = [&](const StridedTensor4<T>& tokens, Tensor4<T>& gradient, Side side) {
    if (gradient.empty() && !is_attention(plan.call)) return;  // The operator does not read k or v.
    const Stages<T> stages = mapped_stages(plan, tokens.view(), side, input.tensors);
    gradient = pulled_back(plan, stages, std::move(gradient), side, input.tensors, result);
  };
  back(input.query, result.query, Side::query);
  back(input.key, result.key, Side::key);
  back(input.value, result.value, Side::value);
  add_output_gradient(plan, input, of_heads, result);
  // The inner call differentiates numbers that are fixed in this call.
  std::erase_if(result.parameters, [&](const auto& entry) {
    return std::ranges::any_of(plan.parameters, [&](const Parameter& p) {
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
        const T* k = mapped.key.tokens(0, h, e.head).row(j);
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

template Backward<float> pull_back(const Plan&, const AttentionInput<float>&, const Forward<float>&,
                                   Backward<float>);
template Backward<double> pull_back(const Plan&, const AttentionInput<double>&,
                                    const Forward<double>&, Backward<double>);

#define CONELAB_MAPPED(S)                                                                \
  template AttentionInput<Compute<S>> map_tokens(const Plan&, const AttentionInput<S>&); \
  template double hype_columns_error(const Plan&, const AttentionInput<S>&);
CONELAB_EACH_TYPE(CONELAB_MAPPED)

OperatorRow attention_row() {
  OperatorRow row{.info = {.name = "attention",
                           .about = "similarity, bias, mask, weights, aggregate",
                           .paper = "Vaswani et al. eq. 1",
                           .cost = "n^2",
                           .parameters = {},
                           .masks = every_mask,
                           .reads_keys = true},
                  .flops = &attention_flops,
                  .has_map = [](const Plan&, Map2d) { return true; },
                  .f64 = attention_functions<double>,
                  .f32 = attention_functions<float>,
                  .f16 = attention_functions<Float16>,
                  .bf16 = attention_functions<Bfloat16>};
  return row;
}

}  // namespace conelab
