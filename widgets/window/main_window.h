// The main window: docks of views over one session, menus, palette, autosave.
#pragma once

#include <QMainWindow>
#include <QTimer>
#include <memory>

#include "widgets/jobs/job_pool.h"
#include "widgets/session/document.h"
#include "widgets/session/session_json.h"
#include "widgets/trace/workspace.h"
#include "widgets/window/backends.h"

namespace conelab::desktop {

class Banner;
class BenchmarksView;
class DataView;
class ExplorerView;
class MapsView;
class OperatorsPanel;
class Welcome;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `state_directory` holds autosave and recent files; empty: nothing is kept.
  MainWindow(Backends backends, const QString& state_directory);
  ~MainWindow() override;

  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  [[nodiscard]] MapsView& maps() { return *maps_; }
  [[nodiscard]] ExplorerView& explorer() { return *explorer_; }
  [[nodiscard]] BenchmarksView& benchmarks() { return *benchmarks_; }

  /// A trace, a result or a session, whatever it turns out to be. What cannot be read is told in
  /// the window, and the session stays as it is.
  void open(const QString& file);
  /// The session of last time, where there is one; true where it was restored.
  bool restore_autosave();
  /// The error in the banner; empty where none is shown.
  [[nodiscard]] QString error_shown() const;
  /// The notice there.
  [[nodiscard]] QString notice_shown() const;
  void show_error(const QString& message);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_views();
  void build_benchmarks(QDockWidget* beside);
  void build_menus();
  QAction* add_action(QMenu* menu, const QString& text, const QKeySequence& keys,
                      const std::function<void()>& run);
  QDockWidget* add_dock(const QString& name, const QString& title, QWidget* view,
                        Qt::DockWidgetArea area);
  void raise_view(const QString& dock);
  /// The view that has the keyboard, else the first that is seen.
  [[nodiscard]] QDockWidget* view_in_front() const;
  void toggle_single_view();
  /// Place and size of the window and its docks; restoring is false where the bytes say nothing.
  [[nodiscard]] QByteArray layout() const;
  bool restore_layout(const QByteArray& layout);
  void show_session();
  void apply_session_theme();
  void open_dialog();
  void save_dialog();
  void open_session(const QString& file);
  void start_example(int index);
  void show_result(const QString& path, const std::string& quantity, const std::string& made_of);
  void remember(const QString& file);
  [[nodiscard]] QStringList recent() const;
  void show_recent();
  void autosave();
  void autosave_now();
  void save_to(const QString& file);
  void copy_command(const Call& call);
  void copy_figure_command(const FigureChoice& figure);
  void copy_text(const QString& text, const QString& what);
  [[nodiscard]] QString state_file(const char* name) const;

  Backends backends_;
  QString state_directory_;
  Document document_;
  std::unique_ptr<JobPool> jobs_;
  std::unique_ptr<Workspace> workspace_;
  JobHandle opening_, saving_, saving_to_;
  MapsView* maps_ = nullptr;
  BenchmarksView* benchmarks_ = nullptr;
  DataView* data_ = nullptr;
  ExplorerView* explorer_ = nullptr;
  OperatorsPanel* operators_ = nullptr;
  Welcome* welcome_ = nullptr;
  Banner* banner_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QAction *undo_ = nullptr, *redo_ = nullptr;
  QList<QAction*> actions_;
  QList<QDockWidget*> docks_;
  QString session_file_;
  QString theme_shown_;
  QByteArray usual_layout_;   ///< As the window first looks.
  QByteArray shown_later_;    ///< A layout restored before the window was seen.
  QByteArray before_single_;  ///< The layout before one view took all; empty: none did.
  QTimer autosave_;
  struct Autosave;
  std::shared_ptr<Autosave> autosaved_;
  std::uint64_t autosaves_ = 0;
};

}  // namespace conelab::desktop
