#include "tests/gpu/emulate.h"

#include <cstdlib>
#include <limits>
#include <utility>

#include "core/operators/joined_heads.h"
#include "core/tiles/upstream.h"
#include "gpu/tile/visit_similarity.h"
#include "tests/gpu/host_runner.h"

namespace conelab::gpu::tests {
namespace {

const auto pointer = [](auto& array) { return array.empty() ? nullptr : array.data(); };

template <class N>
void poison(std::vector<N>& array) {
  std::fill(array.begin(), array.end(), std::numeric_limits<N>::quiet_NaN());
}

template <class N>
ForwardResult<N> poisoned(ForwardSums<N>& sums) {
  for (auto* array : {&sums.output, &sums.maximum, &sums.sum, &sums.column_lse, &sums.class_weight})
    poison(*array);
  return sums.view(pointer);
}

template <class N>
GradientResult<N> poisoned(GradientSums<N>& sums) {
  for (auto* array : {&sums.query_base, &sums.query_potential, &sums.key_base, &sums.key_potential,
                      &sums.value, &sums.column_delta, &sums.class_slope, &sums.class_weight}) {
    poison(*array);
  }
  poison(sums.sums);
  return sums.view(pointer);
}

/// Calls run(Tag<S>{}) with the type of the plan's similarity.
template <class Run>
void with_similarity(const Plan& plan, const Run& run) {
  const auto index = static_cast<int>(plan.similarity - similarity_table().data());
  if (!visit_similarity(index, run)) std::abort();
}

template <class N>
Forward<N> forward_of_pairs(const Plan& plan, const AttentionInput<N>& input,
                            const Operands<N>& operands) {
  const Problem<N> p = operands.view(pointer);
  ForwardSums<N> sums(p);
  with_similarity(plan, [&](auto tag) {
    run_forward<typename decltype(tag)::type>(HostRunner(), p, poisoned(sums));
  });
  return finish_forward(plan, input, operands, sums);
}

template <class N>
Backward<N> backward_of_pairs(const Plan& plan, const AttentionInput<N>& input,
                              const Operands<N>& operands, const Forward<N>& saved) {
  const Problem<N> p = operands.view(pointer);
  const UpstreamArrays<N> upstream = make_upstream(plan, input, operands, saved);
  GradientSums<N> sums(p, plan.similarity->constants);
  with_similarity(plan, [&](auto tag) {
    run_gradient<typename decltype(tag)::type>(HostRunner(), p, upstream.view(pointer),
                                               poisoned(sums));
  });
  return finish_backward(plan, input, operands, saved, sums);
}

const Plan& pairs_of(const Plan& plan) { return plan.inner ? *plan.inner : plan; }

class EmulatedCall : public DeviceCall {
 public:
  EmulatedCall(const Plan& plan, const AttentionInput<float>& input, Storage storage)
      : plan_(plan), input_(input), operands_(make_operands(plan, input, storage, {})) {}
  Forward<float> forward() override { return forward_of_pairs(plan_, input_, operands_); }
  Backward<float> backward(const Forward<float>& saved) override {
    return backward_of_pairs(plan_, input_, operands_, saved);
  }
  double seconds(Pass, bool, int) override { return 1; }
  [[nodiscard]] double device_bytes() const override { return 0; }

 private:
  const Plan& plan_;
  const AttentionInput<float>& input_;
  Operands<float> operands_;
};

class EmulatedBackend : public Backend {
 public:
  [[nodiscard]] DeviceState state() const override { return {"emulated", true, "", "", 0}; }
  [[nodiscard]] DeviceClocks clocks() const override { return {}; }
  [[nodiscard]] bool takes(Dtype dtype) const override { return dtype != Dtype::f64; }
  [[nodiscard]] std::unique_ptr<DeviceCall> prepare(const Plan& plan,
                                                    const AttentionInput<float>& input, Dtype dtype,
                                                    const Execution&) override {
    const Storage storage = dtype == Dtype::f16    ? Storage::f16
                            : dtype == Dtype::bf16 ? Storage::bf16
                                                   : Storage::f32;
    return std::make_unique<EmulatedCall>(plan, input, storage);
  }
};

}  // namespace

Backend& emulated_backend() {
  static EmulatedBackend backend;
  return backend;
}

template <class N>
Emulation<N> emulate(std::shared_ptr<const Plan> plan, const AttentionInput<N>& input,
                     Operands<N> operands, bool gradients) {
  Emulation<N> e{std::move(plan), {}, std::move(operands), {}, {}};
  if (e.plan->inner) e.mapped = map_tokens(*e.plan, input);
  const AttentionInput<N>& of_pairs = e.plan->inner ? e.mapped : input;
  const Forward<N> of_heads = forward_of_pairs(pairs_of(*e.plan), of_pairs, e.operands);
  e.forward = join_heads(*e.plan, input.tensors, of_heads);
  if (!gradients) return e;
  e.backward = gradients_by(*e.plan, [&](const Plan& p, double, double) {
    const bool flowing = &p != e.plan.get();
    const Plan& pairs = pairs_of(p);
    Backward<N> result = backward_of_pairs(
        pairs, of_pairs,
        flowing ? make_operands(pairs, of_pairs, e.operands.shape.storage, {}) : e.operands,
        of_heads);
    return p.inner ? pull_back(p, input, of_heads, std::move(result)) : std::move(result);
  });
  return e;
}

template <class N>
Emulation<N> emulate(const Call& call, const AttentionInput<N>& input, Storage storage,
                     bool gradients) {
  const std::shared_ptr<const Plan> plan = resolve(call, check_extents(input));
  if (!plan->inner) {
    return emulate(plan, input, make_operands(*plan, input, storage, {}), gradients);
  }
  const AttentionInput<N> mapped = map_tokens(*plan, input);
  return emulate(plan, input, make_operands(*plan->inner, mapped, storage, {}), gradients);
}
template Emulation<double> emulate(std::shared_ptr<const Plan>, const AttentionInput<double>&,
                                   Operands<double>, bool);
template Emulation<float> emulate(const Call&, const AttentionInput<float>&, Storage, bool);
template Emulation<double> emulate(const Call&, const AttentionInput<double>&, Storage, bool);

}  // namespace conelab::gpu::tests
