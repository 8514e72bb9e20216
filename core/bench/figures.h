// Figures `scaling`, `ratio` and `roofline` from the cases of a benchmark: of a result file, or of
// a sweep that still runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bench/measured.h"
#include "core/figure/roofline.h"
#include "core/figure/scaling.h"

namespace conelab {

/// What a figure draws: operators at one choice of all other labels.
struct BenchSelection {
  std::vector<std::string> operators;
  Case place;  ///< Its operator and seq_len say nothing.
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;
};

/// Keeps the cases that `keys` choose. `keys` are those of the figures: operators ("A,B"), pass,
/// device, dtype, threads, dim, head; absent or empty: all operators, and of the other labels the
/// first that the cases have. Throws misuse where the cases have no such value.
[[nodiscard]] BenchSelection select_cases(std::vector<MeasuredCase> cases,
                                          std::vector<MeasuredExponent> exponents,
                                          const std::map<std::string, std::string>& keys);

/// Different values of one label of the cases ("operator", "dim", see case_axes.h), in their order.
[[nodiscard]] std::vector<std::string> label_values(const std::vector<MeasuredCase>& cases,
                                                    const std::string& label);

/// Times, fits, and ratios to the first operator, the latter round by round: the machine's drift is
/// in both and cancels. Cases without a time are NaN, which the figure leaves out.
[[nodiscard]] figure::ScalingFigure scaling_figure(const BenchSelection& selection);

/// The longest measured sequence of each operator, at its `intensity`, under the multiply-add peak
/// and the bandwidth of memory that were measured in the same run; a peak that a kernel exceeds is
/// drawn as no roof, and the caption says so.
[[nodiscard]] figure::RooflineFigure roofline_figure(const BenchSelection& selection);
/// Which cases those are, [operator]; null where an operator has no time.
[[nodiscard]] std::vector<const MeasuredCase*> roofline_cases(const BenchSelection& selection);

}  // namespace conelab
