// The real workload of `conelab bench`: one pass of the engine on random input.
//
// The input is that of case_input.h, rounded to the case's type; errors are those of case_error.h.
#pragma once

#include "core/bench/executor.h"

namespace conelab {

/// The engine on the CPU: operators are the similarities with their own maps, or calls as one word
/// (see call_text.h): "dot:masks=causal". Masks that read operands have none here. Operations of
/// pairs that a mask hides do not count. Cases on other devices are skipped.
[[nodiscard]] Workload attention_workload();

}  // namespace conelab
