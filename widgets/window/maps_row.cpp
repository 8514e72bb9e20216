// The row of the attention maps: the keys that move the pair of tokens and choose layers, heads and
// the reference, and the commands that compute what the maps show.
#include <QAction>

#include "widgets/maps/map_figure.h"
#include "widgets/maps/maps_view.h"
#include "widgets/window/file_opener.h"
#include "widgets/window/guide.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

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
      arrow(tr("Previous query"), Qt::Key_Up),
      arrow(tr("Next query"), Qt::Key_Down),
      arrow(tr("Previous key"), Qt::Key_Left),
      arrow(tr("Next key"), Qt::Key_Right),
  };
}

/// Further traces that are opened can be compared with the first.
void connect_second(SecondTrace& second, MainWindow& window) {
  FileOpener& opener = window.opener();
  QObject::connect(&opener, &FileOpener::more_traces_found, &second, &SecondTrace::offer);
  QObject::connect(&second, &SecondTrace::arrays_wanted, &opener, &FileOpener::find_arrays);
  QObject::connect(&opener, &FileOpener::compared_arrays_found, &second,
                   [&](const FoundFile& file) {
                     QObject::connect(new ArraysDialog(file, &window), &ArraysDialog::chosen,
                                      &second, &SecondTrace::choose_file);
                   });
}

}  // namespace

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

}  // namespace conelab::desktop
