// Trains tokens by gradients so that each finds its ancestors, or its cone holds its descendants.
//
// The loss of attention is the cross entropy of a node's ancestors and itself, each with equal
// share, among these and other nodes that are drawn anew in each epoch:
//   L_i = −1/|P| Σ_{p in P} log( e^{l_ip} / Σ_{j in P and drawn} w_j e^{l_ij} ),
// w_j = 1, or for drawn nodes the number of others for each drawn one, so that the sum estimates
// that of all keys. If none are to be drawn, the sum is over all keys (ancestor_loss.h). The
// optimiser is Adam (Kingma, Ba 2015) with a rate that falls linearly to a tenth. The parameters of
// the similarity that are not given are trained as well, and rounded to four digits at the end.
// Results depend on the seed, not on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/embed/pair_model.h"
#include "core/geometry/cone_family.h"

namespace conelab {

struct DescentOptions {
  std::int64_t epochs = 1000;
  double rate = 0.05;
  std::int64_t negatives = 50;  ///< Others that are drawn for each node; 0: all keys.
  std::uint64_t seed = 1;
  /// Receives the fraction done; it may throw.
  std::function<void(double)> progress = {};
};

/// The spread of the points that training begins with.
constexpr double first_spread = 0.1;
/// Returns tokens drawn from N(0, 0.1²), not placed yet.
[[nodiscard]] PlacedTokens drawn_points(Node count, int dim, std::uint64_t seed);

/// Trains tokens, which are both queries and keys, on `targets` [n], the nodes that each node
/// should find besides itself. Returns the mean loss of the last epoch. Throws a failure if the
/// loss is not finite.
double train_attention(PairModel& model, PlacedTokens& tokens, const NodeLists& targets,
                       const DescentOptions& options);

/// The order of tokens by their cones: v is an ancestor of u if and only if base(u, v) <= p(v) −
/// p(u), with the radius p of a token's shadow (core/geometry/cone_family.h).
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

/// Trains tokens so that u lies in the cone of v exactly for these pairs (u, v): the hinge of
/// energy E = base(u, v) − (s(u) − s(v)) above −margin for pairs, and below margin for pairs with
/// one node drawn anew that are not in `closure`. Returns the mean loss.
double train_order(PairModel& model, PlacedTokens& tokens, ConeOrder& order,
                   const std::vector<std::array<Node, 2>>& pairs, const NodeLists& closure,
                   const DescentOptions& options);

}  // namespace conelab
