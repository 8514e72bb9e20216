// The real workload of `conelab bench`: one pass of the engine on random input.
//
// The input is that of case_input.h.
//
// Errors, the largest absolute difference to float64 on the same (rounded) input: of the forward
// pass against the separately written reference, for all queries up to n = 256 and for 16 beyond;
// of the backward pass against the engine's own float64 path (which the tests compare with the
// reference), all gradients up to n = 512, beyond that the gradients of 16 queries; in f64 against
// finite differences of the reference (good to about 1e-9 of a slope), for eight numbers of one
// query, NaN where all of them lie at kinks.
#pragma once

#include "core/bench/executor.h"

namespace conelab {

/// The engine on the CPU: operators are the similarities with their own maps, or calls as one word
/// (see call_text.h): "dot:masks=causal". Masks that read operands have none here. Operations of
/// pairs that a mask hides do not count. Cases on other devices are skipped.
[[nodiscard]] Workload attention_workload();

}  // namespace conelab
