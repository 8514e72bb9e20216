// Clocks, temperature, power and throttle reasons of the first device through NVML, if its library
// is there at run time. Reads only: nothing here can change a setting.
#pragma once

#include "core/attention/backend.h"

namespace conelab::gpu {

[[nodiscard]] DeviceClocks unknown_clocks();
[[nodiscard]] DeviceClocks read_clocks();

}  // namespace conelab::gpu
