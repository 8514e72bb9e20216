// Reads clocks, temperature, power and throttle reasons of a device through NVML, whose library is
// loaded at run time. Nothing here changes a setting.
#pragma once

#include "core/tiles/backend.h"

namespace conelab::gpu {

/// Returns what is read without NVML: every number is NaN, and there are no throttle reasons.
[[nodiscard]] DeviceClocks unknown_clocks();

/// Reads the device at the PCI address `bus`, "0000:1a:00.0". Numbers that NVML does not tell are
/// NaN. The address of the first call is used for all later ones.
[[nodiscard]] DeviceClocks read_clocks(const std::string& bus);

}  // namespace conelab::gpu
