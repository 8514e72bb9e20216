// Trains one attention head, with a query and a key for each node of a hierarchy, so that each
// token attends to its ancestors and itself. The points of the tokens are their own, or a map of
// features makes them (token_source.h).
//
// The loss is that of core/embed/ancestor_loss.h. Adam (core/base/adam.h) changes queries, keys and
// the parameters of the similarity that are not given, which are rounded to four digits at the end.
// Starts from different random points differ, so that several should be made; of four, the first
// begins with the default of a radius (or K), the others with 10, √10 and 10 √10 times that. A
// start ends where a number is not finite, and keeps what it has reached. A start goes on from a
// state that was kept, with the same numbers as if it had not been stopped.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/embed/pair_model.h"
#include "core/embed/token_source.h"

namespace conelab {

/// HeadGoal says what a head is trained for, and how.
struct HeadGoal {
  std::string similarity;
  int dim = 2;
  std::uint64_t seed = 1;
  std::map<std::string, double> parameters = {};  ///< Fixed ones; others are trained.
  std::int64_t epochs = 1000;
  double rate = 0.05;  ///< The first; it falls linearly to a tenth.
  TokenKind tokens = TokenKind::own;
  std::int64_t hidden = 32;  ///< For TokenKind::layers.
};

/// What a head is trained on: some of the nodes of a hierarchy, numbered by themselves.
struct HeadProblem {
  NodeLists targets;  ///< [nodes] What each should attend to besides itself.
  Features features;  ///< Of these nodes; not read for TokenKind::own.
};

/// A head after one start.
struct TrainedHead {
  PairModel model;
  PlacedTokens query, key;
  TokenSource query_source, key_source;
  ParameterDescent parameter_steps;
  double loss = 0;  ///< Of the last step that could be made; NaN if none could.
};

/// Trains a head from the start with this number. Results depend on the goal, the start and the
/// instruction set alone. `stepped` is called after each step with its number, counted from 1, and
/// the head, whose sources have the points after it; what it throws is thrown. `state` is that of
/// an earlier run of the same start, which is gone on with. Throws a failure if it is of another.
using Stepped = std::function<void(std::int64_t step, const TrainedHead& head)>;
[[nodiscard]] TrainedHead train_head(const HeadGoal& goal, std::uint64_t start,
                                     const HeadProblem& problem, const Execution& run = {},
                                     const Stepped& stepped = {},
                                     std::span<const double> state = {});
/// Returns the head with which a start begins.
[[nodiscard]] TrainedHead first_head(const HeadGoal& goal, std::uint64_t start,
                                     const HeadProblem& problem);
/// Returns everything that the steps after this one depend on.
[[nodiscard]] std::vector<double> state_of(TrainedHead head, std::int64_t step);

/// Gives a head the tokens of all nodes with these features.
void place_all(TrainedHead& head, const Features& features);

}  // namespace conelab
