// The CUDA device as a backend. This header knows no CUDA types; built without nvcc, the backend is
// there and says so.
#pragma once

#include "core/tiles/backend.h"

namespace conelab {

/// The first CUDA device that the driver shows. Never throws; `state` says whether it can be used.
[[nodiscard]] Backend& cuda_backend();

}  // namespace conelab
