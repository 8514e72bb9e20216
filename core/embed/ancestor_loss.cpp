#include "core/embed/ancestor_loss.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "core/operators/operator.h"

namespace conelab {
namespace {

/// Attention of all queries to all keys, whose values are 1.
class AllKeys {
 public:
  AllKeys(const PairModel& model, const PlacedTokens& queries, const PlacedTokens& keys,
          const Execution& run)
      : ones_(static_cast<std::size_t>(keys.count), 1.0), run_(run) {
    const std::int64_t n = keys.count, d = model.dim();
    input_.query = {queries.point.data(), {1, 1, queries.count, d}, {n * d, n * d, d}};
    input_.key = {keys.point.data(), {1, 1, n, d}, {n * d, n * d, d}};
    input_.value = {ones_.data(), {1, 1, n, 1}, {n, n, 1}};
    Call call;
    call.similarity = model.row().info.name;
    for (const auto& [key, value] : model.parameters()) call.parameters.emplace(key, Value(value));
    plan_ = resolve(call, check_extents(input_));
    sums_ = forward(*plan_, input_, run_);
  }

  [[nodiscard]] double log_sum(Node query) const {
    return sums_.lse.data[static_cast<std::size_t>(query)];
  }
  [[nodiscard]] const Plan& plan() const { return *plan_; }

  /// Returns the gradients of the mean of log Σ_j e^{l_ij}: with values of 1, they are those of the
  /// mean output if the output that backward subtracts from the values is 0.
  [[nodiscard]] Backward<double> slopes_of_mean() {
    Tensor4<double> upstream(sums_.output.shape);
    std::ranges::fill(upstream.data, 1 / static_cast<double>(upstream.data.size()));
    input_.output_grad = std::move(upstream);
    std::ranges::fill(sums_.output.data, 0.0);
    return backward(*plan_, input_, sums_, run_);
  }

 private:
  std::vector<double> ones_;
  AttentionInput<double> input_;
  std::shared_ptr<const Plan> plan_;
  Execution run_;
  Forward<double> sums_;
};

}  // namespace

AncestorLoss ancestor_loss(const PairModel& model, PlacedTokens& queries, PlacedTokens& keys,
                           const NodeLists& targets, const Execution& run) {
  model.place(queries);
  if (&keys != &queries) model.place(keys);
  AllKeys all(model, queries, keys, run);
  TokenSums dq = model.sums(queries), dk = model.sums(keys);
  ParameterSlopes slopes = model.parameter_slopes();
  AncestorLoss result;
  const double share = 1 / static_cast<double>(queries.count);
  for (Node i = 0; i < queries.count; ++i) {
    const std::vector<Node>& above = targets[static_cast<std::size_t>(i)];
    const double rate = -share / static_cast<double>(above.size() + 1);
    const auto add = [&](Node j) {
      const PairSlope slope = model.slope(queries, i, keys, j);
      result.loss += rate * slope.logit;
      model.add(slope, rate, queries, i, dq, keys, j, dk, slopes);
    };
    result.loss += share * all.log_sum(i);
    add(i);
    for (const Node j : above) add(j);
  }
  model.finish(queries, dq, slopes);
  model.finish(keys, dk, slopes);
  const Backward<double> of_all = all.slopes_of_mean();
  const auto sum = [](std::vector<double> a, const Tensor4<double>& b) {
    std::ranges::transform(a, b.data, a.begin(), std::plus());
    return a;
  };
  result.query = sum(std::move(dq.point), of_all.query);
  result.key = sum(std::move(dk.point), of_all.key);
  result.parameter = model.parameter_gradient(std::move(slopes));
  for (std::size_t i = 0; i < result.parameter.size(); ++i) {
    result.parameter[i] += of_all.parameters.at(model.row().parameters[i].key).front();
  }
  return result;
}

double mass_on_ancestors(const PairModel& model, const PlacedTokens& queries,
                         const PlacedTokens& keys, const NodeLists& closure,
                         std::span<const Node> nodes, const Execution& run) {
  const AllKeys all(model, queries, keys, run);
  double mass = 0;
  for (const Node i : nodes) {
    const auto add = [&](Node j) {
      mass += std::exp(model.score(queries, i, keys, j) - all.log_sum(i));
    };
    add(i);
    for (const Node j : closure[static_cast<std::size_t>(i)]) add(j);
  }
  return mass / static_cast<double>(nodes.size());
}

bool sums_all_pairs(const PairModel& model) {
  PlacedTokens one;
  one.count = 1;
  one.point.assign(static_cast<std::size_t>(model.dim()), 0.5);
  return AllKeys(model, one, one, {}).plan().evaluation == Evaluation::pairs;
}

}  // namespace conelab
