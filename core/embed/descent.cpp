#include "core/embed/descent.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/adam.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/embed/ancestor_loss.h"

namespace conelab {
namespace {

constexpr double order_margin = 0.05;

void report(const DescentOptions& options, std::int64_t epoch, double loss) {
  if (!std::isfinite(loss)) fail("training: the loss is not finite in epoch {}", epoch + 1);
  if (options.progress) {
    options.progress(static_cast<double>(epoch + 1) / static_cast<double>(options.epochs));
  }
}

/// One epoch of train_attention with nodes that are drawn.
class DrawnEpoch {
 public:
  DrawnEpoch(const PairModel& model, const NodeLists& targets, const DescentOptions& options,
             Random& random)
      : model_(model), targets_(targets), options_(options), random_(random) {}

  double run(const PlacedTokens& tokens, TokenSums& sums, ParameterSlopes& slopes) {
    double loss = 0;
    for (Node i = 0; i < tokens.count; ++i) {
      draw(i, tokens.count);
      double largest = -INFINITY, sum = 0, wanted = 0;
      slopes_.clear();
      for (std::size_t c = 0; c < keys_.size(); ++c) {
        slopes_.push_back(model_.slope(tokens, i, tokens, keys_[c]));
        largest = std::max(largest, slopes_[c].logit);
      }
      const double share = 1 / static_cast<double>(positives_);
      for (std::size_t c = 0; c < keys_.size(); ++c) {
        sum += std::exp(slopes_[c].logit - largest);
        if (c < positives_) wanted += share * slopes_[c].logit;
      }
      loss += largest + std::log(sum) - wanted;
      for (std::size_t c = 0; c < keys_.size(); ++c) {
        const double rate =
            std::exp(slopes_[c].logit - largest) / sum - (c < positives_ ? share : 0);
        model_.add(slopes_[c], rate / static_cast<double>(tokens.count), tokens, i, sums, tokens,
                   keys_[c], sums, slopes);
      }
    }
    return loss / static_cast<double>(tokens.count);
  }

 private:
  const PairModel& model_;
  const NodeLists& targets_;
  const DescentOptions& options_;
  Random& random_;
  std::vector<Node> keys_;
  std::vector<PairSlope> slopes_;
  std::size_t positives_ = 0;

  /// Sets the keys of a node: its targets, itself, and others that are drawn.
  void draw(Node i, Node count) {
    const std::vector<Node>& own = targets_[static_cast<std::size_t>(i)];
    keys_ = own;
    keys_.push_back(i);
    positives_ = keys_.size();
    const Node others = count - static_cast<Node>(positives_);
    for (std::int64_t c = 0; c < options_.negatives && others > 0;) {
      const auto j = static_cast<Node>(random_.below(static_cast<std::uint64_t>(count)));
      if (j == i || std::binary_search(own.begin(), own.end(), j)) continue;
      keys_.push_back(j);
      ++c;
    }
  }
};

}  // namespace

PlacedTokens drawn_points(Node count, int dim, std::uint64_t seed) {
  Random random(seed);
  PlacedTokens tokens;
  tokens.count = count;
  tokens.point.resize(static_cast<std::size_t>(count * dim));
  for (double& x : tokens.point) x = first_spread * random.normal();
  return tokens;
}

double train_attention(PairModel& model, PlacedTokens& tokens, const NodeLists& targets,
                       const DescentOptions& options) {
  Random random(options.seed);
  Adam steps;
  ParameterDescent parameter_steps;
  DrawnEpoch drawn(model, targets, options, random);
  AncestorLoss found;
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    if (options.negatives == 0) {
      found = ancestor_loss(model, tokens, tokens, targets, {});
      std::ranges::transform(found.query, found.key, found.query.begin(), std::plus());
    } else {
      model.place(tokens);
      TokenSums sums = model.sums(tokens);
      ParameterSlopes slopes = model.parameter_slopes();
      found.loss = drawn.run(tokens, sums, slopes);
      model.finish(tokens, sums, slopes);
      found.query = std::move(sums.point);
      found.parameter = model.parameter_gradient(std::move(slopes));
    }
    report(options, epoch, found.loss);
    const double rate = falling_rate(options.rate, epoch, options.epochs);
    steps.step(tokens.point, found.query, rate);
    parameter_steps.step(model, found.parameter, rate);
  }
  round_parameters(model);
  model.place(tokens);
  return found.loss;
}

namespace {

/// Returns |a − b|² of the base coordinates of two tokens.
double squared_base(const PairModel& model, const PlacedTokens& tokens, Node u, Node v) {
  const int m = model.base_size();
  double sum = 0;
  for (int c = 0; c < m; ++c) {
    const double d = tokens.base[static_cast<std::size_t>(u * m + c)] -
                     tokens.base[static_cast<std::size_t>(v * m + c)];
    sum += d * d;
  }
  return sum;
}

}  // namespace

std::optional<ConeOrder> ConeOrder::of(const PairModel& model) {
  ConeOrder order;
  order.family_ = geometry::find_cone_family(model.row().info.name);
  if (order.family_ == nullptr) return std::nullopt;
  std::vector<std::string> keys;
  for (const ParameterInfo& info : model.row().parameters) keys.emplace_back(info.key);
  for (const ParameterInfo& info : order.family_->parameters) {
    order.index_.push_back(index_of_name("parameter", info.key, keys));
  }
  order.follow(model);
  return order;
}

void ConeOrder::follow(const PairModel& model) {
  const std::vector<double> values = model.values();
  values_.clear();
  for (const std::size_t i : index_) values_.push_back(values[i]);
}

// On the sphere the base distance is an angle: 2 asin(|a − b| / 2).
double ConeOrder::energy(const PairModel& model, const PlacedTokens& tokens, Node u, Node v) const {
  const double chord = std::sqrt(squared_base(model, tokens, u, v));
  const double base =
      family_->base == geometry::Base::plane ? chord : 2 * std::asin(std::min(1.0, chord / 2));
  return base - (shadow(tokens.place[static_cast<std::size_t>(v)].height) -
                 shadow(tokens.place[static_cast<std::size_t>(u)].height));
}

void ConeOrder::add(const PairModel& model, const PlacedTokens& tokens, Node u, Node v, double rate,
                    TokenSums& sums, ParameterSlopes& dp) const {
  const double square = squared_base(model, tokens, u, v);
  if (square > 0) {
    const double across = family_->base == geometry::Base::plane ? 1 : 1 - square / 4;
    model.add_measure(rate / (2 * std::sqrt(square * std::max(across, 1e-12))), tokens, u, sums,
                      tokens, v, sums);
  }
  for (const auto& [node, sign] : {std::pair(u, 1.0), std::pair(v, -1.0)}) {
    const EmbeddedPoint& place = tokens.place[static_cast<std::size_t>(node)];
    const double step = 1e-6 * std::min(place.height, place.light_distance);
    const double by_height =
        (shadow(place.height + step) - shadow(place.height - step)) / (2 * step);
    sums.place[static_cast<std::size_t>(node)].height += rate * sign * by_height;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      geometry::Values ends[2] = {values_, values_};
      const double by = 1e-6 * std::min(values_[k], place.light_distance);
      ends[0][k] -= by, ends[1][k] += by;
      const double by_value =
          (family_->shadow(ends[1], place.height) - family_->shadow(ends[0], place.height)) /
          (2 * by);
      dp.parameter[index_[k]] += rate * sign * by_value;
    }
  }
}

double train_order(PairModel& model, PlacedTokens& tokens, ConeOrder& order,
                   const std::vector<std::array<Node, 2>>& pairs, const NodeLists& closure,
                   const DescentOptions& options) {
  Random random(options.seed);
  Adam steps;
  ParameterDescent parameter_steps;
  double loss = 0;
  for (std::int64_t epoch = 0; epoch < options.epochs && !pairs.empty(); ++epoch) {
    model.place(tokens);
    order.follow(model);
    TokenSums sums = model.sums(tokens);
    ParameterSlopes dp = model.parameter_slopes();
    loss = 0;
    const double share = 1 / static_cast<double>(pairs.size());
    const auto hinge = [&](Node u, Node v, double sign) {
      const double e = sign * order.energy(model, tokens, u, v) + order_margin;
      if (e <= 0) return;
      loss += share * e;
      order.add(model, tokens, u, v, sign * share, sums, dp);
    };
    for (const auto& [u, v] : pairs) {
      hinge(u, v, 1);
      for (std::int64_t c = 0; c < options.negatives; ++c) {
        const auto other =
            static_cast<Node>(random.below(static_cast<std::uint64_t>(tokens.count)));
        const Node below = c % 2 == 0 ? other : u, above = c % 2 == 0 ? v : other;
        const std::vector<Node>& known = closure[static_cast<std::size_t>(below)];
        if (below == above || std::binary_search(known.begin(), known.end(), above)) continue;
        hinge(below, above, -1);
      }
    }
    report(options, epoch, loss);
    model.finish(tokens, sums, dp);
    const double rate = falling_rate(options.rate, epoch, options.epochs);
    steps.step(tokens.point, sums.point, rate);
    parameter_steps.step(model, model.parameter_gradient(std::move(dp)), rate);
  }
  round_parameters(model);
  order.follow(model);
  model.place(tokens);
  return loss;
}

}  // namespace conelab
