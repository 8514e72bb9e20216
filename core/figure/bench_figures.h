// Figures `scaling`, `ratio` and `roofline` from the cases of a benchmark: of a result file, or of
// a sweep that still runs.
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

/// What a figure draws: operators at all lengths, at one label of every other axis.
struct BenchSelection {
  std::vector<std::string> operators;
  Case fixed;  ///< The labels that all cases share; its operator and length say nothing.
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;
};

/// Keeps the cases that `keys` choose. `keys` are those of the figures: operators ("A,B") and the
/// names of `fixed_axes()`; absent or empty: all operators, and of the other axes the first label
/// that the cases have. Throws misuse where the cases have no such label.
[[nodiscard]] BenchSelection select_cases(std::vector<MeasuredCase> cases,
                                          std::vector<MeasuredExponent> exponents,
                                          const std::map<std::string, std::string>& keys);

/// The cases of a figure's input that its keys choose. A default that the file has no case of is
/// replaced by a label that it has.
[[nodiscard]] BenchSelection selected_cases(const figure::FigureInput& input);

/// Times and fits of the operators, named by their titles; the caption says what they share. Cases
/// without a time are NaN, which the figure leaves out.
[[nodiscard]] figure::ScalingFigure times_figure(const BenchSelection& selection);

/// The same with ratios to the first operator, round by round: the machine's drift is in both and
/// cancels.
[[nodiscard]] figure::ScalingFigure scaling_figure(const BenchSelection& selection);

/// The longest measured sequence of each operator, at its `intensity`, under the multiply-add peak
/// and the bandwidth of memory that were measured in the same run; a peak that a kernel exceeds is
/// drawn as no roof, and the caption says so.
[[nodiscard]] figure::RooflineFigure roofline_figure(const BenchSelection& selection);
/// Which cases those are, [operator]; null where an operator has no time.
[[nodiscard]] std::vector<const MeasuredCase*> roofline_cases(const BenchSelection& selection);

}  // namespace conelab
