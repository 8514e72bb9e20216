// Figure `bias`: which biases are curves, and the error of HyPE's bias when extra columns compute
// it. The formula is in bias.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pair/bias.h"

namespace conelab::figure {

/// Returns the biases with parameters that are functions of the offset alone.
[[nodiscard]] std::vector<BiasRow> bias_curves();

/// The error of HyPE's columns in one number type.
struct ColumnsError {
  const char* type;  ///< "fp16"
  /// [2n - 1] By offset, from 1 - n to n - 1: the largest difference from -tau sinh(mu (j - i)) in
  /// double, over the pairs of positions whose columns are finite. NaN if there is no such pair.
  std::vector<double> largest;
  std::int64_t positions;  ///< How many positions, from 0 on, have finite columns; at most n.
};

/// Returns the errors in bf16, fp16, fp32 and fp64 for the positions 0 to n - 1.
[[nodiscard]] std::vector<ColumnsError> columns_errors(double mu, double tau, double d,
                                                       std::int64_t n);

}  // namespace conelab::figure
