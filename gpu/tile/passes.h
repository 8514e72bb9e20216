// The kernels of a call in their order, the same on the device and in tests.
//
// A Runner has a thread block type `Block`, and
//   run<Tile>(tokens, slices, p, arguments...)   calls Tile::run(block, p, arguments..., place,
//       shared) for every group, every block of 64 of the `tokens` tokens, and every slice. A run
//       begins after the end of the one before.
#pragma once

#include "gpu/tile/forward.h"
#include "gpu/tile/gradient.h"

namespace conelab::gpu {

/// Slices [begin, end) of a tile.
struct Slices {
  int begin, end;
};

template <class S, class N, class Runner>
void run_forward(const Runner& runner, const Problem<N>& p, const ForwardResult<N>& result) {
  using Columns = ForwardTile<S, N, Owner::key, typename Runner::Block>;
  using Rows = ForwardTile<S, N, Owner::query, typename Runner::Block>;
  if (p.over_queries) runner.template run<Columns>(p.key.count, Slices{0, 1}, p, result);
  runner.template run<Rows>(p.query.count, Slices{0, Rows::slices(p)}, p, result);
}

template <class S, class N, class Runner>
void run_gradient(const Runner& runner, const Problem<N>& p, const Upstream<N>& in,
                  const GradientResult<N>& result) {
  using Query = GradientTile<S, N, Owner::query, typename Runner::Block>;
  using Key = GradientTile<S, N, Owner::key, typename Runner::Block>;
  const Slices all{0, Query::slices(p)};
  const int base = Key::base_slices(p), end = Key::slices(p);
  if (!p.over_queries) {
    runner.template run<Query>(p.query.count, all, p, in, result);
    runner.template run<Key>(p.key.count, Slices{0, end}, p, in, result);
    return;
  }
  // The other gradients need those of the values.
  runner.template run<Key>(p.key.count, Slices{base, end}, p, in, result);
  runner.template run<ColumnDeltaTile<N, typename Runner::Block>>(p.key.count, Slices{0, 1}, p,
                                                                  result);
  runner.template run<Query>(p.query.count, all, p, in, result);
  runner.template run<Key>(p.key.count, Slices{0, base}, p, in, result);
}

}  // namespace conelab::gpu
