// The trace that the session names, kept loaded: read in a job, read again when the file changes.
#pragma once

#include <QObject>
#include <memory>

#include "widgets/jobs/job_pool.h"
#include "widgets/session/document.h"
#include "widgets/trace/file_watch.h"
#include "widgets/trace/trace.h"

namespace conelab::desktop {

class Workspace : public QObject {
  Q_OBJECT

 public:
  Workspace(Document& document, JobPool& jobs, QObject* parent = nullptr);

  [[nodiscard]] Document& document() { return document_; }
  /// Devices by name, null for those that are none; the CPU needs no telling.
  void use_devices(std::function<Backend*(const std::string&)> find) { devices_ = std::move(find); }
  [[nodiscard]] JobPool& jobs() { return jobs_; }
  /// Null while nothing is open or the file is being read.
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }
  /// The session's head of it.
  [[nodiscard]] const std::shared_ptr<const HeadInput>& head() const { return head_; }
  [[nodiscard]] bool loading() const { return job_.active() || head_job_.active(); }
  /// Groups of the open file that hold a trace.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }

  /// Opens a file as the session's trace, once it has been read: a file that cannot be read leaves
  /// the session as it was and is told by `failed`. `group` empty: the first that holds a trace.
  void open(const QString& file, const QString& group = {});
  /// The same for the first of the groups, where all that hold a trace are known already.
  void open_first(const QString& file, const std::vector<std::string>& groups);

 signals:
  /// Another trace, or another head of it, or none.
  void trace_changed();
  /// A file could not be read; one line.
  void failed(const QString& message);
  /// Reading has begun or ended.
  void loading_changed();

 private:
  struct Loaded {
    std::shared_ptr<const Trace> trace;
    std::vector<std::string> groups;
  };
  void follow();
  [[nodiscard]] bool is_open(const TraceChoice& wanted) const;
  /// `groups`: those of the file, or empty where they are to be found out.
  void load(const std::string& file, const std::string& group, bool into_session,
            const std::vector<std::string>& groups = {});
  void take(Loaded loaded, bool into_session);
  using Head = std::shared_ptr<const HeadInput>;
  void choose_head();
  void take_head(Head head);
  void file_changed();
  void read_changed();

  Document& document_;
  JobPool& jobs_;
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const HeadInput> head_;
  std::shared_ptr<const Trace> head_of_;  ///< Whose head that is.
  TraceChoice shown_;                     ///< What `head_` is of.
  TraceChoice followed_;                  ///< What the session named last.
  bool opening_ = false;                  ///< Whether `job_` reads what the session is to name.
  std::string changed_;                   ///< A file that changed while `job_` opens another.
  TraceChoice failed_;                    ///< What could not be read: not tried again by itself.
  std::vector<std::string> groups_;
  std::function<Backend*(const std::string&)> devices_;
  JobHandle job_, head_job_;
  FileWatch watch_;  ///< A file that is being written is read once it rests.
};

}  // namespace conelab::desktop
