// The similarities as a table at run time, for code outside the kernels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// The logit of one pair and its derivatives in float64. The array has room for the constants of
/// every similarity; a similarity fills its own number of them.
using PairSlope = Slope<double, max_constants>;

struct SimilarityRow {
  SimilarityInfo info;
  std::span<const ParameterInfo> parameters;
  int values;        ///< Numbers per token that `token` computes.
  int constants;     ///< Numbers per head that `constant` computes.
  bool token_slope;  ///< Whether the logit has derivatives with respect to the tokens' potentials.
  /// Returns the logit of one pair in float64. x is the measure of the pair (`Measure`), q and k
  /// [values] are the values of the tokens, c [constants] the constants of the head.
  double (*score)(double x, const double* q, const double* k, const double* c);
  /// Returns the same logit with its partial derivatives.
  PairSlope (*slope)(double x, const double* q, const double* k, const double* c);
  /// Returns, for tokens in a ball, the radius rho_0 of the source or object that the parameters p
  /// define; tokens must lie outside it. Null for the other spaces.
  double (*light)(const double* p);
  /// `constant` computes the constants of a head from its parameters. `constant_gradient` adds to
  /// dp, dL/d(parameters), what follows from dc, dL/d(constants). On entry, the element of dp
  /// behind the parameters holds dL/d(rho_0).
  void (*constant)(const double* p, double* c);
  void (*constant_gradient)(const double* p, const double* dc, double* dp);
  /// Computes the `shared` numbers that all tokens of a head use, from the parameters. Null if
  /// there are none.
  void (*share)(const double* p, double* shared);
  int shared;  ///< How many numbers `share` computes.
  /// `token` computes the values of a token from its place and the result of `token_parameters`.
  /// `token_gradient` adds to dL/d(place) and dL/d(parameters) what follows from `slope`, which is
  /// dL/d(potential).
  void (*token)(const EmbeddedPoint& place, const double* p, double* value);
  void (*token_gradient)(const EmbeddedPoint& place, const double* p, double slope,
                         EmbeddedPoint& gradient, double* dp);
};

/// Returns the rows in the order of `Similarities`. Kernels are indexed in the same order.
[[nodiscard]] std::span<const SimilarityRow> similarity_table();

/// Returns the parameters of a head followed by the numbers that its tokens share.
[[nodiscard]] std::vector<double> token_parameters(const SimilarityRow& row,
                                                   std::vector<double> parameters);

/// Returns the first row with this name that serves these values of its choices, for instance
/// "reference" of `convention`. Returns null if there is no such row.
[[nodiscard]] const SimilarityRow* find_similarity(const std::string& name,
                                                   const std::vector<std::string>& words = {});

}  // namespace conelab
