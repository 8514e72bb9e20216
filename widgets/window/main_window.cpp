#include "widgets/window/main_window.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QScrollArea>
#include <QStatusBar>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/theme/theme.h"
#include "widgets/window/banner.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/file_opener.h"

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
    // What a notice says of a file is not true of another one, for instance after undo.
    const bool of_another = notice_of_stored_ ? !trace->stored : trace->file != notice_file_;
    if (of_another && !file_notice_.isEmpty() && notice_shown() == file_notice_) banner_->hide();
    if (!trace->exact) show_notice(QString::fromStdString(trace->remark));
  });
  connect(workspace_.get(), &Workspace::operator_brought, this, &MainWindow::tell_of_operator);
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
  workspace_->use_devices(backends_.device);
  opener_ = std::make_unique<FileOpener>(*this, views_);
  for (const ViewRow& row : view_table()) {
    views_.push_back(row.make(*this));
    layout_.add(row, views_.back().widget);
  }
  layout_.make_usual(view_table());
}

void MainWindow::ask_for_arrays(const FoundFile& file) {
  const auto* dialog = new ArraysDialog(file, this);
  connect(dialog, &ArraysDialog::chosen, this,
          [this](const QString& path, const QString& group, const ArrayNames& arrays) {
            arrays_file_ = path;
            workspace_->open(path, group, arrays);
            layout_.raise("maps");
          });
  connect(dialog, &QDialog::rejected, this, [this, path = file.path] {
    if (workspace_->trace()) banner_->show_notice(shown_in_data_only(path));
  });
}

void MainWindow::open_session(const SavedSession& saved, const QString& file) {
  Session session = saved.session;
  if (session.theme == Session().theme) session.theme = document_.session().theme;
  session_file_.came_from(file);
  document_.replace(std::move(session));
  if (!layout_.restore(saved.layout)) layout_.raise("maps");
}

QString MainWindow::shown_in_data_only(const QString& path) const {
  return tr("%1 is shown in Data only; the maps still show %2.")
      .arg(document_.name_of(path), document_.name_of(workspace_->trace()->file));
}

void MainWindow::show_figure(const QString& label, const FigureChoice& figure) {
  document_.edit(label, [&](Session& s) { s.figure = figure; });
  layout_.raise("figures");
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
  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  undo_ = add_action(edit, tr("&Undo"), QKeySequence::Undo, [this] { document_.undo(); });
  redo_ = add_action(edit, tr("&Redo"), QKeySequence::Redo, [this] { document_.redo(); });
  edit->addSeparator();
  add_view_actions(edit, "edit");
  build_view_menu();
  add_view_actions(menuBar()->addMenu(tr("&Go")), "go");
  new ViewKeys(views_, this);
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add_action(help, tr("Command &palette"), QKeySequence(tr("Ctrl+Shift+P")), [this] {
    auto* owner = new QObject(this);
    auto* palette = new CommandPalette(actions_ + choices(owner), this);
    connect(palette, &QObject::destroyed, owner, &QObject::deleteLater);
    palette->show();
  });
  add_action(help, tr("&Manual"), QKeySequence::HelpContents, [this] {
    (new ManualDialog(backends_.manual, QStringLiteral("desktop"), this))->show();
  })->setEnabled(!backends_.manual.empty());
  add_action(help, tr("Shipped s&tudies"), QKeySequence(), [this] { layout_.raise("studies"); });
  add_action(help, tr("&Shortcuts"), QKeySequence(tr("?")),
             [this] { (new ShortcutSheet(actions_, views_, this))->show(); });
}

void MainWindow::add_view_actions(QMenu* menu, const std::string& name) {
  for (const View& view : views_) {
    for (const ViewAction& each : view.actions) {
      if (each.menu != name) continue;
      QAction* action = add_action(menu, each.text, each.keys, each.run);
      action->setAutoRepeat(!each.release);
    }
  }
}

QList<QAction*> MainWindow::choices(QObject* owner) {
  QList<QAction*> all;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const View& view = views_[i];
    for (const ViewAction& choice : view.choices ? view.choices() : std::vector<ViewAction>()) {
      all << new QAction(choice.text, owner);
      connect(all.back(), &QAction::triggered, this, choice.run);
    }
    const auto raise = [this, name = view_table()[i].name] { layout_.raise(name); };
    if (!view.tools.isEmpty()) all += tool_actions(*view.widget, view.tools, raise, owner);
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
    layout_.raise("welcome");
  });
  earlier_ = add_action(file, tr("&Earlier session"), QKeySequence(), [this] { open_earlier(); });
  earlier_->setToolTip(tr("The session of the run before this one, which began with a file"));
  earlier_->setEnabled(!session_file_.earlier().isEmpty());
  file->addSeparator();
  add_action(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
}

void MainWindow::build_view_menu() {
  QMenu* view = menuBar()->addMenu(tr("&View"));
  const auto add_marked = [&](const QString& text, const std::function<bool()>& marked,
                              const std::function<void()>& run, const QKeySequence& keys = {}) {
    QAction* action = add_action(view, text, keys, run);
    action->setCheckable(true);
    connect(view, &QMenu::aboutToShow, action, [=] { action->setChecked(marked()); });
    return action;
  };
  int number = 0;  // The first ten have Ctrl and a digit, the others Alt and a digit.
  for (const QDockWidget* dock : layout_.docks()) {  // A view behind another has its tab.
    add_marked(
        tr("Show %1").arg(dock->windowTitle()), [dock] { return !dock->isHidden(); },
        [this, name = dock->objectName().mid(5)] { layout_.raise(name); },
        QKeySequence((number < 10 ? Qt::CTRL : Qt::ALT) |
                     static_cast<Qt::Key>(Qt::Key_0 + (number + 1) % 10)));
    ++number;
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
  const bool exact = !workspace_->trace() || workspace_->trace()->exact;
  QStringList parts = {
      document_.name_of(trace.file) + group + (exact ? QString() : tr(" (not exact)")),
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
    if (!layout_.restore(saved.layout)) layout_.raise("maps");
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.what()));
  }
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

/// Qt's own chain falls apart where a view sets another widget that gets its focus.
bool MainWindow::focusNextPrevChild(bool next) {
  QList<QWidget*> all = findChildren<QWidget*>();
  if (!next) std::ranges::reverse(all);
  const auto at = std::ranges::find(all, focusWidget());
  if (at != all.end()) std::rotate(all.begin(), at + 1, all.end());
  const auto takes = [this](const QWidget* each) {
    return (each->focusPolicy() & Qt::TabFocus) != 0 && each->isVisible() && each->isEnabled() &&
           each->focusProxy() == nullptr && each->window() == this && layout_.shows(*each);
  };
  const auto found = std::ranges::find_if(all, takes);
  if (found == all.end()) return false;
  (*found)->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  for (QWidget* above = *found; above != nullptr; above = above->parentWidget()) {
    if (auto* area = qobject_cast<QScrollArea*>(above)) area->ensureWidgetVisible(*found);
  }
  return true;
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  emit shown();
}

/// The window stays open while a view has something running, or if a file could not be saved. A
/// second attempt closes it.
void MainWindow::closeEvent(QCloseEvent* event) {
  for (const View& view : views_) {
    const QString running = view.running ? view.running() : QString();
    if (running.isEmpty() || std::exchange(asked_to_stop_, true)) continue;
    banner_->show_notice(running);
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
            [this, file] { open({file}); });
  }
  emit recent_changed(files);
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

void MainWindow::show_notice(const QString& text, const QString& trace) {
  if (trace.isEmpty()) return banner_->show_notice(text);
  file_notice_ = text, notice_of_stored_ = true;
  const InputSpec spec = parse_input_spec(trace.toStdString());
  const QString file = document_.name_of(spec.path);
  const QString group = QString::fromStdString((spec.group.empty() ? "" : ":") + spec.group);
  banner_->show_notice(text, tr("Open its trace, %1").arg(file + group),
                       [this, trace] { open({trace}); });
}

/// Says that the open trace is shown under its own operator, beside what was said on opening it.
void MainWindow::tell_of_operator() {
  const Brought& brought = document_.session().maps.brought.front();
  QStringList mine;
  for (const Call& call : brought.instead) mine << QString::fromStdString(call_text(call));
  const QString name = document_.name_of(brought.file);
  QString text = tr("%1 is shown under its own operator, %2.")
                     .arg(name, QString::fromStdString(call_text(brought.calls.front())));
  if (!brought.scale.empty()) {
    text += tr(" The colours of each row are relative to its largest weight (scale “row”).");
  }
  if (!mine.isEmpty()) text += tr(" Other files have %1 again.").arg(mine.join(", "));
  const QString shown = notice_shown();
  if (!shown.isEmpty() && shown != file_notice_) text.prepend(shown + QStringLiteral(" · "));
  file_notice_ = text, notice_file_ = brought.file, notice_of_stored_ = false;
  const auto show_mine = [this, instead = brought.instead] {
    document_.edit(tr("show the other operators too"), [&](Session& s) {
      for (const Call& call : instead) s.maps.calls.push_back(call);
    });
  };
  banner_->show_notice(text, mine.isEmpty() ? QString() : tr("Show these too"), show_mine);
}

void MainWindow::take_back(const QString& notice) {
  if (notice_shown() == notice) banner_->hide();
}

void MainWindow::say(const QString& text) { statusBar()->showMessage(text, 6000); }

void MainWindow::copy_text(const QString& text, const QString& what) {
  QGuiApplication::clipboard()->setText(text);
  say(tr("%1 copied: %2").arg(what, text));
}

void MainWindow::copy_figure_command(const FigureChoice& figure) {
  if (!backends_.figure_command) return;
  copy_text(QString::fromStdString(backends_.figure_command(figure)), tr("Command"));
}

QString MainWindow::command_of(const Call& call) const {
  const TraceChoice& trace = document_.session().trace;
  if (!backends_.attend_command || trace.file.empty()) return {};
  const auto& open = workspace_->trace();
  const Call whole = open ? with_drawn_tensors(call, *open) : call;
  return QString::fromStdString(backends_.attend_command(trace, whole));
}

QString MainWindow::error_shown() const {
  return banner_->shows_error() ? banner_->text() : QString();
}

QString MainWindow::notice_shown() const {
  return banner_->shows_error() ? QString() : banner_->text();
}

}  // namespace conelab::desktop
