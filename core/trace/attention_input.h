// The tensors of attention from the arrays of an input file, for the command line and the desktop.
#pragma once

#include "core/call/input.h"
#include "core/files/read_tensors.h"

namespace conelab {

/// Moves the tensors out of `file` and converts them to T [batch x head x n x d]. If `dtype` is
/// narrower than T, the numbers are rounded to it. Each tensor of the file is freed before the next
/// is converted, so that at most one is held twice. Throws a failure if `edge` holds a number that
/// is not whole.
template <class T>
[[nodiscard]] AttentionInput<T> attention_input(Input&& file, Dtype dtype);

}  // namespace conelab
