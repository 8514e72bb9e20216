// Where a result comes from: program, compiler, machine. Kept with every file that the program
// writes, so that numbers can be judged later.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace conelab {

using EnvironmentValue = std::variant<std::string, double>;

/// Name and value, in a fixed order: version, git_hash, compiler, compiler_flags, cpu, simd, cores,
/// memory_bytes, system. Values that cannot be read are left out.
/// `simd` names the SIMD targets in use (simd_summary of core/simd/kernels.h).
[[nodiscard]] std::vector<std::pair<std::string, EnvironmentValue>> environment(
    const std::string& simd);

/// What tells two builds of equal version and commit apart: 16 hexadecimal digits of the running
/// program's SHA-256; "unknown" where the system does not show the program.
[[nodiscard]] std::string program_digest();

/// "0.1.0".
[[nodiscard]] std::string version();

/// "conelab 0.1.0".
[[nodiscard]] std::string program_version();

/// What drifts during a run: 1-minute load average, clock of the first core in Hz, temperature in
/// degrees Celsius; NaN where the machine does not tell.
struct MachineState {
  double load = 0, clock = 0, temperature = 0;
};
[[nodiscard]] MachineState machine_state();

/// Bytes of memory that could be used now; 0 where unknown.
[[nodiscard]] double available_memory();

}  // namespace conelab
