// The main window: docks with views of one session, menus, command palette, automatic save.
#pragma once

#include <QMainWindow>
#include <memory>

#include "widgets/jobs/job_pool.h"
#include "widgets/session/document.h"
#include "widgets/trace/workspace.h"
#include "widgets/window/backends.h"
#include "widgets/window/dock_layout.h"
#include "widgets/window/file_kind.h"
#include "widgets/window/session_file.h"

namespace conelab::desktop {

class ArraysDialog;
class Banner;
class BenchmarksView;
class DataView;
class ExplorerView;
class FileOpener;
struct FoundFile;
class FiguresView;
class Guide;
class MapsView;
class OperatorsPanel;
class StudiesView;
class Welcome;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `state_directory` contains the automatic save and the recent files; if empty, nothing is
  /// stored.
  MainWindow(Backends backends, const QString& state_directory);
  ~MainWindow() override;

  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  [[nodiscard]] MapsView& maps() { return *maps_; }
  [[nodiscard]] ExplorerView& explorer() { return *explorer_; }
  [[nodiscard]] BenchmarksView& benchmarks() { return *benchmarks_; }
  [[nodiscard]] StudiesView& studies() { return *studies_; }

  /// Opens traces, results and sessions of any kind (see file_opener.h). Files that cannot be read
  /// are reported in the window and do not change the session.
  void open(const QStringList& files);
  /// Restores the session of the last run. Returns whether there was one.
  bool restore_autosave();
  /// Restores only the theme of that session: it is used until a session sets another. The session
  /// itself is kept: File, Earlier session.
  void restore_theme();
  /// Returns the error in the banner; empty if none is shown.
  [[nodiscard]] QString error_shown() const;
  /// Returns the notice in the banner.
  [[nodiscard]] QString notice_shown() const;
  void show_error(const QString& message);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_views();
  void place_views();
  void connect_views();
  void connect_opener();
  void build_menus();
  void build_file_menu();
  void build_edit_menu();
  void build_view_menu();
  /// Returns what the palette offers in addition to the menus: layers, heads, operators, figures
  /// and examples.
  [[nodiscard]] QList<QAction*> choices(QObject* owner);
  QAction* add_action(QMenu* menu, const QString& text, const QKeySequence& keys,
                      const std::function<void()>& run);
  void show_session();
  void show_title();
  void apply_session_theme();
  /// Starts another session that belongs to no file. The theme does not change.
  void begin_session(const QString& label, const Session& session);
  void open_earlier();
  void start_example(int index);
  void open_one(const QString& file) { open({file}); }
  void open_dialog();
  void save_dialog();
  void remember(const QString& file);
  void show_recent();
  /// Says that the maps still show the open trace, and not this file.
  /// Asks which arrays of a file are q, k and v.
  ArraysDialog* ask_for_arrays(const FoundFile& file);
  [[nodiscard]] QString shown_in_data_only(const QString& path) const;
  void show_figure(const QString& label, const FigureChoice& figure);
  /// Returns the command line that computes a call on the open trace. It is empty if there is none.
  [[nodiscard]] QString command_of(const Call& call) const;
  void copy_command(const Call& call);
  /// Copies the commands that compute the numbers of a cell, with a note that says which.
  void copy_cell_commands(const std::vector<Call>& calls, const QString& note);
  void copy_figure_command(const FigureChoice& figure);
  /// Copies the command that draws a stored map, which no operator computes.
  void copy_stored_command(const Trace& trace);
  void copy_text(const QString& text, const QString& what);

  Backends backends_;
  Document document_;
  DockLayout layout_;
  SessionFile session_file_;
  RecentFiles recent_;
  std::unique_ptr<JobPool> jobs_;
  bool asked_to_stop_ = false;  ///< Whether the user was told that closing stops a run.
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<FileOpener> opener_;
  MapsView* maps_ = nullptr;
  BenchmarksView* benchmarks_ = nullptr;
  StudiesView* studies_ = nullptr;
  DataView* data_ = nullptr;
  ExplorerView* explorer_ = nullptr;
  FiguresView* figures_ = nullptr;
  OperatorsPanel* operators_ = nullptr;
  Welcome* welcome_ = nullptr;
  Guide* guide_ = nullptr;
  Banner* banner_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QAction *undo_ = nullptr, *redo_ = nullptr, *earlier_ = nullptr;
  QList<QAction*> actions_;
  QString theme_shown_;
  QString arrays_file_;    ///< The last file whose arrays were assigned to q, k and v.
  QString stored_notice_;  ///< The last notice about a result that is shown as it is stored.
};

}  // namespace conelab::desktop
