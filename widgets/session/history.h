// Undo and redo by whole snapshots: a session is small, and no edit can be forgotten.
//
// Edits with the same non-empty `merge` that follow each other (a drag, a slider, typing) are one
// step.
#pragma once

#include <string>
#include <vector>

#include "widgets/session/session.h"

namespace conelab::desktop {

class History {
 public:
  explicit History(Session start = {}) { steps_.push_back({std::move(start), "", ""}); }

  [[nodiscard]] const Session& now() const { return steps_[at_].session; }
  /// Makes `next` the present; what was undone is forgotten. No step where nothing changes.
  void record(Session next, std::string label, std::string merge = "");
  /// The next edit begins a step of its own, whatever its `merge`.
  void close_step() { steps_[at_].merge.clear(); }

  [[nodiscard]] bool can_undo() const { return at_ > 0; }
  [[nodiscard]] bool can_redo() const { return at_ + 1 < steps_.size(); }
  /// What undo (redo) would take back (do again), for the menu.
  [[nodiscard]] std::string undo_label() const { return can_undo() ? steps_[at_].label : ""; }
  [[nodiscard]] std::string redo_label() const { return can_redo() ? steps_[at_ + 1].label : ""; }
  void undo() { at_ -= can_undo() ? 1 : 0; }
  void redo() { at_ += can_redo() ? 1 : 0; }

  /// The oldest steps beyond this are forgotten.
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
