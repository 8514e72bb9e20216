// The order of tokens by their cones: v is an ancestor of u if and only if base(u, v) <= p(v) −
// p(u), with the radius p of a token's shadow (core/geometry/cone_family.h).
#pragma once

#include <optional>

#include "core/embed/pair_model.h"
#include "core/geometry/cone_family.h"

namespace conelab {

class ConeOrder {
 public:
  /// Returns the order of the model's cone family, or nothing if its similarity is no cone's.
  [[nodiscard]] static std::optional<ConeOrder> of(const PairModel& model);

  /// Returns the energy base(u, v) − (p(v) − p(u)), at most 0 if v is an ancestor of u.
  [[nodiscard]] double energy(const PairModel& model, const PlacedTokens& tokens, Node u,
                              Node v) const;
  /// Adds the gradient of `rate` times the energy.
  void add(const PairModel& model, const PlacedTokens& tokens, Node u, Node v, double rate,
           TokenSums& sums, ParameterSlopes& dp) const;
  /// Takes the values of the model's parameters, after they have changed.
  void follow(const PairModel& model);

 private:
  const geometry::ConeFamily* family_ = nullptr;
  geometry::Values values_;
  std::vector<std::size_t> index_;  ///< Of each of them among the model's parameters.

  [[nodiscard]] double shadow(double radial) const { return family_->shadow(values_, radial); }
};

}  // namespace conelab
