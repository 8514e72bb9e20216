// Whether two result files state the same numbers.
#pragma once

#include <string>

#include "core/files/sandbox.h"

namespace conelab {

/// Compares all data sets and numeric attributes of two result files of HDF5, but for their
/// environments and the times that they state (names with `seconds`). Returns an empty text if they
/// are equal, else what differs most, such as "/attention/output/output differs by 0.02 of its
/// largest number".
///
/// Results of one program and processor are to be equal to the bit. Otherwise numbers may differ by
/// 1e-4 of the largest of their data set, because sums are rounded in another order.
[[nodiscard]] std::string results_difference(const std::string& first, const std::string& second,
                                             const SandboxLimits& limits = {});

/// Returns whether a job that was run again states the same measure: to 1e-4 of it, since its
/// numbers are compared by `results_difference`. Times (names with `seconds`) always are.
[[nodiscard]] bool same_measure(const std::string& name, double first, double second);

}  // namespace conelab
