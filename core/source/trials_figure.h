// Figure `trials`: how good the best of k trials is to be expected, for every k up to the number of
// trials that a search made (core/jobs/tune.h). A curve that still rises says that more search
// could change the order.
#pragma once

#include <string>
#include <vector>

namespace conelab {

/// The trials of one operator as a figure shows them.
struct TrialValues {
  std::string name, by;
  bool less_is_better = false;
  std::vector<double> value;  ///< [trial]

  bool operator==(const TrialValues&) const = default;
};

/// Returns the expected best of k values that are drawn from these without repetition, for k = 1
/// ... N: the sum over the sorted values v_i of C(i - 1, k - 1) / C(N, k) v_i (Dodge et al. 2019,
/// Show Your Work, without its repetition). NaN counts as the worst of the others.
[[nodiscard]] std::vector<double> expected_best(std::vector<double> values, bool less_is_better);

}  // namespace conelab
