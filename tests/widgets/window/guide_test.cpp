// The guided examples: each step is ticked when it has been done, and what they say is true.
#include "widgets/window/guide.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/desktop.h"
#include "tests/widgets/maps/whole_maps.h"
#include "tests/widgets/window/keys.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/session/brought.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

struct GuidedWindow {
  QTemporaryDir state;
  MainWindow window{desktop_backends(), state.path()};
  Guide* guide = nullptr;

  explicit GuidedWindow(int example) {
    window.resize(1440, 900);
    show_active(window);
    guide = window.findChild<Guide*>("guide");
    auto* button = window.findChild<QAbstractButton*>(QStringLiteral("example-%1").arg(example));
    click(*button, QRectF(button->rect()).center());
    EXPECT_TRUE(is_ready());
    window.view<MapsView>().canvas().grab();
  }
  [[nodiscard]] bool is_ready() {
    return wait_for([&] {
      const auto& panels = window.view<MapsView>().model().panels();
      return !panels.empty() && window.workspace().jobs().running().empty() && is_whole(*panels[0]);
    });
  }
  [[nodiscard]] QString step(int number) {
    return window.findChild<QLabel*>(QStringLiteral("guide-step-%1").arg(number))->text();
  }
  [[nodiscard]] bool is_answered() {
    return window.findChild<QLabel*>("guide-answer")->isVisible();
  }
  [[nodiscard]] double value(std::size_t panel, const Focus& pair) {
    return window.view<MapsView>().model().panels()[panel]->pyramid->source().exact(pair.query,
                                                                                    pair.key);
  }
  [[nodiscard]] std::int64_t strongest_key(std::size_t panel, std::int64_t query) {
    std::int64_t best = 0;
    for (std::int64_t key = 0; key < window.view<MapsView>().model().columns(); ++key) {
      if (value(panel, {query, key}) > value(panel, {query, best})) best = key;
    }
    return best;
  }
  void point(const Focus& pair, bool keep) {
    MapsCanvas& canvas = window.view<MapsView>().canvas();
    const QPointF at = canvas.cell_centre(0, pair);
    keep ? click(canvas, at) : move_to(canvas, at);
    pump(30);
  }
  void choose(const char* box, const QString& text) {
    window.findChild<QComboBox*>(box)->setCurrentText(text);
    pump(30);
  }
};

/// What a text says, with so many digits.
std::string said(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

TEST(Guide, OfAHierarchyTellsTheTruth) {
  REQUIRE_DISPLAY();
  GuidedWindow opened(0);
  const auto& trace = opened.window.workspace().trace();
  EXPECT_EQ(trace->key_label(0, 97), "sporting_dog.n.01");
  EXPECT_EQ(trace->query_label(0, 120), "cocker_spaniel.n.01");
  ASSERT_TRUE(trace->own_call);
  EXPECT_EQ(opened.window.document().session().maps.calls, std::vector<Call>{*trace->own_call});
  EXPECT_TRUE(opened.step(2).contains(said(opened.value(0, {120, 97}), 3).c_str()));
  EXPECT_EQ(opened.strongest_key(0, 120), 97);
  EXPECT_EQ(opened.window.document().session().maps.scale, "row");
  EXPECT_TRUE(shows_structure(opened.window.document().session().maps)) << "in figures, too";
  auto* field = opened.window.findChild<QLineEdit*>("maps-search");
  opened.window.view<MapsView>().find_token();
  field->setText("cocker_spaniel");
  press_key(*field, Qt::Key_Return);
  pump(30);
  EXPECT_EQ(opened.guide->done(), 1U);
  press_key(*field, Qt::Key_Down);
  opened.window.view<MapsView>().keep_largest();
  pump(30);
  EXPECT_EQ(opened.guide->done(), 2U);
  opened.window.workspace().open_group("/dot/seed1");
  EXPECT_TRUE(wait_for([&] { return opened.guide->finished(); }));
  EXPECT_EQ(opened.window.document().session().maps.calls.front().similarity, "dot");
}

TEST(Guide, LeadsToTheAnswerAndTellsTheTruth) {
  REQUIRE_DISPLAY();
  GuidedWindow opened(1);
  EXPECT_FALSE(opened.window.findChild<QDockWidget*>("dock-guide")->visibleRegion().isEmpty());
  EXPECT_GE(opened.guide->height(), 300);
  EXPECT_FALSE(opened.is_answered());
  // The numbers of its steps are those of the maps.
  EXPECT_TRUE(opened.step(1).contains(said(opened.value(0, {26, 0}), 3).c_str()));
  EXPECT_TRUE(opened.step(2).contains(said(opened.value(1, {26, 13}), 3).c_str()));
  EXPECT_TRUE(opened.step(2).contains(said(opened.value(2, {26, 13}), 3).c_str()));
  EXPECT_EQ(opened.strongest_key(0, 26), 0);
  EXPECT_EQ(opened.strongest_key(1, 26), 13);
  EXPECT_EQ(opened.strongest_key(2, 26), 13);
  EXPECT_EQ(opened.window.workspace().trace()->key_label(0, 13), "!");
  opened.point({25, 3}, false);
  EXPECT_EQ(opened.guide->done(), 0U);
  opened.point({26, 0}, false);
  EXPECT_EQ(opened.guide->done(), 1U);
  EXPECT_TRUE(opened.step(1).startsWith("✓ 1."));
  EXPECT_TRUE(opened.step(2).startsWith("2."));
  opened.point({26, 13}, true);
  EXPECT_EQ(opened.guide->done(), 2U);
  auto* shared = opened.window.findChild<QToolButton*>("maps-shared");
  click(*shared, QRectF(shared->rect()).center());
  EXPECT_EQ(opened.guide->done(), 3U);
  opened.choose("maps-layout", "arcs");
  EXPECT_TRUE(opened.guide->finished());
  EXPECT_TRUE(opened.is_answered());
  auto* close = opened.window.findChild<QToolButton*>("guide-close");
  click(*close, QRectF(close->rect()).center());
  EXPECT_TRUE(opened.window.findChild<QDockWidget*>("dock-guide")->isHidden());
}

TEST(Guide, StaysInFrontWhileAFigureIsLookedAt) {
  REQUIRE_DISPLAY();
  GuidedWindow opened(1);
  opened.window.resize(1200, 800);
  pump(200);
  const auto show = [&](const char* name) {
    for (QAction* action : opened.window.actions()) {
      if (action->text() == name) action->trigger();
    }
    pump(200);
  };
  const auto* guide = opened.window.findChild<QDockWidget*>("dock-guide");
  show("Show Figures");
  EXPECT_TRUE(guide->isHidden());
  show("Show Attention maps");
  EXPECT_FALSE(guide->visibleRegion().isEmpty());
}

// The tools that steps name stand under “more” in a small window.
TEST(Guide, SaysWhereHiddenToolsAre) {
  REQUIRE_DISPLAY();
  GuidedWindow opened(1);
  opened.window.resize(1024, 700);
  pump(200);
  const auto* shared = opened.window.findChild<QToolButton*>("maps-shared");
  EXPECT_TRUE(shared->visibleRegion().isEmpty());
  EXPECT_TRUE(opened.step(3).contains("under “more”"));
}

TEST(Guide, OfSharpnessFollowsTheParameter) {
  REQUIRE_DISPLAY();
  GuidedWindow opened(2);
  const Focus pair{26, 13};
  for (std::size_t panel = 0; panel < 3; ++panel) {
    EXPECT_TRUE(opened.step(1).contains(said(opened.value(panel, pair), 3).c_str())) << panel;
  }
  opened.point(pair, true);
  opened.choose("maps-reference", "− penumbral");
  EXPECT_EQ(opened.guide->done(), 2U);
  QTest::keyPress(&opened.window.view<MapsView>().canvas(), Qt::Key_R);
  QTest::keyRelease(&opened.window.view<MapsView>().canvas(), Qt::Key_R);
  EXPECT_EQ(opened.guide->done(), 3U);
  auto* gamma = opened.window.findChild<QLineEdit*>("operator-2-gamma");
  gamma->setFocus();
  gamma->selectAll();
  type_text(*gamma, "64");
  QTest::keyClick(gamma, Qt::Key_Return);
  EXPECT_EQ(opened.guide->done(), 4U);
  opened.choose("maps-reference", "no difference");
  EXPECT_TRUE(opened.guide->finished());
  EXPECT_TRUE(opened.is_ready());
  EXPECT_TRUE(opened.step(5).contains(said(opened.value(2, pair), 3).c_str()));
}

TEST(Guide, OfTheAncestorSaysItsHeight) {
  REQUIRE_DISPLAY();
  GuidedWindow opened(3);
  opened.point({2, 6}, true);
  EXPECT_EQ(opened.guide->done(), 1U);
  opened.choose("maps-quantity", "logits");
  EXPECT_TRUE(opened.is_ready());
  const double logit = opened.value(0, {2, 6});
  EXPECT_TRUE(opened.step(2).contains(said(-logit, 2).c_str())) << logit;
  const QString told = opened.window.view<ExplorerView>().readout();
  EXPECT_TRUE(told.contains((", " + fmt::format("{:.9g}", -logit)).c_str())) << told.toStdString();
  opened.window.document().edit("numbers", [](Session& s) { s.cones.numbers = true; });
  EXPECT_EQ(opened.guide->done(), 3U);
  opened.window.document().edit("drag", [](Session& s) { s.cones.follow_tokens = false; });
  EXPECT_TRUE(opened.is_answered());
}

}  // namespace
}  // namespace conelab::desktop
