// Gives operators the sharpness at which their attention is as concentrated as that of dot, as a
// job and one step of the history.
#pragma once

#include <QObject>
#include <string>
#include <vector>

#include "core/trace/entropy_match.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

/// Returns the call whose entropy others are given: the first dot of the session, otherwise a plain
/// dot with the bias and the masks of `call`.
[[nodiscard]] Call entropy_goal(const MapChoice& choice, const Call& call);

class EntropyMatcher : public QObject {
  Q_OBJECT

 public:
  explicit EntropyMatcher(Workspace& workspace);

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
