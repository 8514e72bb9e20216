// Decides from a driver's answers whether a device can be used. These are pure functions, so that
// they can be tested without a driver.
#pragma once

#include <string>

#include "core/tiles/backend.h"

namespace conelab::gpu {

/// Answers of the CUDA runtime. Versions are 1000 * major + 10 * minor.
struct DriverFacts {
  int driver_version = 0;   ///< 0 if there is no driver.
  int runtime_version = 0;  ///< That of the runtime that this program was built with.
  bool driver_too_old = false;
  std::string error;  ///< The text of any other error, or empty.
  int devices = 0;    ///< How many devices the driver shows.
  std::string device_name;
  int major = 0, minor = 0;  ///< The compute capability.
  double memory_bytes = 0;
};

/// The least compute capability, by its major number, that the kernels run on.
constexpr int least_major = 8;

/// Returns whether the device can be used, with its name and memory, or with one sentence that says
/// why it cannot.
[[nodiscard]] DeviceState describe_device(const DriverFacts& facts);

/// Returns the error for a device with too little memory. `total_bytes` is 0 if the device does not
/// tell how much it has.
[[nodiscard]] std::string out_of_memory_text(double free_bytes, double total_bytes);

/// Returns a version as text, 13000 as "13.0".
[[nodiscard]] std::string version_text(int version);

}  // namespace conelab::gpu
