// The smallest dimension in which a similarity fits a sign matrix.
//
// Queries q and keys k [n × d] fit S with margin α if there are a > 0 and b such that
// P_ij = a logit(q_i, k_j) + b has 1 ≤ P_ij S_ij ≤ α for all pairs. The best a and b follow from
// the logits: with the gap between the least logit of a positive pair and the largest of a negative
// one, the least α is 1 + 2 (the larger range of logits of equal sign) / gap.
//
// Tokens are searched by descent: Adam on the squared excess over the margins, with the engine's
// own gradients in float64, from several random starts. Finding tokens proves that the dimension
// suffices; finding none proves nothing, and the result says how much was tried.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/call/call.h"
#include "core/rank/sign_matrix.h"

namespace conelab::rank {

/// Margins count as reached within this.
inline constexpr double margin_tolerance = 1e-3;

struct FitSettings {
  std::vector<double> alphas;      ///< Ascending.
  std::vector<std::int64_t> dims;  ///< Ascending.
  int starts = 4;
  int steps = 1500;  ///< Of each start.
  std::uint64_t seed = 1;
  double seconds = 600;                  ///< The search ends after this time.
  std::function<bool()> cancelled = {};  ///< If it returns true, interrupted is thrown.
};

/// Holds what was found for one similarity and margin.
struct Fit {
  std::string similarity;
  double alpha = 1;
  std::optional<std::int64_t> dim;  ///< The smallest that fits; absent: none did.
  int starts = 0;  ///< Starts in that dimension, or in the last one that was searched.
  int agreed = 0;  ///< How many of them fit.
  /// The largest dimension in which all starts were made; 0: none. If it is below the largest that
  /// was asked for and nothing fits, the time ended the search.
  std::int64_t searched = 0;
};

/// Returns the least α with which logits fit signs, for pairs in any order; infinite if no positive
/// pair lies above all negative ones. Pairs with sign 0 do not count.
[[nodiscard]] double least_margin(const Eigen::ArrayXd& signs, const Eigen::ArrayXd& logits);

/// Searches the smallest dimension for each margin, for the similarity of a call. A margin is
/// searched only in dimensions in which all larger ones have been reached, since tokens that fit it
/// fit those too. Throws as `resolve` does for a call that lacks a tensor.
[[nodiscard]] std::vector<Fit> fit_dimensions(const Matrix& signs, const Call& call,
                                              const FitSettings& settings);

}  // namespace conelab::rank
