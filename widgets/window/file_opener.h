// Opens files of every kind in the views that show them, any number at once.
//
// Traces go to the maps, results of attend and of tree to the figures, benchmarks to their view,
// sessions replace the session, and of everything else the content is shown. Several results of
// attend stand side by side in one figure, two benchmarks are compared, the second with the first.
// Where there is room for one only, the first is shown and a notice names the others.
#pragma once

#include <QObject>
#include <QStringList>
#include <vector>

#include "widgets/jobs/job_pool.h"
#include "widgets/window/file_kind.h"

namespace conelab::desktop {

class BenchModel;
class DataView;
class Workspace;

class FileOpener : public QObject {
  Q_OBJECT

 public:
  FileOpener(Workspace& workspace, BenchModel& benchmarks, DataView& data);

  /// Files that were asked for before and are not open yet are opened as well, behind these.
  void open(const QStringList& files);

 signals:
  void session_found(const SavedSession& saved, const QString& path);
  /// The dock of the first file is to be seen.
  void view_wanted(const QString& dock);
  /// `trace`: what a result was computed from, to be offered; or empty.
  void notice(const QString& text, const QString& trace);
  /// One line for all that could not be read, and what a notice would have said beside it.
  void failed(const QString& message);
  /// Worth to be remembered; the traces are told by the workspace once they are there.
  void opened(const QString& path);

 private:
  using Files = std::vector<FoundFile>;
  struct Found {
    Files files;
    QStringList errors;

    /// Unless it is among them under another name.
    void add(const FoundFile& file);
  };
  static Found find_all(const QStringList& files, const JobContext& context);
  void take(const Found& found);
  void show_session(const Files& sessions);
  void show_trace(const Files& traces);
  void show_benchmarks(const Files& benchmarks);
  void show_figure(const Files& files);
  void show_content(const Files& files);
  void tell(const Found& found);

  Workspace& workspace_;
  BenchModel& benchmarks_;
  DataView& data_;
  QStringList pending_;
  JobHandle job_;
  Files shown_;  ///< Those of the files that are opened now for which there was room.
};

}  // namespace conelab::desktop
