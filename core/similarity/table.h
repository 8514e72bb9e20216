// The similarities as a run-time table: what the host-side driver needs of each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Of one pair in float64, with as many constants as the similarity has.
using PairSlope = Slope<double, max_constants>;

struct SimilarityRow {
  SimilarityInfo info;
  std::span<const ParameterInfo> parameters;
  int values;        ///< Numbers per token.
  int constants;     ///< Numbers per head.
  bool token_slope;  ///< Whether slopes with respect to the tokens' potentials exist.
  /// The logit of one pair in float64 from its measure, tokens and constants: see similarity.h.
  double (*score)(double x, const double* q, const double* k, const double* c);
  /// The same with its partial derivatives.
  PairSlope (*slope)(double x, const double* q, const double* k, const double* c);
  /// Where tokens live in a ball: parameters -> rho_0, the radius that they must lie beyond. Null
  /// elsewhere.
  double (*light)(const double* p);
  /// parameters -> constants, and dL/dconstants -> added to dL/dparameters, whose next entry holds
  /// dL/dlight.
  void (*constant)(const double* p, double* c);
  void (*constant_gradient)(const double* p, const double* dc, double* dp);
  /// parameters -> what tokens share of them; null where that is nothing.
  void (*share)(const double* p, double* shared);
  int shared;  ///< Numbers of it.
  /// place, parameters (`token_parameters` for `token`) -> values, and dL/dpotential -> added to
  /// dL/dplace and dL/dparameters.
  void (*token)(const Place& place, const double* p, double* value);
  void (*token_gradient)(const Place& place, const double* p, double slope, Place& gradient,
                         double* dp);
};

/// In the order of `Similarities`; kernels are indexed alike.
[[nodiscard]] std::span<const SimilarityRow> similarity_table();

/// A head's parameters followed by what its tokens share.
[[nodiscard]] std::vector<double> token_parameters(const SimilarityRow& row,
                                                   std::vector<double> parameters);

/// The row that serves `name` with this word for its choice (empty: the first row of that name).
/// Null where there is none.
[[nodiscard]] const SimilarityRow* find_similarity(const std::string& name,
                                                   const std::string& choice);

}  // namespace conelab
