// Pairs of tokens under a similarity of the engine and its map: logits and gradients in double.
//
// Training by gradients compares single pairs that are drawn, for which the engine's tiles are made
// too large. The formulas are the engine's own: the rows of core/similarity/table.h and
// core/token/model_map.h.
#pragma once

#include <map>
#include <string>
#include <vector>

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

class PairModel {
 public:
  /// `dim` is the number of coordinates of a token. Parameters that are not given have their
  /// defaults. Throws misuse for a similarity or key that is unknown, for one whose logit needs
  /// tensors, and if the map needs more coordinates.
  PairModel(const std::string& similarity, int dim,
            const std::map<std::string, double>& given = {});

  [[nodiscard]] int dim() const { return dim_; }
  [[nodiscard]] int base_size() const { return map_->base_size(dim_); }
  [[nodiscard]] const SimilarityRow& row() const { return *row_; }
  [[nodiscard]] const ModelMapRow& map() const { return *map_; }
  /// Returns the parameters by key.
  [[nodiscard]] std::map<std::string, double> parameters() const;
  /// Returns the factor of the logit (gamma, beta or scale), which training changes.
  [[nodiscard]] double factor() const { return values_.front(); }
  void set_factor(double factor);

  /// Sets base, value and place of all tokens from their points.
  void place(PlacedTokens& tokens) const;
  [[nodiscard]] double score(const PlacedTokens& q, Node i, const PlacedTokens& k, Node j) const;
  [[nodiscard]] PairSlope slope(const PlacedTokens& q, Node i, const PlacedTokens& k, Node j) const;
  /// Adds the gradient of a loss with dL/dlogit = `rate` for this pair. `slope` is that of the
  /// pair.
  void add(const PairSlope& slope, double rate, const PlacedTokens& q, Node i, TokenSums& dq,
           const PlacedTokens& k, Node j, TokenSums& dk, double& by_factor) const;
  /// Adds rate d|base_i − base_j|²/d(base) (or that of the product) to both tokens.
  void add_measure(double rate, const PlacedTokens& q, Node i, TokenSums& dq, const PlacedTokens& k,
                   Node j, TokenSums& dk) const;

  [[nodiscard]] TokenSums sums(const PlacedTokens& tokens) const;
  /// Sets dL/d(point) from the other sums.
  void finish(const PlacedTokens& tokens, TokenSums& sums) const;

  /// Returns the tokens as points [n × c] of the model `placed_model`: half-space coordinates, the
  /// Poincaré ball, the hyperboloid, or the tokens as they are.
  [[nodiscard]] std::vector<double> placed(const PlacedTokens& tokens) const;
  [[nodiscard]] const char* placed_model() const;

 private:
  const SimilarityRow* row_ = nullptr;
  const ModelMapRow* map_ = nullptr;
  int dim_ = 0;
  std::vector<double> values_, map_values_, constants_;
  ModelMapContext context_{};

  [[nodiscard]] double measure(const double* a, const double* b) const;
};

}  // namespace conelab
