// The CUDA device as a backend of the engine. This header has no CUDA types. In a program that was
// built without nvcc the backend exists too, and its state says why it cannot be used.
#pragma once

#include "core/tiles/backend.h"

namespace conelab {

/// Returns the backend of the first CUDA device that the driver shows. It never throws; the
/// backend's `state` says whether it can be used.
[[nodiscard]] Backend& cuda_backend();

}  // namespace conelab
