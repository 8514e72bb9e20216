// A training keeps the snapshots of its heads. While it lasts, a file holds those so far: it can be
// watched with it, and goes on from it after it was stopped.
//
// An unfinished file has, besides the groups of a finished one, a group unfinished/T for each start
// T of a head (counted over the starts of the first head, then those of the next): state, the
// numbers that its next step depends on, and of all of its snapshots measure [snapshots × (step,
// loss, mass)], parameter [snapshots × parameters] and point [snapshots × (queries, keys)].
//
// Whoever watches the job (JobContext::live) gets group, step, loss, query and key [n × d], and
// parameters by key, of the start with the least loss of each head that is not too large for that.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/key_values.h"
#include "core/embed/held_out.h"
#include "core/embed/train_head.h"
#include "core/files/bench_file.h"
#include "core/job/job_spec.h"

namespace conelab {

/// Says which heads are trained, in the order of the file, and how.
struct Training {
  std::vector<HeadGoal> goals;
  std::vector<std::string> groups;  ///< [goal]
  KeyTexts texts;                   ///< Of the job's own keys, with their defaults.
  std::int64_t starts = 0;
  double held_out = 0, held_out_nodes = 0;  ///< Shares.
  std::int64_t snapshots = 0;               ///< Of each head.
};

/// Holds what heads are trained on, and what is held back.
struct TrainingData {
  Hierarchy hierarchy;
  NodeLists closure;
  HeldOut held;
  Features features;    ///< Of all nodes.
  HeadProblem problem;  ///< Of the nodes that are seen.
};

/// A head with its measures, in the order in which they are printed.
struct MeasuredHead {
  TrainedHead head;
  std::vector<double> losses;  ///< [start] NaN where a start could make no step.
  std::size_t start = 0;       ///< Which one it is.
  std::vector<std::pair<const char*, double>> measures;
};

[[nodiscard]] std::vector<Node> all_nodes(const TrainingData& data);
/// Returns the group of a head: its tokens, what it was trained for, and its measures.
[[nodiscard]] LabelledArray head_group(const MeasuredHead& made, const HeadGoal& goal,
                                       const std::vector<std::string>& names);
[[nodiscard]] Execution one_thread();

/// The snapshots of all starts of all heads, each start a task, and the file that holds them.
class TrainingRecord {
 public:
  /// `file` is the result without groups.
  TrainingRecord(const Training& training, const TrainingData& data, std::string path,
                 LabelledFile file);

  /// Takes over what the unfinished file at the path holds; nothing if there is no file. Returns
  /// false if the file is finished. Throws misuse if it is that of another training.
  [[nodiscard]] bool resume();
  /// Returns what a task goes on from; empty: it begins.
  [[nodiscard]] const std::vector<double>& state(std::size_t task) const { return states_[task]; }

  // These are called from any thread, for a task from one at a time.

  /// Records a step if it is one of those that are kept.
  void stepped(std::size_t task, std::int64_t step, const TrainedHead& head);
  /// Passes on what a task has reached, if somebody watches.
  void show(std::size_t task, std::int64_t step, const TrainedHead& head,
            const JobContext& context);
  /// Keeps the state of a task that is stopped.
  void keep(std::size_t task, std::int64_t step, const TrainedHead& head);
  /// Waits while the job is paused, until it may make another snapshot, or `stopped`.
  void wait_while_paused(std::size_t task, const JobContext& context,
                         const std::function<bool()>& stopped);

  /// Adds the snapshots of a start of a head.
  void add_to(LabelledFile& file, std::size_t goal, std::size_t start) const;
  /// Writes what there is. Returns whether there is something.
  bool write() const;

 private:
  const Training& training_;
  const TrainingData& data_;
  std::string path_;
  LabelledFile file_;                                 ///< Without groups.
  std::vector<std::vector<MeasuredHead>> snapshots_;  ///< [task]
  std::vector<std::vector<double>> states_;           ///< [task]
  std::vector<std::int64_t> paused_at_;  ///< [task] Its snapshots when a pause began; -1: none.
  std::vector<double> losses_;           ///< [task] When it was last shown.
  std::vector<std::chrono::steady_clock::time_point> shown_;  ///< [task]
  std::vector<Node> all_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point due_;

  [[nodiscard]] std::size_t goal_of(std::size_t task) const {
    return task / static_cast<std::size_t>(training_.starts);
  }
  [[nodiscard]] LabelledArray unfinished(std::size_t task) const;
  void restore(std::size_t task, const LabelledArray& group);
};

}  // namespace conelab
