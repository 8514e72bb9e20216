// The commands that the main window copies: what its views show, for a terminal.
#include <QClipboard>
#include <QGuiApplication>
#include <QStatusBar>

#include "widgets/maps/map_figure.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {

void MainWindow::copy_text(const QString& text, const QString& what) {
  QGuiApplication::clipboard()->setText(text);
  statusBar()->showMessage(tr("%1 copied: %2").arg(what, text), 6000);
}

void MainWindow::copy_figure_command(const FigureChoice& figure) {
  if (!backends_.figure_command) return;
  copy_text(QString::fromStdString(backends_.figure_command(figure)), tr("Command"));
}

void MainWindow::copy_stored_command(const Trace& trace) {
  const auto figure = map_figure(document_.session(), trace);
  if (figure) return copy_figure_command(*figure);
  statusBar()->showMessage(
      tr("No command draws the stored %1.").arg(QString::fromStdString(trace.stored->name)), 6000);
}

QString MainWindow::command_of(const Call& call) const {
  const TraceChoice& trace = document_.session().trace;
  if (!backends_.attend_command || trace.file.empty()) return {};
  const auto& open = workspace_->trace();
  const Call whole = open ? with_drawn_tensors(call, *open) : call;
  return QString::fromStdString(backends_.attend_command(trace, whole));
}

void MainWindow::copy_cell_commands(const std::vector<Call>& calls, const QString& note) {
  const Session& session = document_.session();
  const auto& open = workspace_->trace();
  if (!backends_.cell_command || !open) return;
  QStringList lines;
  for (const Call& call : calls) {
    lines << QString::fromStdString(backends_.cell_command(
        session.trace, with_drawn_tensors(call, *open), session.maps.quantity));
  }
  copy_text(lines.join('\n') + "  # " + note, tr("Command"));
}

void MainWindow::copy_command(const Call& call) {
  const QString command = command_of(call);
  if (!command.isEmpty()) copy_text(command, tr("Command"));
}

}  // namespace conelab::desktop
