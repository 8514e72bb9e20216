// The main window: docks with the views of one session (view.h), menus, command palette, automatic
// save. Views get from it what they need.
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
#include "widgets/window/view.h"
#include "widgets/window/view_keys.h"

namespace conelab::desktop {

class Banner;
class FileOpener;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `state_directory` contains the automatic save and the recent files; if empty, nothing is
  /// stored.
  MainWindow(Backends backends, const QString& state_directory);
  ~MainWindow() override;

  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  [[nodiscard]] FileOpener& opener() { return *opener_; }
  [[nodiscard]] const Backends& backends() const { return backends_; }
  /// Returns the view of this class, which must be there.
  template <class Class>
  [[nodiscard]] Class& view() const {
    return *findChild<Class*>();
  }

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
  /// Shows a notice. `trace` is the trace that a result was computed from, to be offered; or empty.
  void show_notice(const QString& text, const QString& trace = {});
  /// Removes a notice if it is still shown.
  void take_back(const QString& notice);
  /// Shows a text at the bottom of the window for a few seconds.
  void say(const QString& text);

  /// Shows a view by its name, in front of those at its place, and at least so high.
  void show_view(const QString& name, int height = 0) { layout_.raise(name, height); }
  void hide_view(const QString& name) { layout_.hide(name); }
  /// Lets the user choose files to open.
  void open_dialog();
  /// Makes this the figure of the session, and shows it.
  void show_figure(const QString& label, const FigureChoice& figure);
  /// Says that the maps still show the open trace, and not this file.
  [[nodiscard]] QString shown_in_data_only(const QString& path) const;
  /// Takes over a session from its file.
  void open_session(const SavedSession& saved, const QString& file);
  /// Asks which arrays of a file are q, k and v, and opens it with them.
  void ask_for_arrays(const FoundFile& file);
  /// Adds a file to those that were opened last. The traces of the workspace are added by itself.
  void remember(const QString& file);
  /// Begins another session that belongs to no file. The theme does not change.
  void begin_session(const QString& label, const Session& session);
  /// Fits the view under the pointer, otherwise all views.
  void fit_views() { fit_under_pointer(views_); }
  /// Returns the command line that computes a call on the open trace. It is empty if there is none.
  [[nodiscard]] QString command_of(const Call& call) const;
  /// Copies a text and says that `what` has been copied.
  void copy_text(const QString& text, const QString& what);
  void copy_figure_command(const FigureChoice& figure);

 signals:
  /// The files that were opened last have changed; the newest is the first.
  void recent_changed(const QStringList& files);
  /// The window has become visible.
  void shown();

 protected:
  /// Tab goes over the controls of views that stand behind others.
  bool focusNextPrevChild(bool next) override;
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_views();
  void build_menus();
  void build_file_menu();
  void build_view_menu();
  /// Adds what views offer for a menu.
  void add_view_actions(QMenu* menu, const std::string& name);
  /// Returns what the palette offers in addition to the menus: choices and tools of views.
  [[nodiscard]] QList<QAction*> choices(QObject* owner);
  QAction* add_action(QMenu* menu, const QString& text, const QKeySequence& keys,
                      const std::function<void()>& run);
  void show_session();
  void show_title();
  void apply_session_theme();
  void open_earlier();
  void save_dialog();
  void show_recent();
  void tell_of_operator();

  Backends backends_;
  Document document_;
  DockLayout layout_;
  SessionFile session_file_;
  RecentFiles recent_;
  std::unique_ptr<JobPool> jobs_;
  bool asked_to_stop_ = false;  ///< Whether the user was told that closing stops a run.
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<FileOpener> opener_;
  std::vector<View> views_;
  Banner* banner_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QAction *undo_ = nullptr, *redo_ = nullptr, *earlier_ = nullptr;
  QList<QAction*> actions_;
  QString theme_shown_;
  QString arrays_file_;  ///< The last file whose arrays were assigned to q, k and v.
  QString file_notice_;  ///< The last notice about what is open: a stored result, or a trace.
  bool notice_of_stored_ = false;
  std::string notice_file_;  ///< The file of that trace.
};

}  // namespace conelab::desktop
