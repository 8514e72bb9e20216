#include "tests/gpu/emulate.h"

#include <limits>
#include <utility>

#include "gpu/fold.h"
#include "gpu/tile/forward.h"
#include "gpu/tile/gradient.h"

namespace conelab::gpu::tests {
namespace {

const auto pointer = [](auto& array) { return array.empty() ? nullptr : array.data(); };

template <class N>
void poison(std::vector<N>& array) {
  std::fill(array.begin(), array.end(), std::numeric_limits<N>::quiet_NaN());
}

template <class N, class Work>
void for_blocks(const Problem<N>& p, int tokens, int slices, const Work& work) {
  const auto shared = std::make_unique<SharedTile<N>>();
  for (int group = 0; group < p.groups; ++group) {
    for (int block = 0; block * tile_rows < tokens; ++block) {
      for (int slice = 0; slice < slices; ++slice) work(TilePlace{group, block, slice}, *shared);
    }
  }
}

template <class S, class N>
void run_forward(const Problem<N>& p, ForwardSums<N>& sums) {
  using Tile = ForwardTile<S, N, HostBlock>;
  poison(sums.output);
  poison(sums.maximum);
  poison(sums.sum);
  const ForwardResult<N> result{sums.output.data(), sums.maximum.data(), sums.sum.data()};
  for_blocks(p, p.query.count, Tile::slices(p), [&](const TilePlace& place, SharedTile<N>& shared) {
    Tile::run(HostBlock(), p, result, place, shared);
  });
}

template <class S, class N, Owner owner>
void run_owner(const Problem<N>& p, const Upstream<N>& upstream, const GradientResult<N>& result) {
  using Tile = GradientTile<S, N, owner, HostBlock>;
  const int tokens = owner == Owner::query ? p.query.count : p.key.count;
  for_blocks(p, tokens, Tile::slices(p), [&](const TilePlace& place, SharedTile<N>& shared) {
    Tile::run(HostBlock(), p, upstream, result, place, shared);
  });
}

template <class S, class N>
void run_gradient(const Problem<N>& p, const Upstream<N>& upstream, GradientSums<N>& sums) {
  poison(sums.query_base);
  poison(sums.query_potential);
  poison(sums.key_base);
  poison(sums.key_potential);
  poison(sums.value);
  poison(sums.sums);
  const GradientResult<N> result{sums.query_base.data(), sums.query_potential.data(),
                                 sums.key_base.data(),   sums.key_potential.data(),
                                 sums.value.data(),      sums.sums.data()};
  run_owner<S, N, Owner::query>(p, upstream, result);
  run_owner<S, N, Owner::key>(p, upstream, result);
}

}  // namespace

template <class N>
Emulation<N> emulate(std::shared_ptr<const Plan> plan, const AttentionInput<N>& input,
                     Operands<N> operands, bool gradients) {
  Emulation<N> e{std::move(plan), std::move(operands), {}, {}};
  const Problem<N> p = e.operands.view(pointer);
  ForwardSums<N> forward(p);
  GradientSums<N> gradient(p, e.plan->similarity->constants);
  const auto index = static_cast<int>(e.plan->similarity - similarity_table().data());
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    run_forward<S>(p, forward);
    e.forward = finish_forward(*e.plan, input, e.operands, forward);
    if (!gradients) return;
    const UpstreamArrays<N> upstream = make_upstream(*e.plan, input, p, e.forward);
    run_gradient<S>(p, upstream.view(pointer), gradient);
    e.backward = finish_backward(*e.plan, input, e.operands, gradient);
  });
  return e;
}

template <class N>
Emulation<N> emulate(const Call& call, const AttentionInput<N>& input, Storage storage,
                     bool gradients) {
  const std::shared_ptr<const Plan> plan = resolve(call, check_extents(input));
  return emulate(plan, input, make_operands(*plan, input, storage, {}), gradients);
}
template Emulation<double> emulate(std::shared_ptr<const Plan>, const AttentionInput<double>&,
                                   Operands<double>, bool);
template Emulation<float> emulate(const Call&, const AttentionInput<float>&, Storage, bool);
template Emulation<double> emulate(const Call&, const AttentionInput<double>&, Storage, bool);

}  // namespace conelab::gpu::tests
