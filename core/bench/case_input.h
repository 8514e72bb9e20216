// The random input of a benchmark's case.
//
// Query, key, value and output gradient are N(0,1); key 1 of every head repeats query 0 and key 3
// is query 2 moved by 1e-4, so that close pairs are part of every case.
#pragma once

#include <cstdint>

#include "core/bench/sweep.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Tensors [batch × c.head × c.seq_len × c.dim] from a seed; queries and keys in equal number.
[[nodiscard]] AttentionInput<float> random_input(const Case& c, std::int64_t batch,
                                                 std::uint64_t seed);

}  // namespace conelab
