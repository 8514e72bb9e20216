// Says where a result comes from: program, compiler and machine. Every file that the program writes
// stores this, so that its numbers can be judged later.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace conelab {

using EnvironmentValue = std::variant<std::string, double>;

/// Returns pairs of name and value in a fixed order: version, git_hash, compiler, compiler_flags,
/// cpu, simd, cores, memory_bytes, system. A value that cannot be read is left out. `simd` names
/// the SIMD targets in use (simd_summary of core/simd/kernels.h).
[[nodiscard]] std::vector<std::pair<std::string, EnvironmentValue>> environment(
    const std::string& simd);

/// Returns the first 16 hexadecimal digits of the SHA-256 of the running program. They distinguish
/// builds of the same version and commit. Returns "unknown" if the system does not give access to
/// the program's file.
[[nodiscard]] std::string program_digest();

/// Returns the version of the project, such as "0.1.0".
[[nodiscard]] std::string version();

/// Returns "conelab" and the version, such as "conelab 0.1.0".
[[nodiscard]] std::string program_version();

/// Quantities that drift during a run: load average over 1 minute, clock of the first core [Hz],
/// temperature [degrees Celsius]. NaN if the machine does not report one.
struct MachineState {
  double load = 0, clock = 0, temperature = 0;
};
[[nodiscard]] MachineState machine_state();

/// Returns how many bytes of memory are available now, or 0 if this is unknown.
[[nodiscard]] double available_memory();

}  // namespace conelab
