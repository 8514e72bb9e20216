#include "core/embed/train_head.h"

#include <cmath>

#include "core/base/adam.h"
#include "core/base/error.h"
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

/// Passes the numbers of a head that later steps depend on.
template <class Take>
void visit(TrainedHead& head, Take&& take) {
  std::vector<double> values = head.model.values();
  take(values);
  head.model.set_values(values);
  take(head.loss);
  head.query_source.visit(take);
  head.key_source.visit(take);
  head.parameter_steps.visit(take);
}

/// Takes numbers from a state, one list after the other.
class StateReader {
 public:
  explicit StateReader(std::span<const double> state) : rest_(state) {}
  void operator()(double& number) {
    if (rest_.empty()) fail("the state of training ends early");
    number = rest_.front();
    rest_ = rest_.subspan(1);
  }
  /// Moments are empty before the first step; other lists have their size.
  void operator()(std::vector<double>& list) {
    double size = 0;
    (*this)(size);
    const bool fits = list.empty() ? size >= 0 : size == static_cast<double>(list.size());
    if (!fits || size > static_cast<double>(rest_.size())) {
      fail("the state of training is that of another head");
    }
    const auto read = rest_.first(static_cast<std::size_t>(size));
    list.assign(read.begin(), read.end());
    rest_ = rest_.subspan(read.size());
  }

 private:
  std::span<const double> rest_;
};

}  // namespace

std::vector<double> state_of(TrainedHead head, std::int64_t step) {
  std::vector<double> state = {static_cast<double>(step)};
  visit(head, [&]<class T>(T& numbers) {
    if constexpr (std::is_same_v<T, double>) {
      state.push_back(numbers);
    } else {
      state.push_back(static_cast<double>(numbers.size()));
      state.insert(state.end(), numbers.begin(), numbers.end());
    }
  });
  return state;
}

TrainedHead first_head(const HeadGoal& goal, std::uint64_t start, const HeadProblem& problem) {
  Random seeds(goal.seed + 1000003 * start);
  const auto source = [&] {
    return TokenSource(goal.tokens, static_cast<Node>(problem.targets.size()), goal.dim,
                       goal.hidden, problem.features, seeds.next());
  };
  const TokenSource query = source(), key = source();
  TrainedHead head{
      PairModel(goal.similarity, goal.dim, goal.parameters), {}, {}, query, key, {}, std::nan("")};
  spread_radius(head.model, start);
  return head;
}

TrainedHead train_head(const HeadGoal& goal, std::uint64_t start, const HeadProblem& problem,
                       const Execution& run, const Stepped& stepped,
                       std::span<const double> state) {
  TrainedHead head = first_head(goal, start, problem);
  double done = 0;
  if (!state.empty()) {
    StateReader read(state);
    read(done);
    visit(head, read);
  }
  place_all(head, problem.features);
  for (auto epoch = static_cast<std::int64_t>(done); epoch < goal.epochs; ++epoch) {
    const AncestorLoss found =
        ancestor_loss(head.model, head.query, head.key, problem.targets, run);
    if (!is_finite(found)) break;
    const double rate = falling_rate(goal.rate, epoch, goal.epochs);
    head.query_source.step(problem.features, found.query, rate);
    head.key_source.step(problem.features, found.key, rate);
    head.parameter_steps.step(head.model, found.parameter, rate);
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
