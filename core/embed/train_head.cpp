#include "core/embed/train_head.h"

#include <cmath>

#include "core/base/adam.h"
#include "core/base/finite.h"
#include "core/base/random.h"
#include "core/embed/ancestor_loss.h"

namespace conelab {
namespace {

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

void set_points(TrainedHead& head, const Features& features) {
  const auto set = [&](const TokenSource& source, PlacedTokens& tokens) {
    tokens.point = source.points(features);
    tokens.count = static_cast<Node>(tokens.point.size()) / head.model.dim();
  };
  set(head.query_source, head.query);
  set(head.key_source, head.key);
}

bool is_finite(const AncestorLoss& found) {
  const auto all = [](const std::vector<double>& x) {
    return all_finite(x.data(), static_cast<std::int64_t>(x.size()));
  };
  return std::isfinite(found.loss) && all(found.query) && all(found.key) && all(found.parameter);
}

}  // namespace

TrainedHead train_head(const HeadGoal& goal, std::uint64_t start, const HeadProblem& problem,
                       const Execution& run, const Stepped& stepped) {
  Random seeds(goal.seed + 1000003 * start);
  const auto source = [&] {
    return TokenSource(goal.tokens, static_cast<Node>(problem.targets.size()), goal.dim,
                       goal.hidden, problem.features, seeds.next());
  };
  const TokenSource query = source(), key = source();
  TrainedHead head{PairModel(goal.similarity, goal.dim, goal.parameters), {}, {}, query, key};
  spread_radius(head.model, start);
  place_all(head, problem.features);
  head.loss = std::nan("");
  ParameterDescent parameter_steps;
  for (std::int64_t epoch = 0; epoch < goal.epochs; ++epoch) {
    const AncestorLoss found =
        ancestor_loss(head.model, head.query, head.key, problem.targets, run);
    if (!is_finite(found)) break;
    const double rate = falling_rate(goal.rate, epoch, goal.epochs);
    head.query_source.step(problem.features, found.query, rate);
    head.key_source.step(problem.features, found.key, rate);
    parameter_steps.step(head.model, found.parameter, rate);
    set_points(head, problem.features);
    head.loss = found.loss;
    if (stepped) stepped(epoch + 1, head);
  }
  round_parameters(head.model);
  place_all(head, problem.features);
  return head;
}

void place_all(TrainedHead& head, const Features& features) {
  set_points(head, features);
  head.model.place(head.query);
  head.model.place(head.key);
}

}  // namespace conelab
