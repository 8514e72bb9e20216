// Runs the passes of the portable kernels (gpu/tile/passes.h) on the host: block after block, phase
// after phase.
#pragma once

#include <memory>

#include "gpu/tile/passes.h"

namespace conelab::gpu::tests {

struct HostRunner {
  using Block = HostBlock;

  template <class Tile, class N, class... Arguments>
  void run(int tokens, Slices slices, const Problem<N>& p, const Arguments&... arguments) const {
    const auto shared = std::make_unique<SharedTile<N>>();
    for (int group = 0; group < p.groups; ++group) {
      for (int block = 0; block * tile_rows < tokens; ++block) {
        for (int slice = slices.begin; slice < slices.end; ++slice) {
          Tile::run(HostBlock(), p, arguments..., TilePlace{group, block, slice}, *shared);
        }
      }
    }
  }
};

}  // namespace conelab::gpu::tests
