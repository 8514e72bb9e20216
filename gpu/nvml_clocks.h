// Clocks, temperature, power and throttle reasons of a device through NVML, if its library is there
// at run time. Reads only: nothing here can change a setting.
#pragma once

#include "core/tiles/backend.h"

namespace conelab::gpu {

[[nodiscard]] DeviceClocks unknown_clocks();

/// `bus` is the device's place, "0000:1a:00.0"; that of the first call counts.
[[nodiscard]] DeviceClocks read_clocks(const std::string& bus);

}  // namespace conelab::gpu
