#include "core/embed/train_head.h"

#include <algorithm>
#include <cmath>

#include "core/base/adam.h"
#include "core/base/random.h"
#include "core/embed/descent.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

/// One start of one head.
class HeadDescent {
 public:
  HeadDescent(const HeadGoal& goal, const HeadProblem& problem, TrainedHead& head)
      : goal_(goal), problem_(problem), head_(head), ones_(problem.targets.size(), 1.0) {
    const auto n = static_cast<std::int64_t>(ones_.size()), d = std::int64_t{goal.dim};
    input_.query = {head.query.point.data(), {1, 1, n, d}, {n * d, n * d, d}};
    input_.key = {head.key.point.data(), {1, 1, n, d}, {n * d, n * d, d}};
    input_.value = {ones_.data(), {1, 1, n, 1}, {n, n, 1}};
    call_.similarity = goal.similarity;
    call_.weights = "exp";
    execution_.threads = 1;
  }

  /// Sets the points of both sides, at which `input_` looks.
  void take_points() {
    const auto set = [&](const TokenSource& source, PlacedTokens& tokens) {
      std::ranges::copy(source.points(problem_.features), tokens.point.begin());
    };
    set(head_.query_source, head_.query);
    set(head_.key_source, head_.key);
  }

  /// Makes one step and returns the loss before it. If a number is not finite, it makes none and
  /// returns NaN.
  double step(std::int64_t epoch) {
    for (const auto& [key, value] : head_.model.parameters()) {
      call_.parameters.insert_or_assign(key, Value(value));
    }
    const auto plan = resolve(call_, check_extents(input_));
    const Forward<double> sums = forward(*plan, input_, execution_);
    double loss = 0;
    Tensor4<double> upstream(sums.output.shape);
    const double share = 1 / static_cast<double>(ones_.size());
    for (std::size_t i = 0; i < ones_.size(); ++i) {
      loss += share * sums.lse.data[i];
      upstream.data[i] = share / sums.output.data[i];
    }
    input_.output_grad = std::move(upstream);
    const Backward<double> slopes = backward(*plan, input_, sums, execution_);
    TokenSums dq, dk;
    std::vector<double> dp;
    loss += add_ancestors(share, dq, dk, dp);
    for (std::size_t i = 0; i < dp.size(); ++i) {
      dp[i] += slopes.parameters.at(head_.model.row().parameters[i].key).front();
    }
    // A row's sum of e^logit overflows where its logits pass 709.
    for (const double sum : sums.output.data) loss += 0 * sum;
    for (const double slope : dp) loss += 0 * slope;
    if (!std::isfinite(loss)) return std::nan("");
    descend(epoch, slopes, dq, dk, dp);
    return loss;
  }

 private:
  const HeadGoal& goal_;
  const HeadProblem& problem_;
  TrainedHead& head_;
  std::vector<double> ones_;  ///< [n] The values.
  AttentionInput<double> input_;
  Call call_;
  Execution execution_;
  ParameterDescent parameter_steps_;

  /// Returns the part of the loss that the logits of ancestors are, and sets its gradients.
  double add_ancestors(double share, TokenSums& dq, TokenSums& dk, std::vector<double>& dp) {
    PairModel& model = head_.model;
    ParameterSlopes slopes = model.parameter_slopes();
    model.place(head_.query);
    model.place(head_.key);
    dq = model.sums(head_.query);
    dk = model.sums(head_.key);
    double loss = 0;
    for (Node i = 0; i < head_.query.count; ++i) {
      const std::vector<Node>& above = problem_.targets[static_cast<std::size_t>(i)];
      const double rate = -share / static_cast<double>(above.size() + 1);
      const auto add = [&](Node j) {
        const PairSlope slope = model.slope(head_.query, i, head_.key, j);
        loss += rate * slope.logit;
        model.add(slope, rate, head_.query, i, dq, head_.key, j, dk, slopes);
      };
      add(i);
      for (const Node j : above) add(j);
    }
    model.finish(head_.query, dq, slopes);
    model.finish(head_.key, dk, slopes);
    dp = model.parameter_gradient(std::move(slopes));
    return loss;
  }

  void descend(std::int64_t epoch, const Backward<double>& slopes, TokenSums& dq, TokenSums& dk,
               const std::vector<double>& dp) {
    const double rate = falling_rate(goal_.rate, epoch, goal_.epochs);
    for (std::size_t c = 0; c < dq.point.size(); ++c) {
      dq.point[c] += slopes.query.data[c];
      dk.point[c] += slopes.key.data[c];
    }
    head_.query_source.step(problem_.features, dq.point, rate);
    head_.key_source.step(problem_.features, dk.point, rate);
    take_points();
    parameter_steps_.step(head_.model, dp, rate);
  }
};

/// Multiplies the radius with which a start begins, or K, unless it is fixed. Descent does not
/// leave one that is far too small: its steps are as long in every parameter.
void spread_radius(PairModel& model, std::uint64_t start) {
  constexpr double exponents[] = {0, 1, 0.5, 1.5};
  std::vector<double> values = model.values();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::string key = model.row().parameters[i].key;
    if (model.is_fixed(i) || (key != "K" && !key.ends_with("radius"))) continue;
    values[i] *= std::pow(10, exponents[start % 4]);
  }
  model.set_values(values);
}

}  // namespace

TrainedHead train_head(const HeadGoal& goal, std::uint64_t start, const HeadProblem& problem,
                       const Stepped& stepped) {
  Random seeds(goal.seed + 1000003 * start);
  const auto source = [&] {
    return TokenSource(goal.tokens, static_cast<Node>(problem.targets.size()), goal.dim,
                       goal.hidden, problem.features, seeds.next());
  };
  const TokenSource query = source(), key = source();
  TrainedHead head{PairModel(goal.similarity, goal.dim, goal.parameters), {}, {}, query, key};
  spread_radius(head.model, start);
  place_all(head, problem.features);
  HeadDescent descent(goal, problem, head);
  head.loss = std::nan("");
  for (std::int64_t epoch = 0; epoch < goal.epochs; ++epoch) {
    const double loss = descent.step(epoch);
    if (!std::isfinite(loss)) break;
    head.loss = loss;
    if (stepped) stepped(epoch + 1, head);
  }
  round_parameters(head.model);
  place_all(head, problem.features);
  return head;
}

void place_all(TrainedHead& head, const Features& features) {
  const auto place = [&](const TokenSource& source, PlacedTokens& tokens) {
    tokens.point = source.points(features);
    tokens.count = static_cast<Node>(tokens.point.size()) / head.model.dim();
    head.model.place(tokens);
  };
  place(head.query_source, head.query);
  place(head.key_source, head.key);
}

double mass_on_ancestors(const TrainedHead& head, const NodeLists& closure,
                         std::span<const Node> nodes) {
  double mass = 0;
  std::vector<double> logits(closure.size());
  for (const Node i : nodes) {
    for (Node j = 0; j < head.key.count; ++j) {
      logits[static_cast<std::size_t>(j)] = head.model.score(head.query, i, head.key, j);
    }
    const double largest = *std::max_element(logits.begin(), logits.end());
    double all = 0;
    for (double& logit : logits) all += logit = std::exp(logit - largest);
    double own = logits[static_cast<std::size_t>(i)];
    for (const Node j : closure[static_cast<std::size_t>(i)]) {
      own += logits[static_cast<std::size_t>(j)];
    }
    mass += own / all / static_cast<double>(nodes.size());
  }
  return mass;
}

}  // namespace conelab
