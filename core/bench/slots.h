// The cases of a sweep, and their copies in the A/A control, on their way through the rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/executor.h"
#include "core/bench/forecast.h"
#include "core/bench/result.h"
#include "core/bench/sweep.h"

namespace conelab {

struct Slot {
  CaseResult* result;
  Prediction prediction = {};
  std::optional<std::string> why_skipped = {};  ///< Empty text: it runs; nothing: not decided yet.
  int visits = 0;                               ///< Rounds that are over.
  int worked = 0;                               ///< Rounds in which it was measured.

  [[nodiscard]] const Case& labels() const { return result->labels; }
  [[nodiscard]] bool ended() const {
    return result->status != CaseStatus::ok || (why_skipped && !why_skipped->empty());
  }
};

class Slots {
 public:
  /// Fills the cases and controls of `result`, which outlive this. The choice of the controls
  /// depends on the sweep alone, so that a resumed run has the same.
  Slots(const Sweep& sweep, BenchResult& result);

  [[nodiscard]] int count() const { return static_cast<int>(slots_.size()); }
  [[nodiscard]] Slot& at(int index) { return slots_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] auto begin() { return slots_.begin(); }
  [[nodiscard]] auto end() { return slots_.end(); }

  /// Samples of the sweep, and how many of them are over.
  [[nodiscard]] int total() const { return count() * sweep_->rounds; }
  [[nodiscard]] int done() const;
  /// The part of the work that is over, 0 to 1. What is over only grows, what is left only shrinks:
  /// so does not the share.
  [[nodiscard]] double work_share() const;
  /// Seconds that the rest of the sweep will take; NaN where unknown.
  [[nodiscard]] double seconds_left(const Forecast& forecast) const;

 private:
  const Sweep* sweep_;
  std::vector<Slot> slots_;  ///< Cases, then controls.

  [[nodiscard]] double nominal_cost(const Slot& slot) const;
};

}  // namespace conelab
