// Commands that the window copies compute the numbers that its maps show.
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QProcess>
#include <QToolButton>

#include "core/trace/trace.h"
#include "tests/widgets/maps/whole_maps.h"
#include "tests/widgets/model_file.h"
#include "tests/widgets/window/trace_window.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/maps_view.h"

namespace conelab::desktop {
namespace {

/// Runs a copied line in a shell. Returns what it says of an error.
std::string run_line(const QString& line, const QString& folder) {
  QProcess shell;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("PATH", CONELAB_BINARY_DIR "/bin:" + environment.value("PATH"));
  shell.setProcessEnvironment(environment);
  shell.setWorkingDirectory(folder);
  shell.start("sh", {"-c", line});
  EXPECT_TRUE(shell.waitForFinished(120000));
  return shell.exitCode() == 0 ? "" : shell.readAllStandardError().toStdString();
}

/// The explorer is folded while figures are shown, so that the window says what is left out.
TEST(ConeFigure, LeavesOutManyTokensAndTheWindowSaysSo) {
  REQUIRE_DISPLAY();
  QTemporaryDir state, folder;
  MainWindow window(desktop_backends(), state.path());
  window.resize(1300, 850);
  show_active(window);
  window.open({QString::fromStdString(write_model(folder, {1, 1, 120, 8}))});
  ASSERT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
  pump(200);
  auto* button = window.findChild<QToolButton*>("explorer-figure");
  ASSERT_NE(button, nullptr);
  click(*button, QPointF(button->width() / 2.0, button->height() / 2.0));
  EXPECT_TRUE(wait_for([&] {
    return window.notice_shown().contains("without the other tokens, which are more than 100");
  })) << window.notice_shown().toStdString();
  EXPECT_EQ(window.document().session().figure.name, "cones");
  EXPECT_EQ(window.document().session().figure.parameters.count("tokens"), 0U);
}

/// `multiplicative` needs a tensor that the trace lacks: the maps and the commands draw the same.
TEST(CopiedCommand, DrawsTheTensorsThatTheTraceLacks) {
  REQUIRE_DISPLAY();
  TraceWindow opened({1200, 800});
  MainWindow& window = opened.window;
  const Call call = plain_call("multiplicative");
  window.document().edit("operators", [&](Session& s) {
    s.trace.head = 5;
    s.maps.calls = {call};
  });
  MapsModel& model = window.view<MapsView>().model();
  ASSERT_TRUE(wait_for([&] { return opened.is_at_rest() && are_whole(model, 1); }));
  const QString folder = opened.state.path();
  const QClipboard& clipboard = *QGuiApplication::clipboard();
  for (QAction* action : window.actions()) {
    if (action->text() == "&Copy as command") action->trigger();
  }
  EXPECT_EQ(run_line(clipboard.text(), folder), "") << clipboard.text().toStdString();
  emit window.view<MapsView>().cell_commands_wanted({call}, "a note");
  ASSERT_EQ(run_line(clipboard.text(), folder), "") << clipboard.text().toStdString();
  const auto stored =
      load_stored_map(folder.toStdString() + "/multiplicative.h5", "/attention/weights", {});
  const double seen = model.panels()[0]->pyramid->source().exact(3, 8);
  EXPECT_NEAR(std::get<std::vector<double>>(stored->numbers)[stored->index(0, 5, 3) + 8], seen,
              1e-12);
  for (const char* layout : {"maps", "heads"}) {
    window.document().edit("layout", [&](Session& s) { s.maps.layout = layout; });
    const auto figure = map_figure(window.document().session(), *window.workspace().trace());
    EXPECT_FALSE(desktop_backends().draw_figure(*figure, {}).items.empty()) << layout;
  }
}

TEST(CopiedCommand, NamesTheDeviceAndTheArrays) {
  const Backends backends = desktop_backends();
  TraceChoice trace;
  trace.file = "x.h5";
  trace.arrays = {"query", "key", "value"};
  for (const char* device : {"cpu", "cuda"}) {
    trace.device = device;
    const std::string line = backends.attend_command(trace, plain_call("dot"));
    EXPECT_NE(line.find(std::string(" --device ") + device), std::string::npos) << line;
  }
  for (const std::string& line : {backends.attend_command(trace, plain_call("dot")),
                                  backends.cell_command(trace, plain_call("dot"), "weights")}) {
    EXPECT_NE(line.find(" --q query --k key --v value "), std::string::npos) << line;
  }
}

TEST(CopiedCommand, OfABenchmarkWritesEveryOptionOut) {
  BenchChoice typed;
  typed.fields["operators"] = "dot,umbral";
  typed.fields["passes"] = "forward,backward";
  typed.fields["lengths"] = "256..1024:x2";
  typed.fields["warm_only"] = "yes";
  const std::string line = bench_command(typed, "my result.h5");
  EXPECT_TRUE(line.starts_with("conelab bench -o 'my result.h5' --operators dot,umbral ")) << line;
  EXPECT_TRUE(
      line.ends_with(" --lengths 256..1024:x2 --batch 1 --rounds 9 --controls 4 --seed 1 "
                     "--time-limit 600 --warm-only"))
      << line;
  for (const Axis& axis : axes()) {
    EXPECT_NE(line.find(fmt::format(" --{} ", axis.option)), std::string::npos) << axis.option;
  }
}

}  // namespace
}  // namespace conelab::desktop
