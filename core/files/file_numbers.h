// The numbers that a result file states of itself as attributes, and its seal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/files/sandbox.h"
#include "core/files/seal.h"

namespace conelab {

/// FileNumbers holds what a sealed result file states of itself: its digest and its numbers.
struct FileNumbers {
  hdf5::Seal seal = hdf5::Seal::none;
  std::string digest;  ///< As the seal states it, in hexadecimal digits; empty without a seal.
  /// The attributes of the root and of its groups that are numbers. Of equal names the first
  /// counts.
  std::vector<std::pair<std::string, double>> numbers;
};

/// Reads a file of HDF5 in a child process and compares its bytes with its seal. Throws a failure
/// `FILE: why` if it cannot be read.
[[nodiscard]] FileNumbers read_file_numbers(const std::string& path,
                                            const SandboxLimits& limits = {});

}  // namespace conelab
