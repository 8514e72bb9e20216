#include <QDockWidget>

#include "core/call/call.h"
#include "core/operators/operator.h"
#include "core/source/figure_table.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/data/data_view.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/figures/figures_view.h"
#include "widgets/forms/job_form.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/maps_view.h"
#include "widgets/operators/operators_panel.h"
#include "widgets/studies/studies_view.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/window/file_opener.h"
#include "widgets/window/guide.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {

View make_intervals(MainWindow& window);  // intervals_view.cpp
View make_train(MainWindow& window);      // train_view.cpp

namespace {

/// Copies the command lines that a view gives.
auto copies_from(MainWindow& window) {
  return [&window](const QString& text) { window.copy_text(text, tr("Command")); };
}

View make_data(MainWindow& window) {
  auto* view = new DataView(window.workspace());
  QObject::connect(view, &DataView::trace_opened, &window, [&window] { window.show_view("maps"); });
  return {.widget = view};
}

View make_operators(MainWindow& window) {
  auto* view = new OperatorsPanel(window.document());
  view->setMinimumWidth(240);  // Space for its fields and the scroll bar.
  QObject::connect(&window.workspace(), &Workspace::trace_changed, view, [view, &window] {
    const auto& trace = window.workspace().trace();
    view->setEnabled(!trace || !trace->stored);  // They do not act on stored maps.
  });
  QObject::connect(view, &OperatorsPanel::command_wanted, &window, [&window](const Call& call) {
    const QString command = window.command_of(call);
    if (!command.isEmpty()) window.copy_text(command, tr("Command"));
  });
  const auto choices = [view] {
    std::vector<ViewAction> all;
    for (const std::string& name : operator_names()) {
      all.push_back({tr("Add operator %1").arg(QString::fromStdString(name)),
                     [view, name] { view->add_operator(name); }});
    }
    return all;
  };
  return {.widget = view,
          .actions = {{tr("Add &operator"), [view] { view->add_operator(); }, "edit",
                       QKeySequence(tr("Ctrl+Shift+A"))}},
          .choices = choices};
}

View make_guide(MainWindow& window) {
  auto* view = new Guide(window.document());
  QObject::connect(view, &Guide::closed, &window, [&window] { window.hide_view("guide"); });
  return {.widget = view};
}

// ---- the attention maps: the keys that move the pair of tokens and choose layers, heads and the
// reference, and the commands that compute what the maps show

void step_head(MainWindow& window, int step) {
  const auto& trace = window.workspace().trace();
  if (!trace) return;
  const std::int64_t head = window.document().session().trace.head + step;
  if (head < 0 || head >= trace->query.shape.head) return;
  const auto choose = [head](Session& s) {
    s.trace.head = head;
    s.maps.join = head_joins[0];  // Otherwise the mean of all heads stays.
  };
  window.document().edit(tr("choose head %1").arg(head), choose, "step head");
}

/// Chooses each operator in turn as the reference, and none after the last.
void choose_next_reference(Document& document) {
  const MapChoice& maps = document.session().maps;
  const int next = maps.reference + 1;
  const int wanted = next < static_cast<int>(maps.calls.size()) ? next : -1;
  document.edit(tr("change the reference"), [wanted](Session& s) { s.maps.reference = wanted; });
}

void copy_shown(MainWindow& window) {
  const Session& session = window.document().session();
  const auto& trace = window.workspace().trace();
  if (trace && trace->stored) {  // No operator computes it; a figure draws it.
    if (const auto figure = map_figure(session, *trace)) return window.copy_figure_command(*figure);
    return window.say(
        tr("No command draws the stored %1.").arg(QString::fromStdString(trace->stored->name)));
  }
  QStringList commands;
  for (const Call& call : session.maps.calls) commands << window.command_of(call);
  commands.removeAll(QString());
  if (commands.isEmpty()) return;
  const bool is_alone = !session.maps.beside && session.maps.join == figure::head_joins[0];
  window.copy_text(commands.join('\n'),
                   is_alone ? tr("Commands")
                            : tr("Commands of the open head (what is compared or joined is in the "
                                 "command of the figure)"));
}

/// Copies the commands that compute the numbers of a cell, with a note that says which.
void copy_cell(MainWindow& window, const std::vector<Call>& calls, const QString& note) {
  const Session& session = window.document().session();
  const auto& open = window.workspace().trace();
  const auto& command = window.backends().cell_command;
  if (!command || !open) return;
  QStringList lines;
  for (const Call& call : calls) {
    lines << QString::fromStdString(
        command(session.trace, with_drawn_tensors(call, *open), session.maps.quantity));
  }
  window.copy_text(lines.join('\n') + "  # " + note, tr("Command"));
}

std::vector<ViewAction> actions_of(MainWindow& window, MapsView& view) {
  MapsModel& model = view.model();
  const auto find = [&] {
    window.show_view("maps");
    view.find_token();
  };
  const auto go = [](const QString& text, const QKeySequence& keys, std::function<void()> run) {
    return ViewAction{text, std::move(run), "go", keys};
  };
  const auto arrow = [&](const QString& text, Qt::Key key) {
    return go(text, QKeySequence(key), [&view, key] { view.move(key); });
  };
  const auto head = [&](int step) { return [&, step] { step_head(window, step); }; };
  const auto layer = [&](int step) { return [&, step] { window.workspace().step_group(step); }; };
  return {
      {tr("&Find a token"), find, "edit", QKeySequence::Find},
      {tr("&Copy as command"), [&] { copy_shown(window); }, "edit",
       QKeySequence(tr("Ctrl+Shift+C"))},
      {tr("Show the reference in every map (hold)"), [&] { model.flip(true); }, "go",
       QKeySequence(Qt::Key_R), [&] { model.flip(false); }},
      go(tr("Next reference"), QKeySequence(Qt::SHIFT | Qt::Key_R),
         [&] { choose_next_reference(window.document()); }),
      go(tr("Fit the view"), QKeySequence(Qt::Key_F), [&] { window.fit_views(); }),
      go(tr("Previous head"), QKeySequence(Qt::Key_BracketLeft), head(-1)),
      go(tr("Next head"), QKeySequence(Qt::Key_BracketRight), head(1)),
      go(tr("Previous layer"), QKeySequence(Qt::Key_PageUp), layer(-1)),
      go(tr("Next layer"), QKeySequence(Qt::Key_PageDown), layer(1)),
      go(tr("Largest key of the row"), QKeySequence(Qt::Key_L), [&view] { view.keep_largest(); }),
      arrow(tr("Previous query"), Qt::Key_Up),
      arrow(tr("Next query"), Qt::Key_Down),
      arrow(tr("Previous key"), Qt::Key_Left),
      arrow(tr("Next key"), Qt::Key_Right),
  };
}

/// Lets a file whose arrays have other names be compared.
void connect_second(SecondTrace& second, MainWindow& window) {
  const auto ask = [&](const FoundFile& file) {
    QObject::connect(new ArraysDialog(file, &window), &ArraysDialog::chosen, &second,
                     &SecondTrace::choose_file);
  };
  QObject::connect(&second, &SecondTrace::arrays_wanted, &window.opener(),
                   [&, ask](const QString& file) { window.opener().find_arrays(file, ask); });
}

View make_maps(MainWindow& window) {
  auto& view = *new MapsView(window.workspace());
  const auto make_figure = [&window](const FigureChoice& figure) {
    window.show_figure(tr("make a figure"), figure);
  };
  QObject::connect(&view, &MapsView::figure_wanted, &window, make_figure);
  QObject::connect(&view, &MapsView::command_wanted, &window, &MainWindow::copy_figure_command);
  QObject::connect(
      &view, &MapsView::cell_commands_wanted, &window,
      [&](const std::vector<Call>& calls, const QString& note) { copy_cell(window, calls, note); });
  auto& guide = window.view<Guide>();
  QObject::connect(&view.model(), &MapsModel::progressed, &guide,
                   [&] { guide.set_flipped(view.model().flipped()); });
  connect_second(view.model().second(), window);
  const auto choices = [&view, make_figure]() -> std::vector<ViewAction> {
    const auto seen = view.figure();
    if (!seen) return {};
    return {{tr("Export the maps as a figure"), [=] { make_figure(*seen); }}};
  };
  return {
      .widget = &view,
      .actions = actions_of(window, view),
      .choices = choices,
      .tools = tr("Maps"),
      .gestures = {{tr("wheel"), tr("zoom about the pointer")},
                   {tr("drag"), tr("move")},
                   {tr("click"), tr("keep a pair of tokens")},
                   {tr("Esc"), tr("let the pair and the region go")},
                   {tr("Shift+drag"), tr("select a region and read its mass")},
                   {tr("right button"), tr("copy, choose the reference")},
                   {tr("double click"), tr("show all")},
                   {tr("drag the colour bar"), tr("set the limits; double click: set them back")}},
      .fit = [&] { view.canvas().fit(); },
      .deselect = [&] { return view.deselect(); },
      .takes_arrows = true,
  };
}

View make_explorer(MainWindow& window) {
  auto* view = new ExplorerView(window.workspace());
  QObject::connect(view, &ExplorerView::text_copied, &window, copies_from(window));
  QObject::connect(view, &ExplorerView::figure_shown, &window, [&window](const QString& left_out) {
    window.show_view("figures");
    if (left_out.isEmpty()) return;
    window.show_notice(left_out);
    auto* dock = window.findChild<QDockWidget*>("dock-figures");
    QObject::connect(dock, &QDockWidget::visibilityChanged, &window,
                     [&window, left_out](bool seen) {
                       if (!seen) window.take_back(left_out);  // It is true of the figure only.
                     });
  });
  QObject::connect(view, &ExplorerView::figure_command_wanted, &window,
                   &MainWindow::copy_figure_command);
  return {.widget = view,
          .tools = tr("Explorer"),
          .gestures = {{tr("drag u, v, source"), tr("move the point; everything follows")},
                       {tr("drag the ground, wheel"),
                        tr("move and zoom (isometries of the half-plane)")},
                       {tr("double click"), tr("show all")}},
          .fit = [view] { view->fit(); }};
}

View make_welcome(MainWindow& window) {
  const std::string& trace = window.backends().shipped_trace;
  auto* view = new Welcome(trace);
  const auto start = [&window](const Example& example) {
    constexpr int guide_height = 420;  // Space for the steps of an example.
    window.begin_session(tr("open an example"), example.session);
    window.view<Guide>().start(example);
    window.show_view("guide", guide_height);
    window.show_view("maps");
  };
  QObject::connect(view, &Welcome::example_wanted, &window, [start, trace](int index) {
    start(examples(trace).at(static_cast<std::size_t>(index)));
  });
  QObject::connect(view, &Welcome::file_wanted, &window,
                   [&window](const QString& file) { window.open({file}); });
  QObject::connect(view, &Welcome::open_wanted, &window, &MainWindow::open_dialog);
  QObject::connect(&window, &MainWindow::recent_changed, view, &Welcome::show_recent);
  const auto choices = [start, trace] {
    std::vector<ViewAction> all;
    for (const Example& example : examples(trace)) {
      all.push_back({tr("Example: %1").arg(QString::fromUtf8(example.title)),
                     [start, example] { start(example); }});
    }
    return all;
  };
  return {.widget = view, .choices = choices};
}

View make_figures(MainWindow& window) {
  auto* view =
      new FiguresView(window.document(), window.workspace().jobs(), window.backends().draw_figure);
  QObject::connect(view, &FiguresView::command_wanted, &window,
                   [view, &window] { window.copy_figure_command(view->wanted()); });
  const auto choices = [&window] {
    std::vector<ViewAction> all;
    for (const figure::FigureInfo& info : figure::figure_table()) {
      all.push_back({tr("Figure %1").arg(info.name), [&window, name = std::string(info.name)] {
                       FigureChoice figure;
                       figure.name = name;
                       window.show_figure(tr("choose a figure"), figure);
                     }});
    }
    return all;
  };
  return {.widget = view, .choices = choices};
}

View make_benchmarks(MainWindow& window) {
  auto* view =
      new BenchmarksView(window.document(), window.workspace().jobs(), window.backends().bench);
  BenchModel& model = view->model();
  auto& operators = window.view<OperatorsPanel>();
  QObject::connect(&model, &BenchModel::changed, &operators,
                   [&] { operators.show_devices(model.devices()); });
  QObject::connect(&window, &MainWindow::shown, &model, &BenchModel::find_devices);
  QObject::connect(view, &BenchmarksView::command_wanted, &window, copies_from(window));
  QObject::connect(view, &BenchmarksView::figure_wanted, &window,
                   [&window](const FigureChoice& figure) {
                     window.show_figure(tr("export a benchmark"), figure);
                   });
  const auto open = [&model](const std::vector<FoundFile>& files) {
    const std::size_t count = std::min<std::size_t>(2, files.size());
    if (count > 1) model.compare_with(files.front().path.toStdString());
    model.open(files[count - 1].path.toStdString());
    return count;
  };
  const auto running = [&model] {
    return model.running() ? tr("A sweep is running. Close again to stop it; its samples so far "
                                "are kept, and Resume goes on with them.")
                           : QString();
  };
  return {.widget = view, .running = running, .kinds = {{"bench", open}}};
}

View make_studies(MainWindow& window) {
  auto* view =
      new StudiesView(window.document(), window.workspace().jobs(), window.backends().studies);
  StudyModel& model = view->model();
  QObject::connect(view, &StudiesView::file_wanted, &window,
                   [&window](const QString& file, const QString& name) {
                     window.document().name_file(file, name);
                     window.open({file});
                   });
  QObject::connect(view, &StudiesView::command_wanted, &window, copies_from(window));
  QObject::connect(view, &StudiesView::page_wanted, &window, [&window](const QString& file) {
    const auto& show = window.backends().show_elsewhere;
    if (!show || !show(file)) {
      window.show_notice(tr("No other program here shows %1.").arg(file));
    }
  });
  const auto open = [&model](const std::vector<FoundFile>& files) {
    model.open(files.front().path.toStdString());
    return std::size_t{1};
  };
  const auto running = [&model, view] {
    if (view->edited()) return tr("A study was changed and not saved. Close again to lose that.");
    return model.running() ? tr("A study is running. Close again to stop it; its finished jobs are "
                                "kept, and Run goes on with the others.")
                           : QString();
  };
  return {.widget = view, .running = running, .kinds = {{"study", open}}};
}

View make_jobs(MainWindow& window) {
  auto* view =
      new JobFormView(window.document(), window.workspace().jobs(), window.backends().studies);
  QObject::connect(view, &JobFormView::file_wanted, &window,
                   [&window](const QString& file) { window.open({file}); });
  QObject::connect(view, &JobFormView::command_wanted, &window, copies_from(window));
  const auto running = [view] {
    return view->model().running() ? tr("A job is running. Close again to stop it.") : QString();
  };
  return {.widget = view, .running = running};
}

}  // namespace

const std::vector<ViewRow>& view_table() {
  static const std::vector<ViewRow> table = {
      {"data", "Data", Place::panel, make_data, 242, 300},
      {"operators", "Operators", Place::panel, make_operators, 242, 460},
      {"guide", "Guide", Place::panel_tab, make_guide},
      {"maps", "Attention maps", Place::main, make_maps},
      {"explorer", "Cone explorer", Place::main, make_explorer, 416},
      {"intervals", "Intervals", Place::tab, make_intervals},
      {"welcome", "Welcome", Place::front, make_welcome, 772},
      {"figures", "Figures", Place::wide_tab, make_figures},
      {"benchmarks", "Benchmarks", Place::wide_tab, make_benchmarks},
      {"studies", "Studies", Place::wide_tab, make_studies},
      {"jobs", "Jobs", Place::wide_tab, make_jobs},
      {"train", "Train", Place::tab, make_train},
  };
  return table;
}

}  // namespace conelab::desktop
