#include "core/embed/token_source.h"

#include <cmath>

#include "core/base/random.h"
#include "core/embed/descent.h"

namespace conelab {

Features rows_of(const Features& features, std::span<const Node> nodes) {
  Features some{{}, features.columns};
  for (const Node i : nodes) {
    some.value.insert(some.value.end(), features.row(i), features.row(i) + features.columns);
  }
  return some;
}

Features scaled_features(Features features, std::span<const Node> seen) {
  const auto n = static_cast<double>(seen.size());
  for (std::int64_t c = 0; c < features.columns; ++c) {
    double mean = 0, square = 0;
    for (const Node i : seen) mean += features.row(i)[c] / n;
    for (const Node i : seen) square += std::pow(features.row(i)[c] - mean, 2) / n;
    // The variance of equal numbers is rounding.
    const bool constant = square <= 1e-24 * mean * mean;
    for (Node i = 0; i < features.count(); ++i) {
      double& x = features.value[static_cast<std::size_t>(i * features.columns + c)];
      x = constant ? 0 : (x - mean) / std::sqrt(square);
    }
  }
  return features;
}

TokenSource::TokenSource(TokenKind kind, Node count, int dim, std::int64_t hidden,
                         const Features& features, std::uint64_t seed)
    : kind_(kind) {
  if (kind == TokenKind::own) {
    weight_ = drawn_points(count, dim, seed).point;
    return;
  }
  Random random(seed);
  const bool two = kind == TokenKind::layers;
  if (two) add_layer(hidden, features.columns, 1, random);
  add_layer(dim, two ? hidden : features.columns, first_spread, random);
}

void TokenSource::add_layer(std::int64_t rows, std::int64_t columns, double spread,
                            Random& random) {
  layers_.push_back({weight_.size(), rows, columns});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      weight_.push_back(spread * random.normal() / std::sqrt(static_cast<double>(columns)));
    }
    weight_.push_back(0);
  }
}

std::vector<double> TokenSource::apply(const Layer& layer, const double* x, Node count) const {
  std::vector<double> out(static_cast<std::size_t>(count * layer.rows));
  for (Node i = 0; i < count; ++i, x += layer.columns) {
    const double* w = weight_.data() + layer.first;
    for (std::int64_t r = 0; r < layer.rows; ++r, w += layer.columns + 1) {
      double sum = w[layer.columns];
      for (std::int64_t c = 0; c < layer.columns; ++c) sum += w[c] * x[c];
      out[static_cast<std::size_t>(i * layer.rows + r)] = sum;
    }
  }
  return out;
}

std::vector<double> TokenSource::apply_back(const Layer& layer, const double* x, const double* up,
                                            Node count, std::vector<double>& by_weight) const {
  std::vector<double> dx(static_cast<std::size_t>(count * layer.columns));
  double* out = dx.data();
  for (Node i = 0; i < count; ++i, x += layer.columns, out += layer.columns) {
    const double* w = weight_.data() + layer.first;
    double* dw = by_weight.data() + layer.first;
    for (std::int64_t r = 0; r < layer.rows; ++r, ++up) {
      for (std::int64_t c = 0; c < layer.columns; ++c) {
        dw[c] += *up * x[c];
        out[c] += *up * w[c];
      }
      dw[layer.columns] += *up;
      w += layer.columns + 1, dw += layer.columns + 1;
    }
  }
  return dx;
}

std::vector<double> TokenSource::inner(const Features& features) const {
  std::vector<double> hidden = apply(layers_.front(), features.value.data(), features.count());
  for (double& x : hidden) x = std::tanh(x);
  return hidden;
}

std::vector<double> TokenSource::points(const Features& features) const {
  if (kind_ == TokenKind::own) return weight_;
  if (kind_ == TokenKind::linear) {
    return apply(layers_.front(), features.value.data(), features.count());
  }
  return apply(layers_.back(), inner(features).data(), features.count());
}

void TokenSource::step(const Features& features, const std::vector<double>& by_point, double rate) {
  if (kind_ == TokenKind::own) return steps_.step(weight_, by_point, rate);
  std::vector<double> by_weight(weight_.size());
  const Node n = features.count();
  if (kind_ == TokenKind::linear) {
    (void)apply_back(layers_.front(), features.value.data(), by_point.data(), n, by_weight);
  } else {
    const std::vector<double> hidden = inner(features);
    std::vector<double> up =
        apply_back(layers_.back(), hidden.data(), by_point.data(), n, by_weight);
    for (std::size_t c = 0; c < up.size(); ++c) up[c] *= 1 - hidden[c] * hidden[c];
    (void)apply_back(layers_.front(), features.value.data(), up.data(), n, by_weight);
  }
  steps_.step(weight_, by_weight, rate);
}

}  // namespace conelab
