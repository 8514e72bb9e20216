// A device that runs attention calls in the CPU's place. The program hands one over to whoever
// needs it; nobody but its maker knows what the device is.
#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Whether a device can be used, in words for lists and messages.
struct DeviceState {
  std::string name;  ///< "cuda"
  bool available = false;
  std::string about;   ///< What it is, or why it cannot be used: "no device".
  std::string driver;  ///< Version; empty where there is none.
  double memory_bytes = 0;
};

/// Clocks in Hz, temperature in degrees Celsius, power in W, and what holds the clocks back; NaN
/// and empty where the device does not tell. Only ever read.
struct DeviceClocks {
  double clock = 0, memory_clock = 0, temperature = 0, power = 0;
  std::string throttle_reasons;
  double throttle = 0;  ///< The same as a sum of NVML's bits; NaN where the device does not tell.
};

/// The device has too little memory for a call.
class DeviceMemoryError : public Error {
 public:
  explicit DeviceMemoryError(const std::string& what) : Error(ErrorKind::failure, what) {}
};

/// A call whose operands lie on the device.
class DeviceCall {
 public:
  virtual ~DeviceCall() = default;
  /// Runs and brings the results back. Both throw a failure where the device runs out of memory.
  [[nodiscard]] virtual Forward<float> forward() = 0;
  [[nodiscard]] virtual Backward<float> backward(const Forward<float>& saved) = 0;
  /// Seconds of the device's own clock per run, operands and results on the device: the mean of
  /// `runs` warm ones, or of runs each with its caches flushed before. Backward may be timed after
  /// `backward` has run.
  [[nodiscard]] virtual double seconds(Pass pass, bool cold, int runs) = 0;
  /// Device memory held now, operands and results.
  [[nodiscard]] virtual double device_bytes() const = 0;
  /// The kernels that serve this call's forward pass: "portable" or "sm_90a".
  [[nodiscard]] virtual std::string path() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual DeviceState state() const = 0;
  [[nodiscard]] virtual DeviceClocks clocks() const = 0;
  /// Whether numbers of this type can be computed there.
  [[nodiscard]] virtual bool takes(Dtype dtype) const = 0;
  /// Places the call's operands on the device, rounded to `dtype`; `plan` and `input` must outlive
  /// the result. Throws a failure that says why where the device cannot be used.
  [[nodiscard]] virtual std::unique_ptr<DeviceCall> prepare(const Plan& plan,
                                                            const AttentionInput<float>& input,
                                                            Dtype dtype,
                                                            const Execution& execution) = 0;
};

}  // namespace conelab
