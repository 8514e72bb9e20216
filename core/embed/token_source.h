// Where the points of tokens come from: each token has numbers of its own, or a map of the features
// f of its node, the same for all nodes, gives them.
//
//   own      x_i = p_i
//   linear   x_i = W f_i + b
//   layers   x_i = W tanh(U f_i + c) + b
//
// A map gives points to nodes that were not trained, too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/adam.h"
#include "core/dataset/hierarchy.h"

namespace conelab {

enum class TokenKind { own, linear, layers };

/// Features of nodes, [n × columns], row-major.
struct Features {
  std::vector<double> value;
  std::int64_t columns = 0;

  [[nodiscard]] Node count() const {
    return columns == 0 ? 0 : static_cast<Node>(value.size()) / columns;
  }
  [[nodiscard]] const double* row(Node i) const { return value.data() + i * columns; }
};

/// Returns the features with the mean 0 and the variance 1 in each column over the nodes `seen`; a
/// column that is constant there becomes 0.
[[nodiscard]] Features scaled_features(Features features, std::span<const Node> seen);
/// Returns the rows of some nodes.
[[nodiscard]] Features rows_of(const Features& features, std::span<const Node> nodes);

class TokenSource {
 public:
  /// `features` are those of the nodes that are trained, and not read for `own`; `hidden` is the
  /// number of rows of U. Numbers are drawn so that points are about N(0, 0.1²).
  TokenSource(TokenKind kind, Node count, int dim, std::int64_t hidden, const Features& features,
              std::uint64_t seed);

  /// Returns the points [n × d] of nodes with these features; for `own`, those of its tokens.
  [[nodiscard]] std::vector<double> points(const Features& features) const;
  /// Makes one step of Adam, given dL/d(point) [n × d] for the nodes with these features.
  void step(const Features& features, const std::vector<double>& by_point, double rate);
  /// Passes the numbers that later steps depend on, as Adam does.
  template <class Take>
  void visit(Take&& take) {
    take(weight_), steps_.visit(take);
  }

 private:
  /// One map: rows × (columns + 1) numbers of `weight_`, of which the last one of a row is its
  /// offset.
  struct Layer {
    std::size_t first;
    std::int64_t rows, columns;
  };
  TokenKind kind_;
  std::vector<Layer> layers_;
  std::vector<double> weight_;  ///< The points, or the numbers of the layers.
  Adam steps_;

  void add_layer(std::int64_t rows, std::int64_t columns, double spread, class Random& random);
  [[nodiscard]] std::vector<double> apply(const Layer& layer, const double* x, Node count) const;
  /// Adds dL/d(weight) and returns dL/dx [n × columns].
  std::vector<double> apply_back(const Layer& layer, const double* x, const double* up, Node count,
                                 std::vector<double>& by_weight) const;
  /// Returns tanh of the first of two layers.
  [[nodiscard]] std::vector<double> inner(const Features& features) const;
};

}  // namespace conelab
