// The logits and weights of pairs: those of the call on mapped tokens.
#include "core/base/error.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

/// Throws misuse if the plan's operator has neither weights nor logits of pairs.
void check_has_pairs(const Plan& plan) {
  const auto has = plan.operation->has_map;
  if (!has(plan, Map2d::weights) && !has(plan, Map2d::logits)) {
    misuse("{} has no weights or logits of pairs", plan.call.operation);
  }
}

}  // namespace

template <class T>
PairCall<T> mapped_call(std::shared_ptr<const Plan> plan, AttentionInput<T> input) {
  if (!plan->inner) return {std::move(plan), std::move(input)};
  AttentionInput<T> mapped = map_tokens(*plan, input);
  for (auto* tensor : {&mapped.query, &mapped.key, &mapped.value, &mapped.output_grad}) {
    (void)tensor->owned();  // The views would outlive `input`, so they are copied.
  }
  return {plan->inner, std::move(mapped)};
}

template <class S>
PairMap<S>::PairMap(const Plan& plan, const AttentionInput<S>& input)
    : plan_(&plan), input_(&input) {
  check_has_pairs(plan);
  if (const auto pairs = functions_of<S>(plan).pairs) {
    mapped_ = pairs(plan, input);
  } else if (plan.inner) {
    mapped_ = {plan.inner, map_tokens(plan, input)};
  }
}

template <class S>
void PairMap<S>::tile(Map2d which, const Forward<S>* saved, const MapTile& tile, Compute<S>* out,
                      const Execution& run) const {
  if (!mapped_.plan) {
    return functions_of<S>(*plan_).map(*plan_, *input_, which, saved, tile, out, run);
  }
  Forward<Compute<S>> rows;
  if (saved != nullptr) {
    rows.row_reference = saved->row_reference;
    rows.row_sum = saved->row_sum;
    rows.column_lse = saved->column_lse;
  }
  functions_of<Compute<S>>(*mapped_.plan)
      .map(*mapped_.plan, mapped_.input, which, saved == nullptr ? nullptr : &rows, tile, out, run);
}

template <class S>
Tensor4<Compute<S>> attention_map(const Plan& plan, const AttentionInput<S>& input, Map2d which,
                                  const Execution& run) {
  check_input(plan, input);
  const PairMap<S> pairs(plan, input);
  const Shape4 sizes = plan.pairs;
  Tensor4<Compute<S>> map(sizes);
  Forward<S> saved;
  if (which == Map2d::weights) saved = forward(plan, input, stage(run, 0, 0.5));
  const Execution rest = quiet(run);
  for (std::int64_t b = 0; b < sizes.batch; ++b) {
    for (std::int64_t h = 0; h < sizes.head; ++h) {
      pairs.tile(which, &saved, {b, h, 0, sizes.token, 0, sizes.feature}, map.row(b, h, 0), rest);
    }
  }
  return map;
}

template <class T>
PairCall<T> pair_call(const Call& call, AttentionInput<T> input) {
  auto plan = draw_tensors(call, input);
  return pair_call(std::move(plan), std::move(input));
}

template <class T>
PairCall<T> pair_call(std::shared_ptr<const Plan> plan, AttentionInput<T> input) {
  check_has_pairs(*plan);
  if (const auto pairs = functions_of<T>(*plan).pairs) return pairs(*plan, input);
  return mapped_call(std::move(plan), std::move(input));
}

template PairCall<float> mapped_call(std::shared_ptr<const Plan>, AttentionInput<float>);
template PairCall<double> mapped_call(std::shared_ptr<const Plan>, AttentionInput<double>);
template PairCall<float> pair_call(const Call&, AttentionInput<float>);
template PairCall<double> pair_call(const Call&, AttentionInput<double>);
template PairCall<float> pair_call(std::shared_ptr<const Plan>, AttentionInput<float>);
template PairCall<double> pair_call(std::shared_ptr<const Plan>, AttentionInput<double>);

#define CONELAB_PAIRS(S)                                                                   \
  template class PairMap<S>;                                                               \
  template Tensor4<Compute<S>> attention_map(const Plan&, const AttentionInput<S>&, Map2d, \
                                             const Execution&);
CONELAB_EACH_TYPE(CONELAB_PAIRS)

}  // namespace conelab
