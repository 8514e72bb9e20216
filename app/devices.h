// Which device a job runs on.
#pragma once

#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/tiles/backend.h"

namespace conelab {

/// "cpu", "cuda", "auto": what `--device` takes.
[[nodiscard]] const std::vector<std::string>& device_words();

/// The backend for `word`, null for the CPU. "cuda" throws a failure that says why where it cannot
/// be used or cannot compute `dtype`; "auto" takes the CPU then, with a warning only where there
/// seems to be a device (a driver that is too old, say). Throws misuse for other words.
[[nodiscard]] Backend* choose_device(const std::string& word, Dtype dtype);

}  // namespace conelab
