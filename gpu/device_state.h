// What a driver's answers mean: a pure function, so that it can be tested without a driver.
#pragma once

#include <string>

#include "core/tiles/backend.h"

namespace conelab::gpu {

/// Answers of the CUDA runtime; versions as 1000 * major + 10 * minor.
struct DriverFacts {
  int driver_version = 0;   ///< 0: no driver.
  int runtime_version = 0;  ///< What this program was built with.
  bool driver_too_old = false;
  std::string error;  ///< Any other error; empty: none.
  int devices = 0;
  std::string device_name;
  int major = 0, minor = 0;  ///< Compute capability.
  double memory_bytes = 0;
};

/// The least compute capability that the kernels run on.
constexpr int least_major = 8;

[[nodiscard]] DeviceState describe_device(const DriverFacts& facts);

/// What is said where the device has too little memory; `total` 0: it does not tell how much.
[[nodiscard]] std::string out_of_memory_text(double free_bytes, double total_bytes);

/// "13.0"
[[nodiscard]] std::string version_text(int version);

}  // namespace conelab::gpu
