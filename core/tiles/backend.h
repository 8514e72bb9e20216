// A device that runs attention calls instead of the CPU. The program creates one and passes it to
// its users, which know only this interface.
#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Says whether a device can be used, as text for lists and messages.
struct DeviceState {
  std::string name;  ///< "cuda"
  bool available = false;
  std::string about;   ///< What it is, or why it cannot be used: "no device".
  std::string driver;  ///< Its version; empty if there is no driver.
  double memory_bytes = 0;
};

/// Clocks in Hz, temperature in degrees Celsius, power in W, and the reasons why the clocks are
/// throttled. Numbers that the device does not report are NaN, text is empty. They are only read,
/// never set.
struct DeviceClocks {
  double clock = 0, memory_clock = 0, temperature = 0, power = 0;
  std::string throttle_reasons;
  double throttle = 0;  ///< The reasons as a sum of NVML's bits; NaN if not reported.
};

/// Says that the device has too little memory for a call.
class DeviceMemoryError : public Error {
 public:
  explicit DeviceMemoryError(const std::string& what) : Error(ErrorKind::failure, what) {}
};

/// A call whose operands are on the device.
class DeviceCall {
 public:
  virtual ~DeviceCall() = default;
  /// Run the call and copy the results to the host. Both throw DeviceMemoryError if the device runs
  /// out of memory.
  [[nodiscard]] virtual Forward<float> forward() = 0;
  [[nodiscard]] virtual Backward<float> backward(const Forward<float>& saved) = 0;
  /// Returns the mean time of a run in seconds, measured by the device's clock, with operands and
  /// results on the device. If `cold`, the caches are flushed before each of the `runs` runs. The
  /// backward pass can be timed once `backward` has run.
  [[nodiscard]] virtual double seconds(Pass pass, bool cold, int runs) = 0;
  /// Returns the device memory that operands and results occupy now, in bytes.
  [[nodiscard]] virtual double device_bytes() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual DeviceState state() const = 0;
  [[nodiscard]] virtual DeviceClocks clocks() const = 0;
  /// Returns whether the device computes tensors of this type.
  [[nodiscard]] virtual bool takes(Dtype dtype) const = 0;
  /// Copies the operands of a call to the device, rounded to `dtype`. `plan` and `input` must
  /// outlive the result. Throws a failure that says why if the device cannot be used.
  [[nodiscard]] virtual std::unique_ptr<DeviceCall> prepare(const Plan& plan,
                                                            const AttentionInput<float>& input,
                                                            Dtype dtype,
                                                            const Execution& execution) = 0;
};

}  // namespace conelab
