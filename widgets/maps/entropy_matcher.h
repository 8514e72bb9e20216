// Gives operators the sharpness at which their attention is as concentrated as that of dot, as a
// job and one step of the history.
#pragma once

#include <QObject>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "widgets/maps/map_tokens.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

// The sharpness at which the attention of a head under one operator is as concentrated as under
// another one: the value of gamma, scale or beta for which the mean entropy of its rows is equal.
//
// Models are trained for one operator. The logits of another one have another range, so that its
// softmax is nearly uniform or nearly one-hot at the default sharpness. The entropy of a row of
// softmax falls with the sharpness, so that the value is found by bisection of its logarithm.

/// Returns the key of the parameter that multiplies the logits of a call ("gamma", "scale",
/// "beta"). Absent if the call has none, or if its weights are no softmax over keys.
[[nodiscard]] std::optional<std::string> sharpness_key(const Call& call);

/// The rows of one head whose entropies are averaged.
struct EntropyRows {
  std::shared_ptr<const HeadInput> head;
  MapTokens tokens;  ///< If it excludes special tokens, these rows and keys are left out.
  /// Rows are taken at equal distances so that there are about this many pairs.
  std::int64_t most_pairs = std::int64_t{1} << 21;
};

/// Returns the mean entropy of the softmax of the rows in nats. Rows without keys and rows that are
/// not finite are left out; NaN if none is left.
[[nodiscard]] double mean_row_entropy(const EntropyRows& rows, const Call& call_of_head,
                                      const Execution& execution);

/// Returns the value of the sharpness at which the call has this mean entropy. Throws a failure if
/// none between 1e-6 and 1e6 has.
[[nodiscard]] double match_entropy(const EntropyRows& rows, Call call_of_head, double entropy,
                                   const Execution& execution);

/// Returns the call with this value of a parameter on one head: in place of the number of that head
/// if there is one for each, otherwise for all heads.
[[nodiscard]] Call with_value_on_head(Call call, const std::string& key, double value,
                                      std::int64_t head);

/// Returns the call whose entropy others are given: the first dot of the session, otherwise a plain
/// dot with the bias and the masks of `call`.
[[nodiscard]] Call entropy_goal(const MapChoice& choice, const Call& call);

class EntropyMatcher : public QObject {
  Q_OBJECT

 public:
  EntropyMatcher(Workspace& workspace, QObject* parent = nullptr);

  /// Returns whether an operator of the session has a sharpness and is not the goal itself.
  [[nodiscard]] bool can_match(std::size_t index) const;
  /// Starts the job for these operators of the session. Operators that the user changes meanwhile
  /// are left alone; another head ends the job.
  void match(const std::vector<std::size_t>& indices);
  [[nodiscard]] bool busy() const { return job_.active(); }
  /// Returns why the last job failed; empty if it did not.
  [[nodiscard]] const std::string& error() const { return error_; }
  void forget_error();

 signals:
  void changed();

 private:
  Workspace& workspace_;
  JobHandle job_;
  std::string error_;
};

}  // namespace conelab::desktop
