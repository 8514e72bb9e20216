#include "widgets/window/banner.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QLabel>
#include <QMainWindow>
#include <QTemporaryDir>
#include <QToolButton>

#include "tests/widgets/driving.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

struct ShownBanner {
  QMainWindow window;
  Banner* banner = new Banner;
  ShownBanner() {
    window.addToolBar(Qt::TopToolBarArea, banner);
    window.resize(900, 300);
    show_active(window);
  }
  QToolButton* button(const QString& text) {
    for (QToolButton* each : banner->findChildren<QToolButton*>()) {
      if (each->text() == text) return each;
    }
    return nullptr;
  }
};

TEST(Banner, IsOneLineWithItsDetailsOnDemand) {
  REQUIRE_DISPLAY();
  ShownBanner shown;
  const QString name(600, 'x');
  shown.banner->show_error(name + ".h5: damaged");
  pump(60);
  EXPECT_TRUE(shown.banner->shows_error());
  EXPECT_EQ(shown.banner->text(), name + ".h5: damaged");
  const int line = shown.banner->fontMetrics().height();
  const QWidget* text = shown.banner->findChild<QWidget*>("error-banner");
  EXPECT_TRUE(text->isVisible());
  EXPECT_FALSE(text->visibleRegion().isEmpty());
  EXPECT_GT(text->width(), 600);
  EXPECT_LT(shown.banner->height(), 2.5 * line);
  QToolButton* details = shown.button("Details");
  ASSERT_TRUE(details != nullptr && details->isVisible());
  details->click();
  pump(60);
  auto* whole = shown.banner->findChild<QLabel*>();
  ASSERT_TRUE(whole->isVisible());
  EXPECT_EQ(whole->text(), shown.banner->text());
  shown.button(QStringLiteral("✕"))->click();
  EXPECT_EQ(shown.banner->text(), "");
}

TEST(Banner, WhatFitsNeedsNoDetails) {
  REQUIRE_DISPLAY();
  ShownBanner shown;
  shown.banner->show_error("x.h5: empty");
  pump(60);
  EXPECT_FALSE(shown.button("Details")->isVisible());
}

TEST(Banner, NoticesAreCalmAndOfferSomething) {
  REQUIRE_DISPLAY();
  ShownBanner shown;
  shown.banner->show_error("x.h5: empty");
  const QString error_colours = shown.banner->styleSheet();
  int opened = 0;
  shown.banner->show_notice("r.h5 is a result", "Open its trace", [&] { ++opened; });
  pump(60);
  EXPECT_FALSE(shown.banner->shows_error());
  EXPECT_NE(shown.banner->styleSheet(), error_colours);
  ASSERT_TRUE(shown.button("Open its trace")->isVisible());
  shown.button("Open its trace")->click();
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(shown.banner->text(), "");
  shown.banner->show_notice("nothing to do");
  pump(30);
  EXPECT_EQ(shown.button("Open its trace"), nullptr);
}

TEST(Banner, IsNoPartOfALayout) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  {
    MainWindow window(Backends{}, state.path());
    show_active(window);
    window.show_error("x.h5: empty");
    pump(60);
    window.close();
  }
  MainWindow again(Backends{}, state.path());
  EXPECT_TRUE(again.restore_autosave());
  show_active(again);
  pump(100);
  auto* banner = again.findChild<QWidget*>("banner");
  ASSERT_NE(banner, nullptr);
  EXPECT_FALSE(banner->isVisible());
  // Nor does an arrangement that was made without a message hide one.
  again.show_error("y.h5: empty");
  for (QAction* action : again.actions()) {
    if (action_name(*action) == "Usual layout") action->trigger();
  }
  pump(100);
  EXPECT_TRUE(banner->isVisible());
  EXPECT_EQ(again.error_shown(), "y.h5: empty");
}

}  // namespace
}  // namespace conelab::desktop
