// Which biases are curves, and what HyPE loses where its bias is computed through extra columns;
// see bias.cpp for the formula.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pair/bias.h"

namespace conelab::figure {

/// The biases that are functions of the offset and of numbers that the figure can make up.
[[nodiscard]] std::vector<BiasRow> bias_curves();

/// The error of HyPE's columns in one type.
struct ColumnsError {
  const char* type;  ///< "fp16"
  /// [2n - 1] By offset, from 1 - n to n - 1: the largest error over the pairs of positions whose
  /// columns are finite, against -tau sinh(mu (j - i)) in double. NaN where there is no such pair.
  std::vector<double> largest;
  std::int64_t positions;  ///< How many positions, from 0 on, have finite columns; at most n.
};

/// The errors in bf16, fp16, fp32 and fp64 of positions 0 to n - 1.
[[nodiscard]] std::vector<ColumnsError> columns_errors(double mu, double tau, double d,
                                                       std::int64_t n);

}  // namespace conelab::figure
