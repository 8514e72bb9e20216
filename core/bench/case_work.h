// What one run of a benchmark's case amounts to, on whichever device: operations and compulsory
// bytes; and how long a sample runs.
#pragma once

#include <string>

#include "core/tiles/attention.h"

namespace conelab {

/// A sample lasts at least this long, in as many runs as that takes.
inline constexpr double sample_seconds = 0.02;

/// "forward", "backward" given what forward saved, or one after the other: "forward+backward".
[[nodiscard]] inline double pass_flops(const std::string& pass, const Extents& e) {
  const double both = pass == "forward+backward" ? forward_flops(e) : 0;
  return pass == "forward" ? forward_flops(e) : both + backward_flops(e);
}

/// Of tensors of one shape, with numbers of `size` bytes. Forward reads q, k, v and writes the
/// output; backward reads those, the output, its gradient and writes three.
[[nodiscard]] inline double compulsory_bytes(const std::string& pass, const Shape4& shape,
                                             std::size_t size) {
  const int tensors = pass == "forward" ? 4 : 8;
  return static_cast<double>(shape.size()) * tensors * static_cast<double>(size);
}

}  // namespace conelab
