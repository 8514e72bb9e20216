#include "gpu/nvml_clocks.h"

#include <dlfcn.h>

#include <limits>
#include <memory>

namespace conelab::gpu {
namespace {

// The part of NVML's stable interface that is read here; its header is not in every toolkit.
using Device = void*;
using GetUnsigned = int(Device, unsigned*);
using GetUnsignedOf = int(Device, int, unsigned*);
using GetBits = int(Device, unsigned long long*);
constexpr int success = 0;
constexpr int clock_of_multiprocessors = 1;
constexpr int clock_of_memory = 2;
constexpr int temperature_of_chip = 0;

struct Reason {
  unsigned long long bit;
  const char* name;
};
constexpr Reason reasons[] = {{0x04, "power cap"},
                              {0x08, "hardware slowdown"},
                              {0x20, "software thermal"},
                              {0x40, "hardware thermal"},
                              {0x80, "power brake"}};

/// The library, opened once, and one device in it.
class Nvml {
 public:
  explicit Nvml(const std::string& bus)
      : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = find<int()>("nvmlInit_v2");
    const auto device = find<int(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
    works_ = init != nullptr && device != nullptr && init() == success &&
             device(bus.c_str(), &device_) == success;
  }

  template <class Function, class... Arguments>
  bool ask(const char* name, Arguments... arguments) const {
    const auto function = works_ ? find<Function>(name) : nullptr;
    return function != nullptr && function(device_, arguments...) == success;
  }

 private:
  void* library_;  ///< Stays open: the driver keeps state behind it.
  Device device_ = nullptr;
  bool works_ = false;

  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
};

/// Only what slows the clocks down: an idle device and clocks that an application set are no such
/// reasons.
void describe_throttle(unsigned long long bits, DeviceClocks& clocks) {
  clocks.throttle = 0;
  for (const Reason& reason : reasons) {
    if ((bits & reason.bit) == 0) continue;
    clocks.throttle += static_cast<double>(reason.bit);
    clocks.throttle_reasons +=
        (clocks.throttle_reasons.empty() ? "" : ", ") + std::string(reason.name);
  }
  if (clocks.throttle_reasons.empty()) clocks.throttle_reasons = "none";
}

}  // namespace

DeviceClocks unknown_clocks() {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  return {unknown, unknown, unknown, unknown, "", unknown};
}

DeviceClocks read_clocks(const std::string& bus) {
  static const Nvml nvml(bus);
  DeviceClocks clocks = unknown_clocks();
  unsigned value = 0;
  if (nvml.ask<GetUnsignedOf>("nvmlDeviceGetClockInfo", clock_of_multiprocessors, &value))
    clocks.clock = value * 1e6;
  if (nvml.ask<GetUnsignedOf>("nvmlDeviceGetClockInfo", clock_of_memory, &value))
    clocks.memory_clock = value * 1e6;
  if (nvml.ask<GetUnsignedOf>("nvmlDeviceGetTemperature", temperature_of_chip, &value))
    clocks.temperature = value;
  if (nvml.ask<GetUnsigned>("nvmlDeviceGetPowerUsage", &value)) clocks.power = value * 1e-3;
  unsigned long long bits = 0;
  if (nvml.ask<GetBits>("nvmlDeviceGetCurrentClocksThrottleReasons", &bits))
    describe_throttle(bits, clocks);
  return clocks;
}

}  // namespace conelab::gpu
