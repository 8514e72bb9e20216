// The trace that maps are compared with: the layer that the session names beside the open one, of
// the same file or of another. It is read in a job, and again when the open file has changed.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>
#include <string>
#include <vector>

#include "widgets/trace/workspace.h"

namespace conelab::desktop {

class SecondTrace : public QObject {
  Q_OBJECT

 public:
  explicit SecondTrace(Workspace& workspace);

  /// Returns the trace; null if nothing is compared, while it is read, and if that has failed.
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }
  /// Returns the other traces, if all arrays of a result are compared: those after the first.
  [[nodiscard]] const std::vector<std::shared_ptr<const Trace>>& more() const { return more_; }
  /// Returns the groups of its file that hold a trace.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  /// Returns why it could not be read; otherwise empty.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Compares with a file after its groups have been read: with the group that is named as the open
  /// one, otherwise with the first; or with this group. If no arrays are given and none is called
  /// q, it asks for them instead.
  void choose_file(const QString& file, const QString& group = {}, const ArrayNames& arrays = {});

  /// Offers files that were opened together with the trace, for comparison.
  void offer(const QStringList& files);
  [[nodiscard]] const QStringList& offered() const { return offered_; }

 signals:
  void changed();
  /// No array of this file is called q.
  void arrays_wanted(const QString& file);

 private:
  struct Loaded {
    std::shared_ptr<const Trace> trace;
    std::vector<std::string> groups;
    std::vector<std::shared_ptr<const Trace>> more = {};
  };
  void follow();
  void take(Loaded loaded);

  Workspace& workspace_;
  std::shared_ptr<const Trace> trace_;
  std::vector<std::shared_ptr<const Trace>> more_;
  std::vector<std::string> groups_;
  std::string groups_of_;  ///< The file of `groups_`, and the name of its queries.
  QStringList offered_;    ///< Absolute paths.
  std::string error_;
  std::string wanted_;  ///< Identifies what was last read or is being read; empty: nothing.
  JobHandle job_, choice_job_;
};

/// Returns what is compared first with a group: the head beside the open one, or the same one of
/// another layer.
[[nodiscard]] BesideChoice first_beside(const Session& session, const Trace& open,
                                        const std::string& file, const std::string& group);

}  // namespace conelab::desktop
