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
  HeadDescent(const HeadGoal& goal, const NodeLists& closure, TrainedHead& head)
      : goal_(goal), closure_(closure), head_(head), ones_(closure.size(), 1.0) {
    const auto n = static_cast<std::int64_t>(closure.size()), d = std::int64_t{goal.dim};
    input_.query = {head.query.point.data(), {1, 1, n, d}, {n * d, n * d, d}};
    input_.key = {head.key.point.data(), {1, 1, n, d}, {n * d, n * d, d}};
    input_.value = {ones_.data(), {1, 1, n, 1}, {n, n, 1}};
    call_.similarity = goal.similarity;
    call_.weights = "exp";
    execution_.threads = 1;
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
    const double share = 1 / static_cast<double>(closure_.size());
    for (std::size_t i = 0; i < closure_.size(); ++i) {
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
  const NodeLists& closure_;
  TrainedHead& head_;
  std::vector<double> ones_;  ///< [n] The values.
  AttentionInput<double> input_;
  Call call_;
  Execution execution_;
  Adam query_steps_, key_steps_;
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
      const std::vector<Node>& above = closure_[static_cast<std::size_t>(i)];
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
    query_steps_.step(head_.query.point, dq.point, rate);
    key_steps_.step(head_.key.point, dk.point, rate);
    parameter_steps_.step(head_.model, dp, rate);
  }
};

}  // namespace

TrainedHead train_head(const HeadGoal& goal, std::uint64_t start, const NodeLists& closure,
                       const std::function<void()>& stepped) {
  const auto count = static_cast<Node>(closure.size());
  Random seeds(goal.seed + 1000003 * start);
  TrainedHead head{PairModel(goal.similarity, goal.dim, goal.parameters),
                   drawn_points(count, goal.dim, seeds.next()),
                   drawn_points(count, goal.dim, seeds.next())};
  HeadDescent descent(goal, closure, head);
  head.loss = std::nan("");
  for (std::int64_t epoch = 0; epoch < goal.epochs; ++epoch) {
    const double loss = descent.step(epoch);
    if (!std::isfinite(loss)) break;
    head.loss = loss;
    if (stepped) stepped();
  }
  round_parameters(head.model);
  head.model.place(head.query);
  head.model.place(head.key);
  return head;
}

double mass_on_ancestors(const TrainedHead& head, const NodeLists& closure) {
  double mass = 0;
  std::vector<double> logits(closure.size());
  for (Node i = 0; i < head.query.count; ++i) {
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
    mass += own / all / static_cast<double>(head.query.count);
  }
  return mass;
}

}  // namespace conelab
