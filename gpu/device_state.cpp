#include "gpu/device_state.h"

#include <fmt/format.h>

namespace conelab::gpu {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string out_of_memory_text(double free_bytes, double total_bytes) {
  constexpr double mib = 1024.0 * 1024;
  if (total_bytes == 0) return "device cuda: out of memory; the CPU can run this call";
  return fmt::format(
      "device cuda: out of memory ({:.0f} MiB of {:.0f} MiB free); the CPU can run this call",
      free_bytes / mib, total_bytes / mib);
}

DeviceState describe_device(const DriverFacts& f) {
  DeviceState state;
  state.name = "cuda";
  if (f.driver_version > 0) state.driver = version_text(f.driver_version);
  if (f.driver_version == 0) {
    state.about = "no device";
  } else if (f.driver_too_old) {
    state.about = fmt::format("the driver is too old (it supports CUDA {}, this program needs {})",
                              version_text(f.driver_version), version_text(f.runtime_version));
  } else if (!f.error.empty()) {
    state.about = f.error;
  } else if (f.devices == 0) {
    state.about = "no device";
  } else if (f.major < least_major) {
    state.about = fmt::format("{} is too old (compute capability {}.{}, needs {}.0)", f.device_name,
                              f.major, f.minor, least_major);
  } else {
    state.available = true;
    state.memory_bytes = f.memory_bytes;
    state.about = fmt::format("{}, {:.1f} GiB, compute capability {}.{}", f.device_name,
                              f.memory_bytes / (1024.0 * 1024 * 1024), f.major, f.minor);
  }
  return state;
}

}  // namespace conelab::gpu
