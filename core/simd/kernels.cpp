#include "core/simd/kernels.h"

#include <hwy/targets.h>

#include <array>

#include "core/base/error.h"

namespace conelab {

#define CONELAB_DECLARE_TARGET(target)  \
  namespace target {                    \
  template <class T>                    \
  Kernels<T> make_kernels(const char*); \
  }
CONELAB_DECLARE_TARGET(simd_portable)
#if defined(__x86_64__)
CONELAB_DECLARE_TARGET(simd_avx2)
CONELAB_DECLARE_TARGET(simd_avx512)
#endif

namespace {

struct Target {
  const char* name;
  std::int64_t needs;  ///< The bit that Highway's detection must report; 0: always there.
  Kernels<float> (*make_f32)(const char*);
  Kernels<double> (*make_f64)(const char*);
};

/// The best first.
constexpr std::array targets {
#if defined(__x86_64__)
  Target{"avx512", HWY_AVX3, &simd_avx512::make_kernels<float>, &simd_avx512::make_kernels<double>},
      Target{"avx2", HWY_AVX2, &simd_avx2::make_kernels<float>, &simd_avx2::make_kernels<double>},
#endif
      Target {
    "portable", 0, &simd_portable::make_kernels<float>, &simd_portable::make_kernels<double>
  }
};

bool runs_here(const Target& target) {
  // Asked once: CPUID traps in a virtual machine and would cost a small call a tenth of its time.
  static const std::int64_t supported = hwy::SupportedTargets();
  return target.needs == 0 || (supported & target.needs) != 0;
}

const Target& choose(const std::string& name) {
  for (const Target& t : targets) {
    if (runs_here(t) && (name.empty() || name == t.name)) return t;
  }
  std::string known;
  for (const std::string& t : simd_targets()) known += (known.empty() ? "" : ", ") + t;
  misuse("SIMD target '{}' cannot run here (this machine has: {})", name, known);
}

template <class T>
Kernels<T> make(const Target& target) {
  if constexpr (sizeof(T) == 4) {
    return target.make_f32(target.name);
  } else {
    return target.make_f64(target.name);
  }
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Target& t : targets) {
    if (runs_here(t)) names.emplace_back(t.name);
  }
  return names;
}

template <class T>
const Kernels<T>& kernels(const std::string& name) {
  static std::array<Kernels<T>, targets.size()> tables = [] {
    std::array<Kernels<T>, targets.size()> made{};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (runs_here(targets[i])) made[i] = make<T>(targets[i]);
    }
    return made;
  }();
  return tables[static_cast<std::size_t>(&choose(name) - targets.data())];
}
template const Kernels<float>& kernels(const std::string&);
template const Kernels<double>& kernels(const std::string&);

}  // namespace conelab
