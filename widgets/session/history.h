// Undo and redo by complete copies of the session. A session is small, and no edit can be missed.
//
// Successive edits with the same non-empty `merge` (a drag, a slider, typing) form one step.
#pragma once

#include <string>
#include <vector>

#include "widgets/session/session.h"

namespace conelab::desktop {

class History {
 public:
  explicit History(Session start = {}) { steps_.push_back({std::move(start), "", ""}); }

  [[nodiscard]] const Session& now() const { return steps_[at_].session; }
  /// Makes `next` the current session and removes the steps that were undone. Adds no step if
  /// nothing changes.
  void record(Session next, std::string label, std::string merge = "");
  /// Makes the next edit a new step, whatever its `merge`.
  void close_step() { steps_[at_].merge.clear(); }

  /// Returns whether a trace is open in any of its sessions.
  [[nodiscard]] bool has_trace() const;
  [[nodiscard]] bool can_undo() const { return at_ > 0; }
  [[nodiscard]] bool can_redo() const { return at_ + 1 < steps_.size(); }
  /// Return what undo (redo) would revert (repeat), for the menu.
  [[nodiscard]] std::string undo_label() const { return can_undo() ? steps_[at_].label : ""; }
  [[nodiscard]] std::string redo_label() const { return can_redo() ? steps_[at_ + 1].label : ""; }
  void undo() { at_ -= can_undo() ? 1 : 0; }
  void redo() { at_ += can_redo() ? 1 : 0; }

  /// The largest number of steps; the oldest ones are removed.
  static constexpr std::size_t most_steps = 1000;

 private:
  struct Step {
    Session session;
    std::string label, merge;
  };
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

}  // namespace conelab::desktop
