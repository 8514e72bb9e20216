// The trace that the session names, kept in memory: it is read in a job, and again when the file
// changes.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <memory>

#include "core/trace/trace.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/session/document.h"

namespace conelab::desktop {

// Watches a file that a view shows and another program may write.
//
// The watcher of Qt forgets a path that is removed or replaced, which is how files are usually
// rewritten. This class watches the path again after each change. If the file does not exist, it
// watches the nearest existing folder, because the file may appear again.

class FileWatch : public QObject {
  Q_OBJECT

 public:
  FileWatch();

  /// Watches this file from now on, whether it exists or not. An empty name stops watching.
  void watch(const QString& file);

 signals:
  /// The file was written, removed, replaced or created, and has not changed for a moment.
  void changed();

 private:
  void aim();
  void report();

  QString file_;
  bool there_ = false;  ///< Whether the file existed at the last report.
  QFileSystemWatcher watcher_;
  QTimer rest_;
};

/// The merge of an edit that names another layer of the open file. The layer's own operator, known
/// when it has been read, is part of the same step.
inline constexpr const char* open_layer_step = "open a layer";

class Workspace : public QObject {
  Q_OBJECT

 public:
  Workspace(Document& document, JobPool& jobs);

  [[nodiscard]] Document& document() { return document_; }
  /// Sets the function that finds a device by name; it returns null for unknown names. The CPU
  /// needs none.
  void use_devices(std::function<Backend*(const std::string&)> find) { devices_ = std::move(find); }
  /// Returns the device that the session chooses; null for the CPU.
  [[nodiscard]] Backend* device() const {
    return devices_ ? devices_(document_.session().trace.device) : nullptr;
  }
  [[nodiscard]] JobPool& jobs() { return jobs_; }
  /// Returns the trace; null if none is open or while the file is read.
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }
  /// Returns the head of the trace that the session selects.
  [[nodiscard]] const std::shared_ptr<const HeadInput>& head() const { return head_; }
  [[nodiscard]] bool loading() const { return job_.active() || head_job_.active(); }
  /// Returns the groups of the open file that contain a trace or a stored map.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }

  /// Opens a file as the session's trace after it has been read. If it cannot be read, the session
  /// does not change and `failed` is emitted. An empty `group` selects the first group that
  /// contains a trace. `arrays` names q, k and v.
  void open(const QString& file, const QString& group = {}, const ArrayNames& arrays = {});
  /// Opens another group of the open file: another layer, or another stored map.
  void open_group(const std::string& group);
  /// Shows the numbers of this trace in place of those that the file has of the same group, until
  /// `live` is null: what a training has reached since it wrote the file.
  void show_live(std::shared_ptr<const Trace> live);
  [[nodiscard]] bool shows_live() const { return live_ != nullptr; }
  /// Opens the group that is `step` places after the open one, or after the one that is being
  /// opened, if there is one.
  void step_group(int step);
  /// Does the same for the first of `groups`, which must be all groups of the file that contain a
  /// trace.
  void open_first(const QString& file, const std::vector<std::string>& groups);

 signals:
  /// The trace or the selected head has changed, or no trace is open any more.
  void trace_changed();
  /// The trace that was opened has replaced the operators by its own (Session::maps.brought).
  void operator_brought();
  /// A file could not be read; the message is one line.
  void failed(const QString& message);
  /// Reading has begun or ended.
  void loading_changed();

 private:
  struct Loaded {
    std::shared_ptr<const Trace> trace;
    std::vector<std::string> groups;
    std::string stamp = {};  ///< Of the file before it was read.
  };
  void follow();
  /// Reads file, group and arrays of `source`. `groups` are those of the file; if empty, they are
  /// searched.
  void load(const TraceChoice& source, bool into_session,
            const std::vector<std::string>& groups = {});
  void take(Loaded loaded, bool into_session);
  [[nodiscard]] bool live_of(const Trace& trace) const;
  /// Returns the trace with the live numbers, if they are of it.
  [[nodiscard]] std::shared_ptr<const Trace> with_live(std::shared_ptr<const Trace> trace) const;
  void read_own_call_again(const QString& step);
  using Head = std::shared_ptr<const HeadInput>;
  void choose_head();
  void take_head(Head head);
  void file_changed();
  void read_changed();

  Document& document_;
  JobPool& jobs_;
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const Trace> live_;  ///< What is shown in place of the file's numbers.
  std::shared_ptr<const HeadInput> head_;
  std::shared_ptr<const Trace> head_of_;  ///< The trace of `head_`.
  TraceChoice shown_;                     ///< The choice that `head_` belongs to.
  TraceChoice followed_;                  ///< The last choice of the session.
  std::string opening_group_;             ///< The group that `job_` reads.
  bool opening_ = false;                  ///< Whether `job_` reads a file that `open` was given.
  bool rereading_ = false;                ///< Whether `job_` reads the open file again.
  std::string changed_;                   ///< A file that changed while `job_` opens another.
  TraceChoice failed_;                    ///< A choice that could not be read; not tried again.
  std::vector<std::string> groups_;
  std::function<Backend*(const std::string&)> devices_;
  JobHandle job_, head_job_;
  FileWatch watch_;  ///< Reports a change after the file has not changed for a moment.
};

}  // namespace conelab::desktop
