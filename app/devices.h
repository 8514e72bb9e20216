// The choice of the device that a job runs on.
#pragma once

#include <string>

#include "core/base/tensor.h"
#include "core/tiles/backend.h"

namespace conelab {

/// Returns the backend for `word`, which is "cpu", "cuda" or "auto", or null for the CPU. If the
/// device cannot be used or cannot compute `dtype`, "cuda" throws a failure that says why, and
/// "auto" returns null. Throws misuse for other words.
[[nodiscard]] Backend* choose_device(const std::string& word, Dtype dtype);

/// Warns if `word` is "auto" and there seems to be a device that cannot be used, for example with a
/// driver that is too old.
void warn_of_unusable_device(const std::string& word);

}  // namespace conelab
