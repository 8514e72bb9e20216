#include "core/simd/kernels.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <array>
#include <type_traits>

#include "core/base/error.h"
#include "core/simd/amx.h"

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
  std::int64_t needs;  ///< The bit that Highway's detection must report; 0: the target always runs.
  Kernels<float> (*make_f32)(const char*);
  Kernels<double> (*make_f64)(const char*);
};

/// The targets, best first.
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
  // Asked once, because CPUID traps in a virtual machine and would take a tenth of a small call.
  static const std::int64_t supported = hwy::SupportedTargets();
  return target.needs == 0 || (supported & target.needs) != 0;
}

template <class T>
Kernels<T> make(const Target& target) {
  if constexpr (sizeof(T) == 4) {
    return target.make_f32(target.name);
  } else {
    return target.make_f64(target.name);
  }
}

template <class T>
const std::array<Kernels<T>, targets.size()>& tables() {
  static const std::array<Kernels<T>, targets.size()> made = [] {
    std::array<Kernels<T>, targets.size()> all{};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (runs_here(targets[i])) all[i] = make<T>(targets[i]);
    }
    return all;
  }();
  return made;
}

constexpr const char* tile_target = "amx";

/// Returns whether the tile unit serves tensors of S here. (CONELAB_AMX: the compiler knows it.)
template <class S>
bool tiles_serve() {
  if constexpr (CONELAB_AMX && sizeof(S) < sizeof(double)) {
    return runs_here(targets.front()) && amx_runs_here();
  }
  return false;
}

/// Forward passes of fewer queries take less time on avx512.
template <class S>
constexpr std::int64_t least_tile_queries = sizeof(S) == 2 ? 32 : 96;

template <class S>
const Kernels<float>& tile_kernels() {
  if constexpr (CONELAB_AMX) {
    using Kind = std::conditional_t<sizeof(S) == 2, Bfloat16, float>;
    static const Kernels<float> table = make_amx_kernels<Kind>(tables<float>().front());
    return table;
  }
  return tables<float>().front();
}

}  // namespace

template <class S>
std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  if (tiles_serve<S>()) names.emplace_back(tile_target);
  for (const Target& t : targets) {
    if (runs_here(t)) names.emplace_back(t.name);
  }
  return names;
}

std::string simd_summary() {
  const std::string single = simd_targets<float>().front();
  const std::string wide = simd_targets<double>().front();
  return single == wide ? single : fmt::format("{}, {} for f64", single, wide);
}

template <class S>
const Kernels<Compute<S>>& kernels(const std::string& name, std::int64_t queries) {
  if constexpr (sizeof(S) < sizeof(double)) {
    const bool wanted = name.empty() ? queries >= least_tile_queries<S> : name == tile_target;
    if (wanted && tiles_serve<S>()) return tile_kernels<S>();
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (runs_here(targets[i]) && (name.empty() || name == targets[i].name)) {
      return tables<Compute<S>>()[i];
    }
  }
  std::string known;
  for (const std::string& t : simd_targets<S>()) known += (known.empty() ? "" : ", ") + t;
  misuse("SIMD target '{}' cannot run here (this machine has: {})", name, known);
}

template const Kernels<float>& kernels<float>(const std::string&, std::int64_t);
template const Kernels<double>& kernels<double>(const std::string&, std::int64_t);
template const Kernels<float>& kernels<Float16>(const std::string&, std::int64_t);
template const Kernels<float>& kernels<Bfloat16>(const std::string&, std::int64_t);
template std::vector<std::string> simd_targets<float>();
template std::vector<std::string> simd_targets<double>();
template std::vector<std::string> simd_targets<Float16>();
template std::vector<std::string> simd_targets<Bfloat16>();

}  // namespace conelab
