// Docks fold away beside views that need the whole window, and come back where they were.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDockWidget>
#include <QPushButton>
#include <QTabBar>
#include <QToolButton>
#include <cmath>

#include "tests/widgets/window/keys.h"
#include "tests/widgets/window/trace_window.h"
#include "widgets/maps/maps_view.h"

namespace conelab::desktop {
namespace {

struct FoldingWindow : TraceWindow {
  explicit FoldingWindow(QSize size = {1440, 900}) : TraceWindow(size) { pump(150); }
  [[nodiscard]] QDockWidget* dock(const char* name) { return window.findChild<QDockWidget*>(name); }
  /// Returns where the tab of a view is, in the window.
  [[nodiscard]] QPoint tab_place(const QString& title) {
    for (QTabBar* bar : window.findChildren<QTabBar*>()) {
      for (int i = 0; i < bar->count(); ++i) {
        if (bar->tabText(i) == title && bar->isVisible()) {
          return bar->mapTo(&window, bar->tabRect(i).topLeft());
        }
      }
    }
    return {};
  }
  /// Clicks the tab of a view.
  void choose_tab(const QString& title) {
    for (QTabBar* bar : window.findChildren<QTabBar*>()) {
      for (int i = 0; i < bar->count(); ++i) {
        if (bar->tabText(i) != title || !bar->isVisible()) continue;
        QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(i).center());
        pump(200);
        return;
      }
    }
    ADD_FAILURE() << "no tab " << title.toStdString();
  }
};

TEST(Folding, BenchmarksAndFiguresGetTheWidthAndGiveItBack) {
  REQUIRE_DISPLAY();
  FoldingWindow opened({1200, 800});
  const int maps = opened.dock("dock-maps")->width();
  const int explorer = opened.dock("dock-explorer")->width();
  const int data = opened.dock("dock-data")->height();
  for (const char* title : {"Benchmarks", "Figures"}) {
    opened.choose_tab(title);
    EXPECT_TRUE(opened.dock("dock-explorer")->isHidden()) << title;
    EXPECT_TRUE(opened.dock("dock-operators")->isHidden()) << title;
    const char* name = title == std::string("Figures") ? "dock-figures" : "dock-benchmarks";
    EXPECT_GT(opened.dock(name)->width(), 1160) << title;
  }
  opened.choose_tab("Attention maps");
  EXPECT_TRUE(opened.dock("dock-operators")->isVisible());
  EXPECT_NEAR(opened.dock("dock-maps")->width(), maps, 2);
  EXPECT_NEAR(opened.dock("dock-explorer")->width(), explorer, 2);
  EXPECT_NEAR(opened.dock("dock-data")->height(), data, 2);
}

TEST(Folding, TabsKeepTheirPlaceInAWideWindow) {
  REQUIRE_DISPLAY();
  FoldingWindow opened;
  const QPoint before = opened.tab_place("Benchmarks");
  for (const char* title : {"Benchmarks", "Studies", "Figures", "Attention maps"}) {
    opened.choose_tab(title);
    EXPECT_EQ(opened.tab_place("Benchmarks"), before) << title;
    EXPECT_EQ(opened.dock("dock-explorer")->isHidden(), title != std::string("Attention maps"));
  }
}

TEST(Folding, WhatIsAskedForBesideAViewIsShown) {
  REQUIRE_DISPLAY();
  FoldingWindow opened({1200, 800});
  opened.choose_tab("Figures");
  for (QAction* action : opened.window.actions()) {
    if (action->text() == "Show Data") action->trigger();
  }
  pump(150);
  EXPECT_TRUE(opened.dock("dock-data")->isVisible());
  EXPECT_TRUE(opened.dock("dock-explorer")->isHidden());
  opened.choose_tab("Attention maps");
  EXPECT_TRUE(opened.dock("dock-explorer")->isVisible());
}

TEST(Folding, TheWindowFitsSmallScreensWithATraceInIt) {
  REQUIRE_DISPLAY();
  FoldingWindow opened;
  for (const QSize& size : {QSize(1366, 768), QSize(1024, 700)}) {
    for (const char* title : {"Attention maps", "Benchmarks", "Figures", "Welcome"}) {
      opened.choose_tab(title);
      opened.window.resize(size);
      pump(200);
      EXPECT_EQ(opened.window.size(), size) << title;
    }
  }
}

TEST(Folding, ButtonsKeepTheirPlacesWhenWorkBegins) {
  REQUIRE_DISPLAY();
  FoldingWindow opened;
  opened.choose_tab("Attention maps");
  const QRect canvas = opened.window.view<MapsView>().canvas().geometry();
  opened.window.document().edit("work", [](Session& s) { s.trace.head = 3; });
  pump(30);
  EXPECT_EQ(opened.window.view<MapsView>().canvas().geometry(), canvas);
  opened.window.view<MapsView>().model().cancel();
  opened.window.document().edit("work", [](Session& s) { s.trace.head = 4; });
  opened.window.view<MapsView>().model().cancel();
  pump(50);
  EXPECT_EQ(opened.window.view<MapsView>().canvas().geometry(), canvas);
}

TEST(Folding, ToolsTakeTwoLinesInSmallWindowsAndUnfold) {
  REQUIRE_DISPLAY();
  FoldingWindow opened;
  opened.choose_tab("Attention maps");
  opened.window.resize(1024, 700);
  pump(200);
  auto* layout = opened.window.findChild<QComboBox*>("maps-layout");
  auto* quantity = opened.window.findChild<QComboBox*>("maps-quantity");
  auto* numbers = opened.window.findChild<QToolButton*>("maps-numbers");
  auto* row = layout->parentWidget();
  auto* more = row->findChild<QToolButton*>("more-tools");
  ASSERT_TRUE(more != nullptr && more->isVisible());
  const int folded = row->height();
  EXPECT_LT(folded, 2.5 * layout->height() + 8);
  EXPECT_LT(quantity->geometry().bottom(), folded);
  EXPECT_GE(numbers->geometry().top(), folded);
  const QRect place = more->rect().translated(more->mapTo(row, QPoint()));
  for (const int head : {3, 5, 11}) {  // Nothing moves.
    opened.window.document().edit("head", [&](Session& s) { s.trace.head = head; });
    const QRect before = quantity->geometry();
    pump(80);
    EXPECT_EQ(row->height(), folded);
    EXPECT_EQ(quantity->geometry(), before);
  }
  click(*more, QRectF(more->rect()).center());
  pump(80);
  EXPECT_LT(numbers->geometry().bottom(), row->height());
  EXPECT_EQ(more->rect().translated(more->mapTo(row, QPoint())), place);
  click(*more, QRectF(more->rect()).center());
  pump(80);
  EXPECT_EQ(row->height(), folded);
  numbers->setFocus(Qt::TabFocusReason);  // The keyboard reaches every tool.
  pump(80);
  EXPECT_LT(numbers->geometry().bottom(), row->height());
}

TEST(Folding, ASmallWindowShowsMapsOf200PixelsSideBySide) {
  REQUIRE_DISPLAY();
  TraceWindow opened({1024, 700});
  for (const std::int64_t head : {0, 5}) {  // Weights of penumbral are flat in head 5.
    opened.window.document().edit("head", [&](Session& s) { s.trace.head = head; });
    ASSERT_TRUE(opened.is_at_rest());
    pump(150);
    MapsCanvas& canvas = opened.window.view<MapsView>().canvas();
    const auto& panels = canvas.places().panels;
    ASSERT_EQ(panels.size(), 3U);
    EXPECT_EQ(panels[0].cells.y, panels[1].cells.y) << "side by side";
    EXPECT_GE(std::round(panels[0].cells.height), 200);
    EXPECT_LT(panels[2].cells.y, canvas.parentWidget()->height()) << "seen before scrolling";
  }
}

}  // namespace
}  // namespace conelab::desktop
