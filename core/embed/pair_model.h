// Pairs of tokens under a similarity of the engine and its map: logits and gradients in double.
//
// Training by gradients compares single pairs that are drawn, for which the engine's tiles are made
// too large. The formulas are the engine's own: the rows of core/similarity/table.h and
// core/token/model_map.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/adam.h"
#include "core/dataset/hierarchy.h"
#include "core/similarity/table.h"
#include "core/token/model_map.h"

namespace conelab {

/// Tokens with what pairs need of them.
struct PlacedTokens {
  Node count = 0;
  std::vector<double> point;         ///< [n × d] The tokens before the map.
  std::vector<double> base;          ///< [n × m] Base coordinates; see EmbeddedPoint.
  std::vector<double> value;         ///< [n × values] Numbers of the similarity.
  std::vector<EmbeddedPoint> place;  ///< [n]
};

/// dL/d(tokens) while it is summed, and then dL/d(point).
struct TokenSums {
  std::vector<double> base;          ///< [n × m]
  std::vector<double> potential;     ///< [n]
  std::vector<EmbeddedPoint> place;  ///< [n] Derivatives that are not taken by the potential.
  std::vector<double> point;         ///< [n × d] Set by PairModel::finish.
};

/// dL/d(parameters) while it is summed; PairModel::parameter_gradient finishes it.
struct ParameterSlopes {
  std::vector<double> constant;   ///< [constants] By the constants of the head.
  std::vector<double> parameter;  ///< [parameters + 1] The last one belongs to the light.
};

class PairModel {
 public:
  /// `dim` is the number of coordinates of a token. Parameters that are given are fixed; others
  /// begin with their defaults, and training may change them. Throws misuse for a similarity or key
  /// that is unknown, for one whose logit needs tensors, and if the map needs more coordinates.
  PairModel(const std::string& similarity, int dim,
            const std::map<std::string, double>& given = {});

  [[nodiscard]] int dim() const { return dim_; }
  [[nodiscard]] int base_size() const { return map_->base_size(dim_); }
  [[nodiscard]] const SimilarityRow& row() const { return *row_; }
  [[nodiscard]] const ModelMapRow& map() const { return *map_; }
  /// Returns the parameters by key.
  [[nodiscard]] std::map<std::string, double> parameters() const;
  /// Returns the values in the order of row().parameters.
  [[nodiscard]] std::vector<double> values() const;
  /// Sets all values. Tokens must be placed anew then.
  void set_values(const std::vector<double>& values);
  [[nodiscard]] bool is_fixed(std::size_t parameter) const { return fixed_[parameter]; }

  /// Sets base, value and place of all tokens from their points.
  void place(PlacedTokens& tokens) const;
  [[nodiscard]] double score(const PlacedTokens& q, Node i, const PlacedTokens& k, Node j) const;
  [[nodiscard]] PairSlope slope(const PlacedTokens& q, Node i, const PlacedTokens& k, Node j) const;
  /// Adds the gradient of a loss with dL/dlogit = `rate` for this pair. `slope` is that of the
  /// pair.
  void add(const PairSlope& slope, double rate, const PlacedTokens& q, Node i, TokenSums& dq,
           const PlacedTokens& k, Node j, TokenSums& dk, ParameterSlopes& dp) const;
  /// Adds rate d|base_i − base_j|²/d(base) (or that of the product) to both tokens.
  void add_measure(double rate, const PlacedTokens& q, Node i, TokenSums& dq, const PlacedTokens& k,
                   Node j, TokenSums& dk) const;

  [[nodiscard]] TokenSums sums(const PlacedTokens& tokens) const;
  [[nodiscard]] ParameterSlopes parameter_slopes() const;
  /// Sets dL/d(point) from the other sums, and adds what the parameters change of the places.
  void finish(const PlacedTokens& tokens, TokenSums& sums, ParameterSlopes& dp) const;
  /// Returns dL/d(parameter) [parameters], after the tokens have been finished.
  [[nodiscard]] std::vector<double> parameter_gradient(ParameterSlopes slopes) const;

  /// Returns the tokens as points [n × c] of the model `placed_model`: half-space coordinates, the
  /// Poincaré ball, the hyperboloid, or the tokens as they are.
  [[nodiscard]] std::vector<double> placed(const PlacedTokens& tokens) const;
  [[nodiscard]] const char* placed_model() const;

 private:
  const SimilarityRow* row_ = nullptr;
  const ModelMapRow* map_ = nullptr;
  int dim_ = 0;
  std::vector<double> values_;  ///< [parameters + shared], as token_parameters returns them.
  std::vector<double> map_values_, constants_;
  std::vector<bool> fixed_;  ///< [parameters]
  ModelMapContext context_{};

  [[nodiscard]] double measure(const double* a, const double* b) const;
};

/// Steps of Adam for those parameters of a model that are not fixed. Positive ones are changed
/// through their logarithm and stay in 1e-9 .. 1e9, as does the first one, which is the factor of
/// the logit. The others take a tenth of the rate.
class ParameterDescent {
 public:
  /// `gradient` is dL/d(parameter) [parameters].
  void step(PairModel& model, const std::vector<double>& gradient, double rate);
  template <class Take>
  void visit(Take&& take) {
    steps_.visit(take);
  }

 private:
  Adam steps_;
};

/// Rounds the trained parameters to four digits, by which titles and commands name them as well.
void round_parameters(PairModel& model);

}  // namespace conelab
