#include "core/call/call.h"
#include "core/operators/operator.h"
#include "core/study/figure_table.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/data/data_view.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/figures/figures_view.h"
#include "widgets/operators/operators_panel.h"
#include "widgets/studies/studies_view.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/window/file_opener.h"
#include "widgets/window/guide.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {

View make_maps(MainWindow& window);  // maps_row.cpp

namespace {

/// Copies the command lines that a view gives.
auto copies_from(MainWindow& window) {
  return [&window](const QString& text) { window.copy_text(text, tr("Command")); };
}

View make_data(MainWindow& window) {
  auto* view = new DataView(window.workspace());
  QObject::connect(view, &DataView::trace_opened, &window, [&window] { window.show_view("maps"); });
  QObject::connect(&window.opener(), &FileOpener::content_read, view,
                   [view](const FoundFile& file) { view->know(file.path, file.content); });
  QObject::connect(&window.opener(), &FileOpener::content_wanted, view, &DataView::show_file);
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

View make_explorer(MainWindow& window) {
  auto* view = new ExplorerView(window.workspace());
  QObject::connect(view, &ExplorerView::text_copied, &window, copies_from(window));
  QObject::connect(view, &ExplorerView::figure_shown, &window, [&window](const QString& left_out) {
    window.show_view("figures");
    if (!left_out.isEmpty()) window.show_notice(left_out);
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
  QScrollArea* scroll = scrolled(view, {}, true);  // It does not determine the window's width.
  scroll->setFocusProxy(view);
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
  return {.widget = scroll, .running = running, .kinds = {{"bench", open}}};
}

View make_studies(MainWindow& window) {
  auto* view =
      new StudiesView(window.document(), window.workspace().jobs(), window.backends().studies);
  StudyModel& model = view->model();
  QObject::connect(view, &StudiesView::file_wanted, &window,
                   [&window](const QString& file) { window.open({file}); });
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
  const auto running = [&model] {
    return model.running() ? tr("A study is running. Close again to stop it; its finished jobs are "
                                "kept, and Run goes on with the others.")
                           : QString();
  };
  return {.widget = view, .running = running, .kinds = {{"study", open}}};
}

}  // namespace

const std::vector<ViewRow>& view_table() {
  static const std::vector<ViewRow> table = {
      {"data", "Data", Place::panel, make_data, 242, 300},
      {"operators", "Operators", Place::panel, make_operators, 242, 460},
      {"guide", "Guide", Place::panel_tab, make_guide},
      {"maps", "Attention maps", Place::main, make_maps},
      {"explorer", "Cone explorer", Place::main, make_explorer, 416},
      {"welcome", "Welcome", Place::front, make_welcome, 772},
      {"figures", "Figures", Place::wide_tab, make_figures},
      {"benchmarks", "Benchmarks", Place::wide_tab, make_benchmarks},
      {"studies", "Studies", Place::wide_tab, make_studies},
  };
  return table;
}

}  // namespace conelab::desktop
