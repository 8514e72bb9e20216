// The device's kernels run on the host: the same tile code, block after block, phase after phase.
#pragma once

#include <memory>

#include "core/operators/operator.h"
#include "core/tiles/backend.h"
#include "gpu/operands.h"

namespace conelab::gpu::tests {

/// Forward and backward of a call as the portable kernels compute them. The maps of tokens are the
/// host's, as on a device.
template <class N>
struct Emulation {
  std::shared_ptr<const Plan> plan;
  AttentionInput<N> mapped;  ///< Of a plan with maps of tokens.
  Operands<N> operands;
  Forward<N> forward;
  Backward<N> backward;
};

/// Outputs are NaN before the kernels run, so that what a kernel forgets to write shows.
template <class N>
[[nodiscard]] Emulation<N> emulate(const Call& call, const AttentionInput<N>& input,
                                   Storage storage, bool gradients = true);

/// Likewise from given operands of the call.
template <class N>
[[nodiscard]] Emulation<N> emulate(std::shared_ptr<const Plan> plan, const AttentionInput<N>& input,
                                   Operands<N> operands, bool gradients = true);

/// A device that runs the portable kernels on the host, in float.
[[nodiscard]] Backend& emulated_backend();

}  // namespace conelab::gpu::tests
