// The gradients that `attend --keep gradients` writes: they are named q, k, v and are no trace.
#pragma once

#include <string>

namespace conelab::desktop {

/// Whether an array of an HDF5 file is such a gradient.
[[nodiscard]] inline bool is_gradient(const std::string& path) {
  return path.starts_with("/attention/gradients/");
}

}  // namespace conelab::desktop
