#include "widgets/benchmarks/benchmarks_view.h"

#include <QAbstractScrollArea>
#include <QAccessible>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include "core/files/bench_file.h"
#include "tests/widgets/benchmarks/bench_fixtures.h"
#include "tests/widgets/file_dialog.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

/// A window whose benchmarks are fakes, that view in front.
struct ShownBenchmarks {
  QTemporaryDir folder{folder_template()}, state;
  MainWindow window{backends(folder), state.path()};

  static Backends backends(const QTemporaryDir& folder) {
    Backends backends;
    backends.bench = fake_bench_backend(folder);
    return backends;
  }
  ShownBenchmarks() {
    window.resize(1300, 900);
    show_active(window);
    window.document().edit("type", [](Session& s) { s.bench = quick_sweep(); });
    window.findChild<QDockWidget*>("dock-benchmarks")->raise();
    pump(100);
  }
  BenchModel& model() { return window.view<BenchmarksView>().model(); }
  template <class Widget>
  Widget& find(const char* name) {
    auto* found = window.findChild<Widget*>(name);
    if (found == nullptr) throw std::runtime_error(name);
    return *found;
  }
  void press(const char* name) {
    auto& button = find<QAbstractButton>(name);
    click(button, QRectF(button.rect()).center());
  }
  void type(const char* field, const QString& text) {
    auto& edit = find<QLineEdit>(field);
    edit.setFocus();
    edit.selectAll();
    for (const QChar letter : text) press_key(edit, Qt::Key_unknown, Qt::NoModifier, letter);
    press_key(edit, Qt::Key_Return);
  }
  void show_page(int index) {
    auto& pages = find<QTabBar>("bench-pages");
    click(pages, QRectF(pages.tabRect(index)).center());
    pump();
  }
  testing::AssertionResult finish() {
    const bool finished = wait_for(
        [&] {
          return !model().running() && model().data() &&
                 model().message() == model().choice().shown;
        },
        20000);
    return testing::AssertionResult(finished) << model().message();
  }
  testing::AssertionResult run() {
    press("bench-run");
    return finish();
  }
};

TEST(Benchmarks, ASweepIsSetUpRunAndReadOff) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  shown.type("bench-lengths", "128..1024:x2");
  shown.press("bench-passes-backward");
  EXPECT_EQ(shown.find<QLabel>("bench-extent").text(), "16 cases in 6 rounds");
  shown.press("bench-passes-backward");
  shown.press("bench-run");
  EXPECT_TRUE(shown.model().running());
  EXPECT_FALSE(shown.find<QPushButton>("bench-run").isEnabled());
  ASSERT_TRUE(shown.finish());
  pump(100);
  BenchCanvas& canvas = shown.window.view<BenchmarksView>().canvas();
  ASSERT_EQ(canvas.picture().spots.size(), 8U);
  move_to(canvas, canvas.place_of(canvas.picture().spots[1]));
  const MeasuredCase& second = shown.model().data()->cases[1];
  EXPECT_TRUE(shown.window.view<BenchmarksView>().readout().contains(
      QString::fromStdString(fmt::format("n=256: {:.6g} µs", 1e6 * second.time))))
      << shown.window.view<BenchmarksView>().readout().toStdString();
  press_key(canvas, Qt::Key_Right);
  EXPECT_TRUE(shown.window.view<BenchmarksView>().readout().contains("n=512"));
  shown.show_page(3);
  const auto* numbers = shown.find<QTableView>("bench-table").model();
  EXPECT_EQ(numbers->rowCount(), 8);
  EXPECT_EQ(numbers->index(1, 2).data().toString().toStdString(), time_text(second.time));
  EXPECT_EQ(numbers->index(1, 2).data(Qt::ToolTipRole).toString().toStdString(),
            fmt::format("time (s): {:.6g}", second.time));
}

TEST(Benchmarks, WrongInputIsExplainedBesideItsField) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  shown.type("bench-rounds", "many");
  auto& error = shown.find<QLabel>("bench-rounds-error");
  EXPECT_TRUE(error.isVisible());
  EXPECT_TRUE(error.text().contains("found 'many'")) << error.text().toStdString();
  EXPECT_FALSE(shown.find<QPushButton>("bench-run").isEnabled());
  shown.window.document().undo();
  EXPECT_EQ(shown.find<QLineEdit>("bench-rounds").text(), "6");
  EXPECT_FALSE(error.isVisible());
  auto& cuda = shown.find<QCheckBox>("bench-devices-cuda");
  ASSERT_TRUE(wait_for([&] { return !cuda.isEnabled(); }));
  EXPECT_EQ(cuda.toolTip(), "no device");
}

TEST(Benchmarks, CancelKeepsResumeGoesOnAndTwoResultsAreCompared) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  shown.type("bench-rounds", "24");
  shown.press("bench-run");
  ASSERT_TRUE(wait_for([&] { return shown.model().progress().done > 10; }));
  shown.press("bench-cancel");
  ASSERT_TRUE(wait_for([&] { return !shown.model().running(); }));
  EXPECT_TRUE(shown.find<QLabel>("bench-message").text().contains("are kept"));
  shown.press("bench-resume");
  EXPECT_TRUE(shown.model().running());
  ASSERT_TRUE(shown.finish());
  const std::string first = shown.model().choice().shown;
  ASSERT_TRUE(shown.run());
  EXPECT_NE(shown.model().choice().shown, first);
  shown.model().compare_with(first);
  ASSERT_TRUE(wait_for([&] { return shown.model().comparison().has_value(); }));
  EXPECT_EQ(shown.find<QTableView>("bench-table").model()->rowCount(), 4);
  EXPECT_TRUE(shown.find<QLabel>("bench-about").text().contains("same"));
}

/// The column of this title, and how far to the right of the table's view it reaches.
std::pair<int, int> column_of(const QTableView& table, const char* title) {
  const QAbstractItemModel& model = *table.model();
  for (int i = 0; i < model.columnCount(); ++i) {
    if (model.headerData(i, Qt::Horizontal).toString() != title) continue;
    return {i, table.columnViewportPosition(i) + table.columnWidth(i) - table.viewport()->width()};
  }
  ADD_FAILURE() << "no column " << title;
  return {-1, 0};
}

TEST(Benchmarks, ButtonsStayWhereTheyAreWhileTextsChange) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  shown.type("bench-rounds", "5000");
  const auto places = [&] {
    std::vector<QPoint> all;
    for (const char* name : {"bench-run", "bench-cancel", "bench-open", "bench-export"}) {
      auto& button = shown.find<QWidget>(name);
      all.push_back(button.mapTo(&shown.window, QPoint(0, 0)));
    }
    // Nor does the form move, or become lower.
    for (QWidget* each : shown.window.findChild<BenchFormView*>()->findChildren<QWidget*>()) {
      if (!each->isVisible() || each->objectName() == "bench-progress") continue;
      all.push_back(each->mapTo(&shown.window, QPoint(0, 0)));
      all.push_back(each->mapTo(&shown.window, each->rect().bottomRight()));
    }
    return all;
  };
  const auto before = places();
  shown.press("bench-run");
  ASSERT_TRUE(wait_for([&] { return shown.model().progress().done > 4; }));
  EXPECT_TRUE(shown.find<QWidget>("bench-progress").isVisible());
  EXPECT_EQ(places(), before);
  shown.press("bench-cancel");
  ASSERT_TRUE(wait_for([&] { return !shown.model().running(); }));
  pump();
  EXPECT_EQ(places(), before);
}

/// Chooses "Export the table …" in the menu of the table and types the name of a file.
void export_table_to(QTableView& table, const QString& file) {
  QTimer::singleShot(100, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_NE(menu, nullptr);
    name_the_file(file);
    for (QAction* action : menu->actions()) {
      if (!action->text().startsWith("Export")) continue;
      QTest::mouseClick(menu, Qt::LeftButton, Qt::NoModifier,
                        menu->actionGeometry(action).center());
    }
  });
  const QPoint at(20, 20);
  QContextMenuEvent event(QContextMenuEvent::Mouse, at, table.viewport()->mapToGlobal(at));
  QApplication::sendEvent(table.viewport(), &event);
  pump(100);
}

QStringList lines_of(const QString& file) {
  QFile opened(file);
  EXPECT_TRUE(opened.open(QIODevice::ReadOnly)) << file.toStdString();
  return QString::fromUtf8(opened.readAll()).trimmed().split('\n');
}

TEST(Benchmarks, TablesShowUnitsAndExportPlainNumbersWithHeaders) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  ASSERT_TRUE(shown.run());
  shown.show_page(3);
  auto& table = shown.find<QTableView>("bench-table");
  const MeasuredCase& first = shown.model().data()->cases.front();
  const int time = column_of(table, "time").first;
  const QModelIndex cell = table.model()->index(0, time);
  EXPECT_EQ(cell.data().toString().toStdString(), time_text(first.time));
  const QString csv = shown.folder.filePath("numbers.csv");
  export_table_to(table, csv);
  const QStringList lines = lines_of(csv);
  ASSERT_EQ(lines.size(), 1 + table.model()->rowCount());
  EXPECT_TRUE(lines[0].startsWith("operator,n,time (s),low (s)")) << lines[0].toStdString();
  EXPECT_EQ(lines[1].section(',', time, time).toStdString(), fmt::format("{:.6g}", first.time));
  const QString tsv = shown.folder.filePath("numbers.tsv");
  export_table_to(table, tsv);
  EXPECT_EQ(lines_of(tsv)[0].section('\t', time, time), "time (s)");
  // The button above the table does the same.
  name_the_file(shown.folder.filePath("again.csv"));
  shown.press("bench-export");
  EXPECT_EQ(lines_of(shown.folder.filePath("again.csv")), lines);
  // One cell is copied as it is shown, several as they are exported.
  table.setCurrentIndex(cell);
  table.setFocus();
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), cell.data().toString());
  table.selectRow(0);
  QTest::keyClick(&table, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  const QStringList copied = QGuiApplication::clipboard()->text().split('\n');
  EXPECT_EQ(copied[0].section('\t', time, time), "time (s)");
  EXPECT_EQ(copied[1].section('\t', time, time), lines[1].section(',', time, time));
}

TEST(Benchmarks, AComparisonWithoutCommonCasesSaysWhichLabelDiffers) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  ASSERT_TRUE(shown.run());
  const std::string first = shown.model().choice().shown;
  shown.type("bench-threads", "2");
  ASSERT_TRUE(shown.run());
  shown.model().compare_with(first);
  ASSERT_TRUE(wait_for([&] { return shown.model().comparison().has_value(); }));
  const QString told = shown.find<QLabel>("bench-about").text();
  EXPECT_TRUE(told.contains("no case in common: 1 thread against 2 threads")) << told.toStdString();
}

TEST(Benchmarks, AComparisonShowsWhatTheOtherRunNotedOnItsMachine) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  ASSERT_TRUE(shown.run());
  LabelledFile noted = read_labelled_file(shown.model().choice().shown);
  for (auto& [path, group] : noted.groups) {
    auto& list = group.attributes;
    std::erase_if(list, [](const auto& attribute) { return attribute.first == "notes"; });
    if (path != "bench/runtime") continue;
    list.emplace_back("notes", std::vector<std::string>{"the machine was on fire"});
  }
  const std::string other = shown.folder.filePath("noted.h5").toStdString();
  write_labelled(other, noted);
  const auto& message = shown.find<QLabel>("bench-message");
  const QString expected = QString::fromStdString(other + ": the machine was on fire");
  EXPECT_FALSE(message.text().contains(expected));
  shown.model().compare_with(other);
  ASSERT_TRUE(wait_for([&] { return shown.model().comparison().has_value(); }));
  EXPECT_EQ(message.text().count(expected), 1) << message.text().toStdString();
}

TEST(Benchmarks, VerdictsAndReasonsAreInViewAtTheWindowsFirstSize) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  shown.window.resize(1440, 900);
  shown.press("bench-passes-backward");
  ASSERT_TRUE(shown.run());
  shown.model().compare_with(shown.model().choice().shown);
  ASSERT_TRUE(wait_for([&] { return shown.model().comparison().has_value(); }));
  pump();
  const auto& table = shown.find<QTableView>("bench-table");
  const auto [verdict, beyond] = column_of(table, "verdict");
  EXPECT_EQ(verdict, 3) << "after operator, pass and n";
  EXPECT_LE(beyond, 0);
  EXPECT_EQ(table.model()->index(0, verdict).data().toString(), "same");
  EXPECT_EQ(column_of(table, "ratio").first, 4);
  shown.show_page(4);
  const auto [note, over] = column_of(table, "note");
  EXPECT_LE(over, 0);
  EXPECT_TRUE(table.model()->index(0, note).data().toString().startsWith("not resolved"))
      << table.model()->index(0, note).data().toString().toStdString();
}

TEST(Benchmarks, ATableHasNoEmptyColumn) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  const auto titles = [&] {
    QStringList all;
    const QAbstractItemModel& model = *shown.find<QTableView>("bench-table").model();
    for (int i = 0; i < model.columnCount(); ++i) {
      all << model.headerData(i, Qt::Horizontal).toString();
    }
    return all;
  };
  shown.show_page(3);
  ASSERT_TRUE(shown.run());
  EXPECT_FALSE(titles().contains("cold"));
  EXPECT_TRUE(titles().contains("local exponent"));
  const auto& table = shown.find<QTableView>("bench-table");
  shown.window.resize(table.columnViewportPosition(table.model()->columnCount() - 1) + 60 +
                          shown.window.width() - table.viewport()->width(),
                      900);
  pump(100);
  EXPECT_LE(column_of(table, "status").second, 0) << "no wider than its texts";
  shown.window.document().edit("cold", [](Session& s) { s.bench.fields["warm_only"] = ""; });
  ASSERT_TRUE(shown.run());
  EXPECT_TRUE(titles().contains("cold"));
}

TEST(Benchmarks, ADroppedResultIsShownAndItsFigureExported) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  ASSERT_TRUE(shown.run());
  const std::string file = shown.model().choice().shown;
  shown.window.document().edit("forget", [](Session& s) { s.bench.shown.clear(); });
  EXPECT_EQ(shown.model().data(), nullptr);
  shown.window.open({QString::fromStdString(file)});
  ASSERT_TRUE(wait_for([&] { return shown.model().data() != nullptr; }));
  shown.press("bench-export");
  EXPECT_EQ(shown.window.document().session().figure.name, "scaling");
  EXPECT_EQ(shown.window.document().session().figure.inputs, std::vector<std::string>{file});
}

TEST(Benchmarks, TheOperatorsOfferTheDevicesThatAreThere) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  auto& devices = shown.find<QComboBox>("operators-device");
  ASSERT_TRUE(wait_for([&] { return devices.count() == 2; }));
  EXPECT_EQ(devices.itemText(1), "cuda");
  EXPECT_EQ(devices.itemData(1, Qt::ToolTipRole).toString(), "no device");
  EXPECT_FALSE(devices.model()->flags(devices.model()->index(1, 0)) & Qt::ItemIsEnabled);
}

TEST(Benchmarks, TheCommandIsCopied) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  shown.press("bench-command");
  EXPECT_TRUE(QGuiApplication::clipboard()->text().startsWith("conelab bench -o "));
}

TEST(Benchmarks, TheLegendLeavesOperatorsOut) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  ASSERT_TRUE(shown.run());
  auto& legend = shown.find<QListWidget>("bench-legend");
  ASSERT_EQ(legend.count(), 2);
  legend.item(1)->setCheckState(Qt::Unchecked);
  EXPECT_EQ(shown.window.view<BenchmarksView>().canvas().picture().spots.size(), 2U);
  shown.window.document().undo();
  EXPECT_EQ(shown.window.view<BenchmarksView>().canvas().picture().spots.size(), 4U);
}

TEST(Benchmarks, EveryControlHasAnAccessibleNameOrText) {
  REQUIRE_DISPLAY();
  ShownBenchmarks shown;
  for (QWidget* each : shown.window.view<BenchmarksView>().findChildren<QWidget*>()) {
    if (each->focusPolicy() == Qt::NoFocus || !each->isVisible()) continue;
    QAccessibleInterface* access = QAccessible::queryAccessibleInterface(each);
    if (access == nullptr || qobject_cast<QAbstractScrollArea*>(each->parentWidget())) continue;
    EXPECT_FALSE(access->text(QAccessible::Name).isEmpty())
        << each->metaObject()->className() << " " << each->objectName().toStdString();
  }
}

TEST(Benchmarks, TheWindowClosesInTheMiddleOfASweep) {
  REQUIRE_DISPLAY();
  for (int i = 0; i < 2; ++i) {
    ShownBenchmarks shown;
    shown.type("bench-rounds", "5000");
    shown.press("bench-run");
    ASSERT_TRUE(wait_for([&] { return i == 0 || shown.model().progress().done > 3; }));
    QElapsedTimer clock;
    clock.start();
    shown.window.close();
    EXPECT_LT(clock.elapsed(), 2000 * slowness);
  }
}

}  // namespace
}  // namespace conelab::desktop
