#include "widgets/window/main_window.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTreeWidget>
#include <QUrl>

#include "core/base/error.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/maps/whole_maps.h"
#include "widgets/maps/maps_view.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/file_kind.h"

namespace conelab::desktop {
namespace {

Backends test_backends() {
  Backends backends;
  backends.shipped_trace = shipped_trace();
  backends.attend_command = [](const TraceChoice& trace, const Call& call) {
    return "conelab attend " + trace.file + " --similarity " + call.similarity;
  };
  return backends;
}

/// A window over the shipped trace, its maps complete.
struct OpenedWindow {
  QTemporaryDir state;
  MainWindow window{test_backends(), state.path()};
  explicit OpenedWindow(const char* group = "/german/layer3") {
    window.resize(1300, 850);
    show_active(window);
    window.workspace().open(QString::fromStdString(shipped_trace()), group);
    EXPECT_TRUE(wait_for([&] { return maps_ready(); }));
    pump(60);
  }
  [[nodiscard]] MapsModel& model() { return window.view<MapsView>().model(); }
  [[nodiscard]] bool maps_ready() {
    const auto& panels = model().panels();
    return !panels.empty() && are_whole(model(), panels.size());
  }
  QAction* action(const QString& name) {
    for (QAction* each : window.actions()) {
      if (action_name(*each).startsWith(name)) return each;
    }
    ADD_FAILURE() << "no action " << name.toStdString();
    return nullptr;
  }
};

TEST(Window, PointingAtACellShowsItsExactValues) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  opened.window.findChild<QDockWidget*>("dock-maps")->raise();
  pump(100);
  MapsCanvas& canvas = opened.window.view<MapsView>().canvas();
  const Focus cell{3, 8};
  move_to(canvas, canvas.cell_centre(1, cell));
  EXPECT_EQ(opened.window.document().focused(), cell);
  const double value = opened.model().panels()[1]->pyramid->source().exact(3, 8);
  EXPECT_TRUE(opened.window.view<MapsView>().readout().contains(
      QString::fromStdString(fmt::format("penumbral: {:.12g}", value))))
      << opened.window.view<MapsView>().readout().toStdString();
  click(canvas, canvas.cell_centre(2, {5, 6}));
  EXPECT_EQ(opened.window.document().session().locked, (Focus{5, 6}));
  opened.action("Next key")->trigger();
  EXPECT_EQ(opened.window.document().session().locked, (Focus{5, 7}));
}

TEST(Window, WheelAndDragMoveTheCamera) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  MapsCanvas& canvas = opened.window.view<MapsView>().canvas();
  opened.window.findChild<QDockWidget*>("dock-maps")->raise();
  pump(100);
  move_to(canvas, canvas.cell_centre(0, {10, 10}));  // Its readout may take some room.
  pump(60);
  canvas.fit();
  pump(60);
  const double fitted = opened.model().camera.scale;
  const QPointF at = canvas.cell_centre(0, {10, 10});
  turn_wheel(canvas, at, 2);
  EXPECT_NEAR(opened.model().camera.scale, 2 * fitted, 1e-9);
  EXPECT_EQ(canvas.cell_at(at), (Focus{10, 10}));
  const double column = opened.model().camera.column;
  drag(canvas, at, at + QPointF(40, 0));
  EXPECT_NEAR(opened.model().camera.column, column - 40 / opened.model().camera.scale, 1e-6);
  canvas.fit();
  pump(60);
  EXPECT_NEAR(opened.model().camera.scale, fitted, 1e-9);
}

TEST(Window, ChangingAnOperatorChangesItsMapAndIsUndone) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  auto* gamma = opened.window.findChild<QLineEdit*>("operator-1-gamma");
  ASSERT_NE(gamma, nullptr);
  const double before = opened.model().panels()[1]->pyramid->source().exact(2, 2);
  gamma->setText("8");
  emit gamma->editingFinished();
  ASSERT_TRUE(wait_for([&] { return opened.maps_ready(); }));
  const double after = opened.model().panels()[1]->pyramid->source().exact(2, 2);
  EXPECT_NE(before, after);
  opened.action("Undo")->trigger();
  EXPECT_EQ(opened.model().panels()[1]->pyramid->source().exact(2, 2), before);
  EXPECT_EQ(opened.window.findChild<QLineEdit*>("operator-1-gamma")->text(), "");
}

TEST(Window, AWrongParameterIsToldInItsPanel) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  auto* gamma = opened.window.findChild<QLineEdit*>("operator-1-gamma");
  gamma->setText("many");
  emit gamma->editingFinished();
  pump();
  EXPECT_NE(opened.model().panels()[1]->error.find("gamma"), std::string::npos);
  EXPECT_TRUE(opened.model().panels()[0]->error.empty());
}

TEST(Window, DifferencesAreAgainstTheReference) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  opened.window.findChild<QComboBox*>("maps-reference")->setCurrentIndex(1);
  ASSERT_TRUE(wait_for([&] { return opened.maps_ready(); }));
  const auto& panels = opened.model().panels();
  EXPECT_FALSE(panels[0]->difference);
  ASSERT_TRUE(panels[1]->difference);
  opened.window.findChild<QComboBox*>("maps-reference")->setCurrentIndex(0);
  ASSERT_TRUE(wait_for([&] { return opened.maps_ready(); }));
  const double dot = opened.model().panels()[0]->pyramid->source().exact(4, 1);
  const double penumbral = opened.model().panels()[1]->pyramid->source().exact(4, 1);
  opened.window.findChild<QComboBox*>("maps-reference")->setCurrentIndex(1);
  EXPECT_NEAR(opened.model().panels()[1]->pyramid->source().exact(4, 1), penumbral - dot, 1e-15);
}

TEST(Window, WrongFilesAreToldAndLeaveTheSession) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  const Session before = opened.window.document().session();
  const QString path = opened.state.filePath("wrong.h5");
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("this is no trace");
  file.close();
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(path)});
  QDragEnterEvent enter(QPoint(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&opened.window, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&opened.window, &drop);
  ASSERT_TRUE(wait_for([&] { return !opened.window.error_shown().isEmpty(); }));
  EXPECT_TRUE(opened.window.error_shown().contains("wrong.h5"));
  EXPECT_TRUE(opened.window.document().session() == before);
}

TEST(Window, AFileWithAGroupOpensThatGroup) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  opened.window.open({QString::fromStdString(shipped_trace() + ":/german/layer0")});
  EXPECT_TRUE(wait_for([&] {
    const auto& trace = opened.window.workspace().trace();
    return trace && trace->group == "/german/layer0";
  }));
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(Window, ThePaletteRunsActionsByAFewLetters) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  opened.action("Command palette")->trigger();
  pump();
  auto* palette = opened.window.findChild<QDialog*>("command-palette");
  ASSERT_NE(palette, nullptr);
  auto* field = palette->findChild<QLineEdit*>();
  field->setText("thdark");
  ASSERT_GT(palette->findChild<QListWidget*>()->count(), 0);
  press_key(*field, Qt::Key_Return);
  pump();
  EXPECT_EQ(opened.window.document().session().theme, "dark");
  EXPECT_LT(QApplication::palette().color(QPalette::Window).lightness(), 100);
  opened.action("Undo")->trigger();
  EXPECT_EQ(opened.window.document().session().theme, "system");
}

TEST(Window, ThePaletteShowsAttentionInEveryLayout) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  const auto run = [&](const QString& typed) {
    opened.action("Command palette")->trigger();
    pump();
    auto* field = opened.window.findChild<QDialog*>("command-palette")->findChild<QLineEdit*>();
    field->setText(typed);
    press_key(*field, Qt::Key_Return);
    pump();
  };
  for (const char* layout : map_layouts) {
    run(QStringLiteral("layout ") + layout);
    EXPECT_EQ(opened.window.document().session().maps.layout, layout);
  }
  run("logits");
  EXPECT_EQ(opened.window.document().session().maps.quantity, "logits");
  run("arcs");
  EXPECT_EQ(opened.window.document().session().maps.layout, "arcs") << "before the figure";
  run("layout maps");
  run("all heads");
  EXPECT_EQ(opened.window.document().session().maps.layout, "heads") << "words of its help";
  run("layout maps");
  run("export");
  const FigureChoice& figure = opened.window.document().session().figure;
  EXPECT_EQ(figure.name, "heatmap");
  EXPECT_EQ(figure.parameters.at("quantity"), "logits");
}

TEST(Window, AutosaveRestoresTheSession) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  Session session;
  {
    MainWindow window(test_backends(), state.path());
    show_active(window);
    window.document().edit("change", [](Session& s) {
      s.theme = "dark";
      s.maps.scale = "log";
    });
    session = window.document().session();
    window.close();
  }
  MainWindow again(test_backends(), state.path());
  EXPECT_TRUE(again.restore_autosave());
  EXPECT_TRUE(again.document().session() == session);
}

TEST(Window, TheLayoutIsSavedAndRestoredWithTheSession) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  const QString file = state.filePath("session.json");
  int width = 0;
  {
    MainWindow window(test_backends(), state.path());
    window.resize(1300, 850);
    show_active(window);
    auto* explorer = window.findChild<QDockWidget*>("dock-explorer");
    auto* figures = window.findChild<QDockWidget*>("dock-figures");
    window.findChild<QDockWidget*>("dock-operators")->close();
    window.resizeDocks({explorer}, {520}, Qt::Horizontal);
    pump(100);
    width = explorer->width();
    figures->raise();
    pump(100);
    window.close();
  }
  ASSERT_TRUE(QFile::copy(state.filePath("autosave.json"), file));
  const auto looks_alike = [&](MainWindow& window) {
    const auto* operators = window.findChild<QDockWidget*>("dock-operators");
    auto* figures = window.findChild<QDockWidget*>("dock-figures");
    EXPECT_TRUE(wait_for([&] { return operators->isHidden() && figures->width() > 1000; }));
    EXPECT_FALSE(figures->visibleRegion().isEmpty());
    window.findChild<QDockWidget*>("dock-maps")->raise();
    pump(100);
    EXPECT_TRUE(operators->isHidden()) << "it was closed, not folded";
    EXPECT_NEAR(window.findChild<QDockWidget*>("dock-explorer")->width(), width, 2);
  };
  MainWindow again(test_backends(), state.path());
  EXPECT_TRUE(again.restore_autosave());
  show_active(again);
  looks_alike(again);
  EXPECT_EQ(again.size(), QSize(1300, 850));
  MainWindow third(test_backends(), "");
  show_active(third);
  third.open({file});
  looks_alike(third);
}

TEST(Window, FitsASmallScreenWhateverIsInFront) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  const QSize small(1024, 700);
  for (const QSize& size : {small / 2, small}) {  // With text of 200 % and of 100 %.
    for (QDockWidget* dock : opened.window.findChildren<QDockWidget*>()) {
      dock->raise();
      opened.window.resize(size);
      pump(100);
      EXPECT_EQ(opened.window.size(), size) << dock->objectName().toStdString();
    }
  }
  // Other docks have made room for it: there is nothing to scroll to.
  auto* benchmarks = opened.window.findChild<QDockWidget*>("dock-benchmarks");
  benchmarks->raise();
  const auto* bar = qobject_cast<QAbstractScrollArea*>(benchmarks->widget())->horizontalScrollBar();
  pump(100);
  EXPECT_EQ(bar->maximum(), 0);
}

TEST(Window, BeginsInsideOfTheScreenWithItsTitle) {
  REQUIRE_DISPLAY();
  const MainWindow window(test_backends(), "");
  EXPECT_LE(window.height() + 48, window.screen()->availableSize().height());
  EXPECT_LE(window.width(), window.screen()->availableSize().width());
}

TEST(Window, TheViewsTakeWhatItGainsAndGiveItBack) {
  REQUIRE_DISPLAY();
  MainWindow window(test_backends(), "");
  show_active(window);
  const auto widths = [&] {
    pump(100);
    std::array<int, 3> all{};
    const char* const names[] = {"dock-operators", "dock-welcome", "dock-explorer"};
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = window.findChild<QDockWidget*>(names[i])->width();
    }
    return all;
  };
  const auto expect_near = [](const std::array<int, 3>& a, const std::array<int, 3>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2) << i;
  };
  const std::array<int, 3> first = widths();
  EXPECT_LE(first[0], 275);
  EXPECT_GE(first[1], 650);
  for (const QSize& size : {QSize(1920, 1080), QSize(1560, 900), QSize(1500, 960)}) {
    window.resize(size);
    const std::array<int, 3> now = widths();
    EXPECT_NEAR(now[0], first[0], 1) << size.width();
    EXPECT_GT(now[1], first[1]) << size.width();
    EXPECT_GT(now[2], first[2]) << size.width();
  }
  window.resize(1440, 900);
  expect_near(widths(), first);
  // What a person pulls stays where it was put.
  window.resizeDocks({window.findChild<QDockWidget*>("dock-operators")}, {400}, Qt::Horizontal);
  const std::array<int, 3> pulled = widths();
  EXPECT_GT(pulled[0], first[0] + 40);
  window.resize(1800, 1000);
  EXPECT_NEAR(widths()[0], pulled[0], 2);
  window.resize(1440, 900);
  expect_near(widths(), pulled);
  for (QAction* action : window.actions()) {
    if (action_name(*action) == "Usual layout") action->trigger();
  }
  expect_near(widths(), first);
}

TEST(Window, OneViewTakesTheWindowAndGivesItBack) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  auto* maps = opened.window.findChild<QDockWidget*>("dock-maps");
  auto* explorer = opened.window.findChild<QDockWidget*>("dock-explorer");
  maps->raise();
  opened.window.view<MapsView>().canvas().setFocus();
  pump(60);
  const int before = maps->width();
  opened.action("Only the view in front")->trigger();
  pump(60);
  EXPECT_FALSE(explorer->isVisible());
  EXPECT_GT(maps->width(), 1200);
  opened.action("Only the view in front")->trigger();
  pump(60);
  EXPECT_TRUE(explorer->isVisible());
  EXPECT_NEAR(maps->width(), before, 2);
}

TEST(Window, ATraceThatIsRewrittenIsReadAgain) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  const QString live = opened.state.filePath("live.h5");
  ASSERT_TRUE(QFile::copy(QString::fromStdString(shipped_trace()), live));
  opened.window.workspace().open(live, "/german/layer3");
  const auto open_file = [&] {
    const auto& trace = opened.window.workspace().trace();
    return trace ? trace->file : "";
  };
  ASSERT_TRUE(wait_for([&] { return open_file() == live.toStdString(); }));
  const auto before = opened.window.workspace().trace();
  rewrite_file(live);
  EXPECT_TRUE(wait_for([&] {
    const auto& now = opened.window.workspace().trace();
    return now && now != before;
  }));
  EXPECT_EQ(opened.window.error_shown(), "");
}

// Qt forgets a path that is removed or replaced, and a training job may take its time.
TEST(Window, ATraceThatWasGoneOrWrongForAWhileIsReadAgain) {
  QTemporaryDir folder;
  const QString live = folder.filePath("live.h5");
  const QString shipped = QString::fromStdString(shipped_trace());
  ASSERT_TRUE(QFile::copy(shipped, live));
  Document document;
  JobPool jobs(deliver);
  Workspace workspace(document, jobs);
  int failures = 0;
  QObject::connect(&workspace, &Workspace::failed, [&] { ++failures; });
  workspace.open(live, "/german/layer3");
  ASSERT_TRUE(wait_for([&] { return workspace.trace() && !workspace.loading(); }));
  const auto read_again = [&](const auto& before) {
    return wait_for([&] { return workspace.trace() && workspace.trace() != before; });
  };
  auto before = workspace.trace();
  ASSERT_TRUE(QFile::remove(live));
  pump(600);  // Longer than a file is given to settle: it is found to be missing.
  ASSERT_TRUE(QFile::copy(shipped, live));
  ASSERT_TRUE(read_again(before)) << "once it is there again";
  before = workspace.trace();
  QFile wrong(folder.filePath("wrong"));
  ASSERT_TRUE(wrong.open(QIODevice::WriteOnly) && wrong.write("not yet") > 0);
  wrong.close();
  failures = 0;
  ASSERT_TRUE(QFile::remove(live) && wrong.rename(live));
  ASSERT_TRUE(wait_for([&] { return failures > 0; }));
  ASSERT_TRUE(QFile::remove(live) && QFile::copy(shipped, live));
  EXPECT_TRUE(read_again(before)) << "once it is right";
}

/// Stands for a GPU that has gone.
class GoneDevice : public Backend {
 public:
  [[nodiscard]] DeviceState state() const override { return {"cuda", false, "gone", "", 0}; }
  [[nodiscard]] DeviceClocks clocks() const override { return {}; }
  [[nodiscard]] bool takes(Dtype) const override { return false; }
  [[nodiscard]] std::unique_ptr<DeviceCall> prepare(const Plan&, const AttentionInput<float>&,
                                                    Dtype, const Execution&) override {
    fail("device cuda: gone");
  }
};

TEST(Window, ADeviceThatIsGoneIsToldInItsPanels) {
  REQUIRE_DISPLAY();
  GoneDevice gone;
  Backends backends = test_backends();
  backends.device = [&](const std::string& name) -> Backend* {
    return name == "cuda" ? &gone : nullptr;
  };
  MainWindow window(backends, "");
  show_active(window);
  window.workspace().open(QString::fromStdString(shipped_trace()), "/german/layer3");
  ASSERT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
  window.document().edit("device", [](Session& s) { s.trace.device = "cuda"; });
  const auto told = [&] {
    const auto& panels = window.view<MapsView>().model().panels();
    return !panels.empty() && panels[0]->error.find("gone") != std::string::npos;
  };
  EXPECT_TRUE(wait_for(told));
  window.document().undo();
  EXPECT_TRUE(wait_for([&] { return window.view<MapsView>().model().panels()[0]->error.empty(); }));
}

TEST(Window, AnExampleOpensAndItsCommandIsCopied) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  MainWindow window(test_backends(), state.path());
  show_active(window);
  auto* button = window.findChild<QAbstractButton*>("example-2");
  ASSERT_NE(button, nullptr);
  button->click();
  ASSERT_TRUE(wait_for([&] { return window.workspace().trace() != nullptr; }));
  EXPECT_EQ(window.document().session().maps.calls[2].parameters.at("gamma"), "16");
  for (QAction* action : window.actions()) {
    if (action_name(*action) == "Copy as command") action->trigger();
  }
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains("--similarity penumbral"));
}

TEST(Window, ClosesInTheMiddleOfWork) {
  REQUIRE_DISPLAY();
  const auto before = QApplication::allWidgets().size();
  int under_way = 0;
  for (int i = 0; i < 3; ++i) {
    QElapsedTimer closing;
    {
      MainWindow window(test_backends(), "");
      show_active(window);
      window.open({QString::fromStdString(shipped_trace())});
      pump(10 * i);
      under_way += window.workspace().jobs().running().empty() ? 0 : 1;
      closing.start();
    }
    EXPECT_LT(closing.elapsed(), 3000 * slowness) << "it waited for the work instead of ending it";
    pump(30);  // What the work still had to say is heard by nobody.
  }
  EXPECT_GT(under_way, 0);
  EXPECT_EQ(QApplication::allWidgets().size(), before);
}

TEST(Window, ShowsTheContentOfTheFile) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  ASSERT_TRUE(wait_for([&] { return tree->topLevelItemCount() == 1; }));
  const auto found = tree->findItems("layer3", Qt::MatchRecursive | Qt::MatchExactly);
  EXPECT_GE(found.size(), 2);
}

TEST(Window, EveryControlHasANameForScreenReaders) {
  REQUIRE_DISPLAY();
  OpenedWindow opened;
  for (const QDockWidget* dock : opened.window.findChildren<QDockWidget*>()) {
    SCOPED_TRACE(dock->objectName().toStdString());
    for (const QWidget* widget : dock->widget()->findChildren<QWidget*>()) {
      const bool leaf = widget->findChild<QWidget*>() == nullptr;
      const bool draws =  // A picture, which has no focus if there is nothing to choose in it.
          leaf && QByteArray(widget->metaObject()->className()).startsWith("conelab::");
      if ((widget->focusPolicy() == Qt::NoFocus && !draws) || qobject_cast<const QLabel*>(widget))
        continue;
      if (widget->objectName().startsWith("qt_")) continue;
      const QWidget* parent = widget->parentWidget();
      const bool inner =
          qobject_cast<const QComboBox*>(parent) || qobject_cast<const QAbstractSpinBox*>(parent) ||
          qobject_cast<const QAbstractScrollArea*>(parent) ||
          qobject_cast<const QHeaderView*>(widget) || widget->inherits("QComboBoxListView") ||
          qobject_cast<const QLineEdit*>(parent);
      if (inner) continue;
      const QString text = widget->property("text").toString();
      EXPECT_FALSE(widget->accessibleName().isEmpty() && text.isEmpty())
          << widget->metaObject()->className() << " " << widget->objectName().toStdString();
    }
  }
}

TEST(RecentFiles, AreReplacedWholeAndAFailureIsToldInPassing) {
  REQUIRE_DISPLAY();
  QTemporaryDir folder;
  const QString kept = folder.filePath("recent.txt"), other = folder.filePath("other name");
  RecentFiles files(kept);
  files.add("a.h5");
  ASSERT_EQ(::link(kept.toUtf8().constData(), other.toUtf8().constData()), 0);
  files.add("b.h5");
  EXPECT_EQ(files.all(), (QStringList{"b.h5", "a.h5"}));
  EXPECT_EQ(RecentFiles(other).all(), QStringList{"a.h5"}) << "written over in its place";
  ASSERT_TRUE(QFile::remove(kept) && QDir(folder.path()).mkdir("recent.txt"));
  EXPECT_THROW(RecentFiles(kept).add("c.h5"), Error);
  MainWindow window(test_backends(), folder.path());
  show_active(window);
  window.workspace().open(QString::fromStdString(shipped_trace()), "/german/layer3");
  EXPECT_TRUE(
      wait_for([&] { return window.statusBar()->currentMessage().contains("recent.txt"); }));
  EXPECT_EQ(window.error_shown(), "");
}

TEST(Palette, PrefersBeginningsOfWords) {
  EXPECT_GT(match_score("th", "Theme: dark"), match_score("th", "Show the data"));
  EXPECT_GE(match_score("layer0", "Layer: german/layer0"),
            match_score("layer0", "Compared layer: with layer0"));
  EXPECT_LT(match_score("xyz", "Theme"), 0);
  EXPECT_GE(match_score("", "Theme"), 0);
}

TEST(Palette, FindsByWordsOfTheHelpWhatNoNameHas) {
  const QString help = "heads: all heads of the model, small";
  EXPECT_LT(match_score("all heads", "Layout: heads"), 0);
  EXPECT_GT(help_score("all heads", "Layout: heads", help),
            help_score("all heads", "Layout: maps", help));
  EXPECT_GE(help_score("all heads", "Layout: maps", help), 0);
  EXPECT_LT(help_score("all layers", "Layout: heads", help), 0);
}

}  // namespace
}  // namespace conelab::desktop
