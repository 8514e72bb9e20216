// Figures `scaling`, `ratio` and `roofline`, made from the cases of a benchmark: those of a result
// file, or of a sweep that is still running.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bench/measured.h"
#include "core/figure/roofline.h"
#include "core/figure/scaling.h"

namespace conelab::figure {
struct FigureInput;
}

namespace conelab {

/// Holds what a figure draws: operators at all lengths, with one label on every other axis.
struct BenchSelection {
  std::vector<std::string> operators;
  Case fixed;  ///< The labels that all cases share. Its operator and its length have no meaning.
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;
};

/// Returns the cases that `keys` select. `keys` are those of the figures: operators ("A,B") and the
/// names of `fixed_axes()`. A key that is absent or empty selects all operators, or the first label
/// that the cases have on the axis. Throws misuse if no case has a label.
[[nodiscard]] BenchSelection select_cases(std::vector<MeasuredCase> cases,
                                          std::vector<MeasuredExponent> exponents,
                                          const std::map<std::string, std::string>& keys);

/// Returns the cases of a figure's input that its keys select. If no case has a key's default
/// label, the first label that the cases have is used.
[[nodiscard]] BenchSelection selected_cases(const figure::FigureInput& input);

/// Returns the times and fits of the operators, named by their titles. The caption contains the
/// labels that they share. Cases without a time are NaN, which the figure leaves out.
[[nodiscard]] figure::ScalingFigure times_figure(const BenchSelection& selection);

/// Returns the same with ratios to the first operator, computed round by round, so that the
/// machine's drift cancels.
[[nodiscard]] figure::ScalingFigure scaling_figure(const BenchSelection& selection);

/// Returns the longest measured sequence of each operator at its `intensity`, with the multiply-add
/// peak and the bandwidth of memory that were measured in the same run. If a kernel exceeds the
/// peak, the peak is not drawn as a roof, and the caption says so.
[[nodiscard]] figure::RooflineFigure roofline_figure(const BenchSelection& selection);
/// Returns these cases, [operator]; null if an operator has no time.
[[nodiscard]] std::vector<const MeasuredCase*> roofline_cases(const BenchSelection& selection);

}  // namespace conelab
