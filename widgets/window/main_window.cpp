#include "widgets/window/main_window.h"

#include <QActionGroup>
#include <QApplication>
#include <QBoxLayout>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QScreen>
#include <QScrollArea>
#include <QStatusBar>
#include <utility>

#include "core/base/error.h"
#include "core/figure/figure_table.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/data/data_view.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/figures/figures_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/operators/operators_panel.h"
#include "widgets/studies/studies_view.h"
#include "widgets/theme/theme.h"
#include "widgets/window/banner.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/file_opener.h"
#include "widgets/window/guide.h"
#include "widgets/window/view_keys.h"

namespace conelab::desktop {
namespace {

Deliver into_event_loop(QObject* receiver) {
  return [receiver](std::function<void()> call) {
    QMetaObject::invokeMethod(receiver, std::move(call), Qt::QueuedConnection);
  };
}

/// Returns the path of a file with state of the program; empty if nothing is stored.
QString state_file(const QString& directory, const char* name) {
  return directory.isEmpty() ? QString() : QDir(directory).filePath(QLatin1String(name));
}

/// Returns a view with scroll bars, so that it does not determine the width of the window.
QWidget* scrolled(QWidget* view) {
  auto* scroll = new QScrollArea;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setWidget(view);
  scroll->setFocusProxy(view);
  return scroll;
}

constexpr int guide_height = 420;  ///< Space for the steps of an example.

}  // namespace

MainWindow::MainWindow(Backends backends, const QString& state_directory)
    : backends_(std::move(backends)),
      layout_(*this),
      session_file_(
          [this] {
            return SavedSession{document_.session(), layout_.state()};
          },
          state_file(state_directory, "autosave.json")),
      recent_(state_file(state_directory, "recent.txt")) {
  setObjectName("main-window");
  new InputRules(this);
  new ToolTips(this);
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  jobs_ = std::make_unique<JobPool>(into_event_loop(qApp));
  workspace_ = std::make_unique<Workspace>(document_, *jobs_);
  apply_session_theme();
  banner_ = new Banner;
  addToolBar(Qt::TopToolBarArea, banner_);
  build_views();
  build_menus();
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addPermanentWidget(new JobBar(*jobs_));
  connect(&document_, &Document::changed, this, &MainWindow::show_session);
  connect(workspace_.get(), &Workspace::failed, this, [this](const QString& message) {
    const bool stays = workspace_->trace() && !arrays_file_.isEmpty();
    const bool chosen = stays && message.startsWith(arrays_file_);
    show_error(chosen ? message + " · " + shown_in_data_only(arrays_file_) : message);
  });
  connect(workspace_.get(), &Workspace::trace_changed, this, [this] {
    show_session();
    const auto& trace = workspace_->trace();
    if (!trace) return;
    remember(QString::fromStdString(trace->file));
    // What a notice says of a stored result is not true of another file, for instance after undo.
    const bool of_another = !trace->stored && !stored_notice_.isEmpty();
    if (of_another && notice_shown() == stored_notice_) banner_->hide();
  });
  connect(&session_file_, &SessionFile::saved, this, [this](const QString& file) {
    remember(file);
    show_title();
    statusBar()->showMessage(tr("%1 is saved.").arg(file), 4000);
  });
  connect(&session_file_, &SessionFile::failed, this, &MainWindow::show_error);
  connect(&session_file_, &SessionFile::autosave_failed, this,
          [this](const QString& message) { statusBar()->showMessage(message, 8000); });
  show_recent();
  show_session();
}

// Views hold handles of jobs and refer to the workspace, so they are destroyed first.
MainWindow::~MainWindow() {
  disconnect(&document_, nullptr, this, nullptr);
  disconnect(workspace_.get(), nullptr, this, nullptr);
  jobs_->cancel_all();
  layout_.clear();
  jobs_->on_change(nullptr);
}

// ---- building -----------------------------------------------------------------------------------

void MainWindow::build_views() {
  maps_ = new MapsView(*workspace_);
  operators_ = new OperatorsPanel(document_);
  operators_->setMinimumWidth(240);  // Space for its fields and the scroll bar.
  data_ = new DataView(*workspace_);
  welcome_ = new Welcome(backends_.shipped_trace);
  guide_ = new Guide(document_, maps_->model());
  explorer_ = new ExplorerView(*workspace_);
  figures_ = new FiguresView(document_, *jobs_, backends_.draw_figure);
  benchmarks_ = new BenchmarksView(document_, *jobs_, backends_.bench);
  workspace_->use_devices(backends_.device);
  studies_ = new StudiesView(document_, *jobs_, backends_.studies);
  opener_ =
      std::make_unique<FileOpener>(*workspace_, benchmarks_->model(), studies_->model(), *data_);
  place_views();
  connect_views();
  connect_opener();
}

void MainWindow::place_views() {
  const auto right = Qt::RightDockWidgetArea, left = Qt::LeftDockWidgetArea;
  QDockWidget* data = layout_.add("dock-data", tr("Data"), data_, left);
  QDockWidget* operators = layout_.add("dock-operators", tr("Operators"), operators_, left);
  QDockWidget* guide = layout_.add("dock-guide", tr("Guide"), guide_, left);
  tabifyDockWidget(data, guide);
  guide->hide();
  QDockWidget* maps = layout_.add("dock-maps", tr("Attention maps"), maps_, right);
  QDockWidget* explorer = layout_.add("dock-explorer", tr("Cone explorer"), explorer_, right);
  splitDockWidget(maps, explorer, Qt::Horizontal);
  QDockWidget* welcome = layout_.add("dock-welcome", tr("Welcome"), welcome_, right);
  tabifyDockWidget(maps, layout_.add("dock-figures", tr("Figures"), figures_, right));
  tabifyDockWidget(maps,
                   layout_.add("dock-benchmarks", tr("Benchmarks"), scrolled(benchmarks_), right));
  tabifyDockWidget(maps, layout_.add("dock-studies", tr("Studies"), studies_, right));
  tabifyDockWidget(maps, welcome);
  layout_.make_wide({"dock-figures", "dock-benchmarks", "dock-studies"});
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  resize(first_size(*this));
  resizeDocks({data, operators}, {300, 460}, Qt::Vertical);
  welcome->raise();
  layout_.make_usual({{data, 242}, {operators, 242}, {welcome, 772}, {explorer, 416}});
}

void MainWindow::connect_views() {
  connect(welcome_, &Welcome::example_wanted, this, &MainWindow::start_example);
  connect(guide_, &Guide::closed, this, [this] { layout_.hide("dock-guide"); });
  connect(workspace_.get(), &Workspace::trace_changed, operators_, [this] {
    const auto& trace = workspace_->trace();
    operators_->setEnabled(!trace || !trace->stored);  // They do not act on stored maps.
  });
  connect(welcome_, &Welcome::file_wanted, this, &MainWindow::open_one);
  connect(welcome_, &Welcome::open_wanted, this, &MainWindow::open_dialog);
  connect(data_, &DataView::trace_wanted, this, [this](const QString& file, const QString& group) {
    const auto& trace = workspace_->trace();
    const bool open = trace && QString::fromStdString(trace->file) == file;
    open ? workspace_->open_group(group.toStdString()) : workspace_->open(file, group);
    layout_.raise("dock-maps");
  });
  connect(operators_, &OperatorsPanel::command_wanted, this, &MainWindow::copy_command);
  connect(maps_, &MapsView::figure_wanted, this,
          [this](const FigureChoice& figure) { show_figure(tr("make a figure"), figure); });
  connect(maps_, &MapsView::command_wanted, this, &MainWindow::copy_figure_command);
  connect(maps_, &MapsView::cell_commands_wanted, this, &MainWindow::copy_cell_commands);
  connect(figures_, &FiguresView::command_wanted, this,
          [this] { copy_figure_command(figures_->wanted()); });
  const auto copy = [this](const QString& text) { copy_text(text, tr("Command")); };
  connect(explorer_, &ExplorerView::text_copied, this, copy);
  connect(explorer_, &ExplorerView::figure_shown, this, [this](const QString& left_out) {
    layout_.raise("dock-figures");
    if (!left_out.isEmpty()) banner_->show_notice(left_out);
  });
  connect(explorer_, &ExplorerView::figure_command_wanted, this, &MainWindow::copy_figure_command);
  connect(&benchmarks_->model(), &BenchModel::changed, operators_,
          [this] { operators_->show_devices(benchmarks_->model().devices()); });
  connect(benchmarks_, &BenchmarksView::command_wanted, this, copy);
  connect(benchmarks_, &BenchmarksView::figure_wanted, this,
          [this](const FigureChoice& figure) { show_figure(tr("export a benchmark"), figure); });
  connect(studies_, &StudiesView::file_wanted, this, &MainWindow::open_one);
  connect(studies_, &StudiesView::command_wanted, this, copy);
  connect(studies_, &StudiesView::page_wanted, this, [this](const QString& file) {
    if (!backends_.show_elsewhere || !backends_.show_elsewhere(file)) {
      banner_->show_notice(tr("No other program here shows %1.").arg(file));
    }
  });
}

void MainWindow::connect_opener() {
  connect(opener_.get(), &FileOpener::failed, this, &MainWindow::show_error);
  connect(opener_.get(), &FileOpener::opened, this, &MainWindow::remember);
  connect(opener_.get(), &FileOpener::more_traces_found, &maps_->model().second(),
          &SecondTrace::offer);
  connect(opener_.get(), &FileOpener::view_wanted, &layout_, &DockLayout::raise);
  connect(opener_.get(), &FileOpener::arrays_found, this, [this](const FoundFile& file) {
    const auto* dialog = ask_for_arrays(file);
    connect(dialog, &ArraysDialog::chosen, this,
            [this](const QString& path, const QString& group, const ArrayNames& arrays) {
              arrays_file_ = path;
              workspace_->open(path, group, arrays);
              layout_.raise("dock-maps");
            });
    connect(dialog, &QDialog::rejected, this, [this, path = file.path] {
      if (workspace_->trace()) banner_->show_notice(shown_in_data_only(path));
    });
  });
  SecondTrace& second = maps_->model().second();
  connect(&second, &SecondTrace::arrays_wanted, opener_.get(), &FileOpener::find_arrays);
  connect(opener_.get(), &FileOpener::compared_arrays_found, this,
          [this, &second](const FoundFile& file) {
            connect(ask_for_arrays(file), &ArraysDialog::chosen, &second,
                    &SecondTrace::choose_file);
          });
  connect(
      opener_.get(), &FileOpener::notice, this, [this](const QString& text, const QString& trace) {
        if (trace.isEmpty()) return banner_->show_notice(text);
        stored_notice_ = text;
        const InputSpec spec = parse_input_spec(trace.toStdString());
        const QString file = QFileInfo(QString::fromStdString(spec.path)).fileName();
        const QString group = QString::fromStdString((spec.group.empty() ? "" : ":") + spec.group);
        banner_->show_notice(text, tr("Open its trace, %1").arg(file + group),
                             [this, trace] { open_one(trace); });
      });
  connect(opener_.get(), &FileOpener::session_found, this,
          [this](const SavedSession& saved, const QString& file) {
            Session session = saved.session;
            if (session.theme == Session().theme) session.theme = document_.session().theme;
            session_file_.came_from(file);
            document_.replace(std::move(session));
            if (!layout_.restore(saved.layout)) layout_.raise("dock-maps");
          });
}

ArraysDialog* MainWindow::ask_for_arrays(const FoundFile& file) {
  auto* dialog = new ArraysDialog(file, this);
  dialog->open();
  return dialog;
}

QString MainWindow::shown_in_data_only(const QString& path) const {
  const QString open = QString::fromStdString(workspace_->trace()->file);
  return tr("%1 is shown in Data only; the maps still show %2.")
      .arg(QFileInfo(path).fileName(), QFileInfo(open).fileName());
}

void MainWindow::show_figure(const QString& label, const FigureChoice& figure) {
  document_.edit(label, [&](Session& s) { s.figure = figure; });
  layout_.raise("dock-figures");
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
  build_file_menu();
  build_edit_menu();
  build_view_menu();
  QMenu* go = menuBar()->addMenu(tr("&Go"));
  auto* keys = new ViewKeys(*workspace_, *maps_, *explorer_, this);
  for (const ViewKeys::Key& key : keys->keys()) {
    QAction* action = add_action(go, key.text, key.keys, key.run);
    if (key.keys == QKeySequence(Qt::Key_R)) action->setAutoRepeat(false);
  }
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add_action(help, tr("Command &palette"), QKeySequence(tr("Ctrl+Shift+P")), [this] {
    auto* owner = new QObject(this);
    auto* palette = new CommandPalette(actions_ + choices(owner), this);
    connect(palette, &QObject::destroyed, owner, &QObject::deleteLater);
    palette->show();
  });
  add_action(help, tr("&Shortcuts"), QKeySequence(tr("?")),
             [this] { (new ShortcutSheet(actions_, this))->show(); });
}

QList<QAction*> MainWindow::choices(QObject* owner) {
  QList<QAction*> all;
  const auto add = [&](const QString& text, const std::function<void()>& run) {
    auto* action = new QAction(text, owner);
    connect(action, &QAction::triggered, this, run);
    all << action;
  };
  if (const auto seen = maps_->figure()) {
    add(tr("Export the maps as a figure"),
        [this, figure = *seen] { show_figure(tr("make a figure"), figure); });
  }
  const auto raise = [this](const char* dock) { return [this, dock] { layout_.raise(dock); }; };
  all += tool_actions(*maps_, tr("Maps"), raise("dock-maps"), owner);
  all += tool_actions(*explorer_, tr("Explorer"), raise("dock-explorer"), owner);
  for (const std::string& name : operator_names()) {
    add(tr("Add operator %1").arg(QString::fromStdString(name)),
        [this, name] { operators_->add_operator(name); });
  }
  for (const figure::FigureInfo& info : figure::figure_table()) {
    add(tr("Figure %1").arg(info.name), [this, name = std::string(info.name)] {
      FigureChoice figure;
      figure.name = name;
      show_figure(tr("choose a figure"), figure);
    });
  }
  int index = 0;
  for (const Example& example : examples(backends_.shipped_trace)) {
    add(tr("Example: %1").arg(QString::fromUtf8(example.title)),
        [this, at = index++] { start_example(at); });
  }
  return all;
}

void MainWindow::build_file_menu() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  add_action(file, tr("&Open …"), QKeySequence::Open, [this] { open_dialog(); });
  recent_menu_ = file->addMenu(tr("Open &recent"));
  file->addSeparator();
  add_action(file, tr("&Save session"), QKeySequence::Save,
             [this] { session_file_.path().isEmpty() ? save_dialog() : session_file_.save(); });
  add_action(file, tr("Save session &as …"), QKeySequence(tr("Ctrl+Shift+S")),
             [this] { save_dialog(); });
  add_action(file, tr("&New session"), QKeySequence::New, [this] {
    begin_session(tr("begin a new session"), Session());
    layout_.raise("dock-welcome");
  });
  earlier_ = add_action(file, tr("&Earlier session"), QKeySequence(), [this] { open_earlier(); });
  earlier_->setToolTip(tr("The session of the run before this one, which began with a file"));
  earlier_->setEnabled(!session_file_.earlier().isEmpty());
  file->addSeparator();
  add_action(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
}

void MainWindow::build_edit_menu() {
  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  undo_ = add_action(edit, tr("&Undo"), QKeySequence::Undo, [this] { document_.undo(); });
  redo_ = add_action(edit, tr("&Redo"), QKeySequence::Redo, [this] { document_.redo(); });
  edit->addSeparator();
  add_action(edit, tr("Add &operator"), QKeySequence(tr("Ctrl+Shift+A")),
             [this] { operators_->add_operator(); });
  add_action(edit, tr("&Find a token"), QKeySequence::Find, [this] {
    layout_.raise("dock-maps");
    maps_->find_token();
  });
  add_action(edit, tr("&Copy as command"), QKeySequence(tr("Ctrl+Shift+C")), [this] {
    QStringList commands;
    const auto& trace = workspace_->trace();
    if (trace && trace->stored) return copy_stored_command(*trace);
    for (const Call& call : document_.session().maps.calls) commands << command_of(call);
    commands.removeAll(QString());
    if (commands.isEmpty()) return;
    const auto& maps = document_.session().maps;
    const bool is_alone = !maps.beside && maps.join == figure::head_joins[0];
    copy_text(commands.join('\n'),
              is_alone ? tr("Commands")
                       : tr("Commands of the open head (what is compared or joined is in the "
                            "command of the figure)"));
  });
}

void MainWindow::build_view_menu() {
  QMenu* view = menuBar()->addMenu(tr("&View"));
  const auto add_marked = [&](const QString& text, const std::function<bool()>& marked,
                              const std::function<void()>& run) {
    QAction* action = add_action(view, text, QKeySequence(), run);
    action->setCheckable(true);
    connect(view, &QMenu::aboutToShow, action, [=] { action->setChecked(marked()); });
    return action;
  };
  for (const QDockWidget* dock : layout_.docks()) {
    const auto is_seen = [dock] { return !dock->visibleRegion().isEmpty(); };
    add_marked(tr("Show %1").arg(dock->windowTitle()), is_seen,
               [this, name = dock->objectName()] { layout_.raise(name); });
  }
  view->addSeparator();
  auto* one_theme = new QActionGroup(view);
  for (const char* theme : themes) {
    const auto is_chosen = [this, theme] { return document_.session().theme == theme; };
    QAction* action = add_marked(tr("Theme: %1").arg(tr(theme)), is_chosen, [this, theme] {
      document_.edit(tr("change the theme"), [theme](Session& s) { s.theme = theme; });
    });
    one_theme->addAction(action);
  }
  add_action(view, tr("Only the view in front"), QKeySequence(tr("Ctrl+M")),
             [this] { layout_.toggle_single(); });
  add_action(view, tr("Usual layout"), QKeySequence(), [this] { layout_.restore_usual(); });
  add_action(view, tr("Full screen"), QKeySequence(tr("F11")),
             [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
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
  show_title();
  session_file_.changed();
}

/// The title names the trace, and the session if that has a file.
void MainWindow::show_title() {
  const TraceChoice& trace = document_.session().trace;
  const QString group = QString::fromStdString((trace.group.empty() ? "" : ":") + trace.group);
  QStringList parts = {QFileInfo(QString::fromStdString(trace.file)).fileName() + group,
                       QFileInfo(session_file_.path()).fileName(), tr("Conelab")};
  parts.removeAll(QString());
  setWindowTitle(parts.join(QStringLiteral(" — ")));
}

void MainWindow::begin_session(const QString& label, const Session& session) {
  banner_->hide();
  session_file_.came_from({});
  Session next = session, untouched;
  next.theme = untouched.theme = document_.session().theme;
  // Undo does not lead back to the empty session of the start.
  const bool at_start = !document_.history().can_undo() && document_.session() == untouched;
  if (at_start) return document_.replace(std::move(next));
  document_.edit(label, [&](Session& s) { s = std::move(next); });
}

/// The session takes the place of this one, which undo brings back.
void MainWindow::open_earlier() {
  try {
    const SavedSession saved = load_session(session_file_.earlier());
    begin_session(tr("open the earlier session"), saved.session);
    if (!layout_.restore(saved.layout)) layout_.raise("dock-maps");
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.what()));
  }
}

void MainWindow::start_example(int index) {
  const std::vector<Example> all = examples(backends_.shipped_trace);
  const Example& example = all.at(static_cast<std::size_t>(index));
  begin_session(tr("open an example"), example.session);
  guide_->start(example);
  layout_.raise("dock-guide");
  layout_.make_high("dock-guide", guide_height);
  layout_.raise("dock-maps");
}

bool MainWindow::restore_autosave() {
  try {
    std::optional<SavedSession> saved = session_file_.last_time();
    if (!saved) return false;
    document_.replace(std::move(saved->session));
    layout_.restore(saved->layout);
    return true;
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.what()));
    return false;
  }
}

void MainWindow::restore_theme() {
  try {
    const std::optional<SavedSession> saved = session_file_.last_time();
    if (!saved) return;
    session_file_.keep_last_time();
    earlier_->setEnabled(!session_file_.earlier().isEmpty());
    Session session = document_.session();
    session.theme = saved->session.theme;
    document_.replace(std::move(session));
  } catch (const Error&) {
    return;  // `restore_autosave` reports the error; without it only the theme is missing.
  }
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  benchmarks_->model().find_devices();
}

/// The window stays open while a sweep runs, or if a file could not be saved. A second attempt
/// closes it.
void MainWindow::closeEvent(QCloseEvent* event) {
  const bool measures = benchmarks_->model().running(), computes = studies_->model().running();
  if ((measures || computes) && !std::exchange(asked_to_stop_, true)) {
    banner_->show_notice(
        measures ? tr("A sweep is running. Close again to stop it; its samples so far are "
                      "kept, and Resume goes on with them.")
                 : tr("A study is running. Close again to stop it; its finished jobs are kept, "
                      "and Run goes on with the others."));
    return event->ignore();
  }
  if (!session_file_.close()) return event->ignore();
  jobs_->cancel_all();
  event->accept();
}

// ---- files --------------------------------------------------------------------------------------

void MainWindow::open(const QStringList& files) {
  banner_->hide();
  opener_->open(files);
}

void MainWindow::open_dialog() {
  open(ask_for_files(this, tr("Open"),
                     tr("Traces, results, sessions, studies (*.h5 *.hdf5 *.npz *.npy "
                        "*.safetensors *.json *.toml);;All files (*)")));
}

void MainWindow::save_dialog() {
  const QString& path = session_file_.path();
  const QString file =
      ask_where_to_write(this, tr("Save session"), path.isEmpty() ? "session.json" : path,
                         tr("Sessions (*.json);;All files (*)"));
  if (!file.isEmpty()) session_file_.save_as(file);
}

void MainWindow::remember(const QString& file) {
  try {
    recent_.add(file);
  } catch (const Error& error) {  // A short notice is enough.
    statusBar()->showMessage(QString::fromStdString(error.what()), 8000);
  }
  show_recent();
}

void MainWindow::show_recent() {
  const QStringList files = recent_.all();
  if (!files.isEmpty()) begin_dialogs_beside(files.front());
  recent_menu_->clear();
  recent_menu_->setEnabled(!files.isEmpty());
  for (const QString& file : files) {
    connect(recent_menu_->addAction(file), &QAction::triggered, this,
            [this, file] { open_one(file); });
  }
  welcome_->show_recent(files);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files, others;
  for (const QUrl& url : event->mimeData()->urls()) {
    url.isLocalFile() ? files << url.toLocalFile() : others << url.toDisplayString();
  }
  open(files);
  if (!others.isEmpty()) {
    show_error(tr("%1: only files on this machine can be opened").arg(others.join(", ")));
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

}  // namespace conelab::desktop
