#include "widgets/window/main_window.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QCloseEvent>
#include <QDataStream>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QStatusBar>
#include <algorithm>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/data/data_view.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/figures/figures_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/operators/operators_panel.h"
#include "widgets/theme/theme.h"
#include "widgets/window/banner.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/file_kind.h"
#include "widgets/window/job_bar.h"
#include "widgets/window/shortcut_sheet.h"
#include "widgets/window/welcome.h"

namespace conelab::desktop {
namespace {

constexpr int most_recent = 12;

Deliver into_event_loop(QObject* receiver) {
  return [receiver](std::function<void()> call) {
    QMetaObject::invokeMethod(receiver, std::move(call), Qt::QueuedConnection);
  };
}

}  // namespace

MainWindow::MainWindow(Backends backends, const QString& state_directory)
    : backends_(std::move(backends)), state_directory_(state_directory) {
  setObjectName("main-window");
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  jobs_ = std::make_unique<JobPool>(into_event_loop(qApp));
  autosaved_ = std::make_shared<Autosave>();
  workspace_ = std::make_unique<Workspace>(document_, *jobs_);
  apply_session_theme();
  banner_ = new Banner;
  addToolBar(Qt::TopToolBarArea, banner_);
  build_views();
  build_menus();
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addPermanentWidget(new JobBar(*jobs_));
  connect(&document_, &Document::changed, this, &MainWindow::show_session);
  connect(workspace_.get(), &Workspace::failed, this, &MainWindow::show_error);
  connect(workspace_.get(), &Workspace::trace_changed, this, [this] {
    show_session();
    if (workspace_->trace()) remember(QString::fromStdString(workspace_->trace()->file));
  });
  autosave_.setSingleShot(true);
  autosave_.setInterval(1500);
  connect(&autosave_, &QTimer::timeout, this, &MainWindow::autosave);
  resize(1440, 900);
  usual_layout_ = saveState();
  show_recent();
  show_session();
}

// Views hold handles of jobs and refer to the workspace, so they go first.
MainWindow::~MainWindow() {
  disconnect(&document_, nullptr, this, nullptr);
  disconnect(workspace_.get(), nullptr, this, nullptr);
  jobs_->cancel_all();
  qDeleteAll(docks_);
  opening_.cancel();
  jobs_->on_change(nullptr);
}

// ---- building -----------------------------------------------------------------------------------

QDockWidget* MainWindow::add_dock(const QString& name, const QString& title, QWidget* view,
                                  Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setWidget(view);
  view->setWindowTitle(title);
  addDockWidget(area, dock);
  docks_ << dock;
  return dock;
}

void MainWindow::build_views() {
  maps_ = new MapsView(*workspace_);
  operators_ = new OperatorsPanel(document_);
  operators_->setMinimumWidth(260);  // Its fields and the scroll bar beside them.
  data_ = new DataView(*workspace_);
  welcome_ = new Welcome(backends_.shipped_trace);
  QDockWidget* data = add_dock("dock-data", tr("Data"), data_, Qt::LeftDockWidgetArea);
  QDockWidget* operators =
      add_dock("dock-operators", tr("Operators"), operators_, Qt::LeftDockWidgetArea);
  QDockWidget* maps = add_dock("dock-maps", tr("Attention maps"), maps_, Qt::RightDockWidgetArea);
  explorer_ = new ExplorerView(*workspace_);
  QDockWidget* explorer =
      add_dock("dock-explorer", tr("Cone explorer"), explorer_, Qt::RightDockWidgetArea);
  splitDockWidget(maps, explorer, Qt::Horizontal);
  QDockWidget* welcome = add_dock("dock-welcome", tr("Welcome"), welcome_, Qt::RightDockWidgetArea);
  auto* figures = new FiguresView(document_, *jobs_, backends_.draw_figure);
  tabifyDockWidget(maps, add_dock("dock-figures", tr("Figures"), figures, Qt::RightDockWidgetArea));
  connect(figures, &FiguresView::command_wanted, this,
          [this, figures] { copy_figure_command(figures->wanted()); });
  build_benchmarks(maps);
  tabifyDockWidget(maps, welcome);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  resizeDocks({data, operators}, {300, 460}, Qt::Vertical);
  resizeDocks({data, maps, explorer}, {270, 720, 450}, Qt::Horizontal);
  welcome->raise();
  connect(welcome_, &Welcome::example_wanted, this, &MainWindow::start_example);
  connect(welcome_, &Welcome::file_wanted, this, &MainWindow::open);
  connect(welcome_, &Welcome::open_wanted, this, &MainWindow::open_dialog);
  connect(data_, &DataView::trace_wanted, workspace_.get(), &Workspace::open);
  connect(operators_, &OperatorsPanel::command_wanted, this, &MainWindow::copy_command);
  connect(maps_, &MapsView::figure_wanted, this, [this](const FigureChoice& figure) {
    document_.edit(tr("make a figure"), [&](Session& s) { s.figure = figure; });
    raise_view("dock-figures");
  });
  connect(maps_, &MapsView::command_wanted, this, &MainWindow::copy_figure_command);
  connect(explorer_, &ExplorerView::text_copied, this,
          [this](const QString& text) { copy_text(text, tr("Command")); });
  connect(explorer_, &ExplorerView::figure_shown, this, [this] {
    if (auto* dock = findChild<QDockWidget*>("dock-figures")) dock->show(), dock->raise();
  });
  connect(explorer_, &ExplorerView::figure_command_wanted, this, &MainWindow::copy_figure_command);
}

void MainWindow::build_benchmarks(QDockWidget* beside) {
  benchmarks_ = new BenchmarksView(document_, *jobs_, backends_.bench);
  tabifyDockWidget(
      beside, add_dock("dock-benchmarks", tr("Benchmarks"), benchmarks_, Qt::RightDockWidgetArea));
  workspace_->use_devices(backends_.device);
  connect(&benchmarks_->model(), &BenchModel::changed, operators_,
          [this] { operators_->show_devices(benchmarks_->model().devices()); });
  connect(benchmarks_, &BenchmarksView::command_wanted, this,
          [this](const QString& command) { copy_text(command, tr("Command")); });
  connect(benchmarks_, &BenchmarksView::figure_wanted, this, [this](const FigureChoice& figure) {
    document_.edit(tr("export a benchmark"), [&](Session& s) { s.figure = figure; });
    raise_view("dock-figures");
  });
}

QAction* MainWindow::add_action(QMenu* menu, const QString& text, const QKeySequence& keys,
                                const std::function<void()>& run) {
  QAction* action = menu->addAction(text);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, run);
  addAction(action);
  actions_ << action;
  return action;
}

void MainWindow::build_menus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  add_action(file, tr("&Open …"), QKeySequence::Open, [this] { open_dialog(); });
  recent_menu_ = file->addMenu(tr("Open &recent"));
  file->addSeparator();
  add_action(file, tr("&Save session"), QKeySequence::Save,
             [this] { session_file_.isEmpty() ? save_dialog() : save_to(session_file_); });
  add_action(file, tr("Save session &as …"), QKeySequence::SaveAs, [this] { save_dialog(); });
  add_action(file, tr("&New session"), QKeySequence::New, [this] {
    document_.edit(tr("begin a new session"), [](Session& s) {
      const std::string theme = s.theme;
      s = Session();
      s.theme = theme;
    });
    session_file_.clear();
    raise_view("dock-welcome");
  });
  file->addSeparator();
  add_action(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  undo_ = add_action(edit, tr("&Undo"), QKeySequence::Undo, [this] { document_.undo(); });
  redo_ = add_action(edit, tr("&Redo"), QKeySequence::Redo, [this] { document_.redo(); });
  edit->addSeparator();
  add_action(edit, tr("Add &operator"), QKeySequence(tr("Ctrl+Shift+A")),
             [this] { operators_->add_operator(); });
  add_action(edit, tr("&Copy as command"), QKeySequence(tr("Ctrl+Shift+C")), [this] {
    if (!document_.session().maps.calls.empty())
      copy_command(document_.session().maps.calls.front());
  });

  QMenu* view = menuBar()->addMenu(tr("&View"));
  for (QDockWidget* dock : docks_) {
    const QString name = dock->objectName();
    add_action(view, tr("Show %1").arg(dock->windowTitle()), QKeySequence(),
               [this, name] { raise_view(name); });
  }
  view->addSeparator();
  for (const char* theme : {"light", "dark", "system"}) {
    add_action(view, tr("Theme: %1").arg(tr(theme)), QKeySequence(), [this, theme] {
      document_.edit(tr("change the theme"), [theme](Session& s) { s.theme = theme; });
    });
  }
  add_action(view, tr("Only the view in front"), QKeySequence(tr("Ctrl+M")),
             [this] { toggle_single_view(); });
  add_action(view, tr("Usual layout"), QKeySequence(), [this] {
    before_single_.clear();
    restoreState(usual_layout_);
  });
  add_action(view, tr("Full screen"), QKeySequence::FullScreen,
             [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add_action(help, tr("Command &palette"), QKeySequence(tr("Ctrl+Shift+P")),
             [this] { (new CommandPalette(actions_, this))->show(); });
  add_action(help, tr("&Shortcuts"), QKeySequence(tr("?")),
             [this] { (new ShortcutSheet(actions_, this))->show(); });
}

// ---- the session --------------------------------------------------------------------------------

void MainWindow::apply_session_theme() {
  const QString theme = QString::fromStdString(document_.session().theme);
  if (theme == theme_shown_) return;
  theme_shown_ = theme;
  apply_theme(*qApp, theme);
}

void MainWindow::show_session() {
  apply_session_theme();
  const History& history = document_.history();
  undo_->setEnabled(history.can_undo());
  redo_->setEnabled(history.can_redo());
  undo_->setText(tr("&Undo %1").arg(QString::fromStdString(history.undo_label())).trimmed());
  redo_->setText(tr("&Redo %1").arg(QString::fromStdString(history.redo_label())).trimmed());
  const TraceChoice& trace = document_.session().trace;
  const QString name = QFileInfo(QString::fromStdString(trace.file)).fileName() +
                       (trace.group.empty() ? "" : ":" + QString::fromStdString(trace.group));
  setWindowTitle(name.isEmpty() ? tr("Conelab") : tr("%1 — Conelab").arg(name));
  if (!state_directory_.isEmpty()) autosave_.start();
}

void MainWindow::raise_view(const QString& dock) {
  for (QDockWidget* each : docks_) {
    if (each->objectName() != dock) continue;
    each->show();
    each->raise();
    each->widget()->setFocus();
  }
}

QDockWidget* MainWindow::view_in_front() const {
  const QWidget* focus = QApplication::focusWidget();
  const auto holds = [&](const QDockWidget* dock) {
    return focus != nullptr && dock->isAncestorOf(focus);
  };
  const auto seen = [](const QDockWidget* dock) {
    return dock->isVisible() && !dock->visibleRegion().isEmpty();
  };
  auto found = std::find_if(docks_.begin(), docks_.end(), holds);
  if (found == docks_.end()) found = std::find_if(docks_.begin(), docks_.end(), seen);
  return found == docks_.end() ? nullptr : *found;
}

void MainWindow::toggle_single_view() {
  if (!before_single_.isEmpty()) {
    restoreState(before_single_);
    before_single_.clear();
    return;
  }
  QDockWidget* front = view_in_front();
  if (front == nullptr) return;
  before_single_ = saveState();
  for (QDockWidget* dock : docks_) dock->setVisible(dock == front);
}

QByteArray MainWindow::layout() const {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << saveGeometry() << saveState();
  return bytes;
}

bool MainWindow::restore_layout(const QByteArray& layout) {
  QByteArray geometry, state;
  QDataStream stream(layout);
  stream >> geometry >> state;
  restoreGeometry(geometry);
  // Widths of docks hold only once the window has its size on the screen.
  if (!isVisible()) shown_later_ = layout;
  return restoreState(state);
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  benchmarks_->model().find_devices();
  if (shown_later_.isEmpty()) return;
  QMetaObject::invokeMethod(
      this, [this, later = std::exchange(shown_later_, {})] { restore_layout(later); },
      Qt::QueuedConnection);
}

void MainWindow::start_example(int index) {
  const std::vector<Example> all = examples(backends_.shipped_trace);
  const Example& example = all.at(static_cast<std::size_t>(index));
  document_.edit(tr("open an example"), [&](Session& s) {
    const std::string theme = s.theme;
    s = example.session;
    s.theme = theme;
  });
  session_file_.clear();
  raise_view("dock-maps");
}

QString MainWindow::state_file(const char* name) const {
  return QDir(state_directory_).filePath(QLatin1String(name));
}

/// What the autosave keeps, in the file or on its way there; the newest wins.
struct MainWindow::Autosave {
  std::mutex mutex;
  std::uint64_t written = 0;

  void write(std::uint64_t number, const SavedSession& saved, const QString& path) {
    const std::lock_guard lock(mutex);
    if (number <= written) return;
    save_session(saved, path);
    written = number;
  }
};

/// In a job: a file that is safe from a crash waits for the disk.
void MainWindow::autosave() {
  if (state_directory_.isEmpty()) return;
  QDir().mkpath(state_directory_);
  saving_ = jobs_->start<bool>(
      "keeping the session",
      [saver = autosaved_, number = ++autosaves_, path = state_file("autosave.json"),
       saved = SavedSession{document_.session(), layout()}](const JobContext&) {
        saver->write(number, saved, path);
        return true;
      },
      [this](bool) { saving_.finished(); },
      [this](const std::string& message) {
        saving_.finished();
        statusBar()->showMessage(QString::fromStdString(message), 8000);
      });
}

/// At the end there is no job to wait for.
void MainWindow::autosave_now() {
  if (state_directory_.isEmpty()) return;
  QDir().mkpath(state_directory_);
  try {
    autosaved_->write(++autosaves_, {document_.session(), layout()}, state_file("autosave.json"));
  } catch (const Error&) {
    // Nobody is left to be told.
  }
}

void MainWindow::save_to(const QString& file) {
  saving_to_ = jobs_->start<bool>(
      "saving " + QFileInfo(file).fileName().toStdString(),
      [file, saved = SavedSession{document_.session(), layout()}](const JobContext&) {
        save_session(saved, file);
        return true;
      },
      [this, file](bool) {
        saving_to_.finished();
        session_file_ = file;
        remember(file);
        statusBar()->showMessage(tr("%1 is saved.").arg(file), 4000);
      },
      [this](const std::string& message) {
        saving_to_.finished();
        show_error(QString::fromStdString(message));
      },
      true);
}

bool MainWindow::restore_autosave() {
  if (state_directory_.isEmpty() || !QFile::exists(state_file("autosave.json"))) return false;
  try {
    SavedSession saved = load_session(state_file("autosave.json"));
    document_.replace(std::move(saved.session));
    restore_layout(saved.layout);
    return true;
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.what()));
    return false;
  }
}

void MainWindow::open_session(const QString& file) {
  try {
    SavedSession saved = load_session(file);
    document_.replace(std::move(saved.session));
    if (!restore_layout(saved.layout)) raise_view("dock-maps");
    session_file_ = file;
    remember(file);
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.what()));
  }
}

// ---- files --------------------------------------------------------------------------------------

void MainWindow::open(const QString& file) {
  banner_->hide();
  const InputSpec spec = QFileInfo::exists(file) ? InputSpec{file.toStdString(), ""}
                                                 : parse_input_spec(file.toStdString());
  const QString path = QFileInfo(QString::fromStdString(spec.path)).absoluteFilePath();
  const QString group = QString::fromStdString(spec.group);
  if (!group.isEmpty()) {
    workspace_->open(path, group);
    return raise_view("dock-maps");
  }
  if (is_session_file(path)) return open_session(path);
  opening_ = jobs_->start<FoundFile>(
      "opening " + QFileInfo(file).fileName().toStdString(),
      [name = path.toStdString()](const JobContext& context) {
        return kind_of_file(name, context.cancel_check());
      },
      [this, path](const FoundFile& found) {
        opening_.finished();
        const FileKind kind = found.kind;
        if (kind == FileKind::result) show_result(path, found.quantity, found.made_of);
        if (kind == FileKind::trace) {
          workspace_->open(path);
          return raise_view("dock-maps");
        }
        if (kind == FileKind::benchmark) {
          benchmarks_->model().open(path.toStdString());
          remember(path);
          return raise_view("dock-benchmarks");
        }
        data_->show_file(path);
        if (found.quantity.empty()) raise_view("dock-data");
        remember(path);
      },
      [this](const std::string& message) {
        opening_.finished();
        show_error(QString::fromStdString(message));
      },
      true);
}

/// The figure of its stored map, as `conelab figure heatmap` draws it, and a way to its trace.
void MainWindow::show_result(const QString& path, const std::string& quantity,
                             const std::string& made_of) {
  if (!quantity.empty()) {
    document_.edit(tr("open a result"), [&](Session& s) {
      s.figure = {};
      s.figure.inputs = {path.toStdString()};
      if (quantity != "weights") s.figure.parameters["quantity"] = quantity;
    });
    raise_view("dock-figures");
  }
  const QString trace = QString::fromStdString(made_of);
  const QString name = QFileInfo(path).fileName();
  const QString text = quantity.empty()
                           ? tr("%1 is a result of attend without weights or logits.").arg(name)
                           : tr("%1 is a result of attend: its stored %2 are in Figures.")
                                 .arg(name, QString::fromStdString(quantity));
  if (trace.isEmpty()) return banner_->show_notice(text);
  const InputSpec spec = parse_input_spec(made_of);
  const QString file = QFileInfo(QString::fromStdString(spec.path)).fileName();
  const QString group = spec.group.empty() ? "" : ":" + QString::fromStdString(spec.group);
  banner_->show_notice(text, tr("Open its trace, %1").arg(file + group),
                       [this, trace] { open(trace); });
}

void MainWindow::open_dialog() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Open"), {},
                                   tr("Traces, results, sessions (*.h5 *.hdf5 *.npz *.npy "
                                      "*.safetensors *.json);;All files (*)"));
  if (!file.isEmpty()) open(file);
}

void MainWindow::save_dialog() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Save session"), "session.json",
                                                    tr("Sessions (*.json)"));
  if (!file.isEmpty()) save_to(file);
}

QStringList MainWindow::recent() const {
  QFile file(state_file("recent.txt"));
  if (state_directory_.isEmpty() || !file.open(QIODevice::ReadOnly)) return {};
  return QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts);
}

void MainWindow::remember(const QString& path) {
  QStringList files = recent();
  if (!files.isEmpty() && files.front() == path) return;
  files.removeAll(path);
  files.prepend(path);
  if (!state_directory_.isEmpty()) {
    QDir().mkpath(state_directory_);
    QFile file(state_file("recent.txt"));
    if (file.open(QIODevice::WriteOnly)) file.write(files.mid(0, most_recent).join('\n').toUtf8());
  }
  show_recent();
}

void MainWindow::show_recent() {
  const QStringList files = recent();
  recent_menu_->clear();
  recent_menu_->setEnabled(!files.isEmpty());
  for (const QString& file : files) {
    connect(recent_menu_->addAction(file), &QAction::triggered, this, [this, file] { open(file); });
  }
  welcome_->show_recent(files);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    url.isLocalFile()
        ? open(url.toLocalFile())
        : show_error(tr("%1: only files on this machine can be opened").arg(url.toDisplayString()));
  }
  event->acceptProposedAction();
}

// ---- messages -----------------------------------------------------------------------------------

void MainWindow::show_error(const QString& message) { banner_->show_error(message); }

QString MainWindow::error_shown() const {
  return banner_->shows_error() ? banner_->text() : QString();
}

QString MainWindow::notice_shown() const {
  return banner_->shows_error() ? QString() : banner_->text();
}

void MainWindow::copy_text(const QString& text, const QString& what) {
  QGuiApplication::clipboard()->setText(text);
  statusBar()->showMessage(tr("%1 copied: %2").arg(what, text), 6000);
}

void MainWindow::copy_figure_command(const FigureChoice& figure) {
  if (!backends_.figure_command) return;
  copy_text(QString::fromStdString(backends_.figure_command(figure)), tr("Command"));
}

void MainWindow::copy_command(const Call& call) {
  if (!backends_.attend_command || document_.session().trace.file.empty()) return;
  copy_text(QString::fromStdString(backends_.attend_command(document_.session().trace, call)),
            tr("Command"));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  jobs_->cancel_all();
  autosave_now();
  event->accept();
}

}  // namespace conelab::desktop
