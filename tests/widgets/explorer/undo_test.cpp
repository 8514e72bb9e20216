// Whatever is done in the explorer, in whichever order, is taken back by undo and done again by
// redo, and the view shows what the document holds.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QComboBox>
#include <QLineEdit>

#include "core/base/random.h"
#include "tests/widgets/driving.h"
#include "widgets/explorer/explorer_view.h"

namespace conelab::desktop {
namespace {

/// The explorer alone, driven at random as a person would.
class Hand {
 public:
  explicit Hand(std::uint64_t seed) : random_(seed) {
    view_.resize(700, 760);
    show_active(view_);
    frame();
  }

  void act() {
    switch (pick(9)) {
      case 0:
        return choose("explorer-family");
      case 1:
        return choose("explorer-model");
      case 2:
        return choose("explorer-beside");
      case 3:
        return type(pick(2) ? "explorer-u" : "explorer-v");
      case 4:
        return toggle();
      case 5:
        return pull(viewport().handle(pick(2) ? "u" : "v"));
      case 6:
        return pull({viewport().width() * random_.uniform(), viewport().height() - 30.0});
      case 7:
        turn_wheel(viewport(), {viewport().width() / 2.0, viewport().height() / 2.0},
                   1 - 2 * static_cast<int>(pick(2)));
        return frame();
      default:
        view_.findChild<QAbstractButton*>("explorer-figure")->click();
    }
  }

  void frame() {
    const long before = viewport().frames_painted();
    viewport().wake();
    EXPECT_TRUE(wait_for([&] { return viewport().frames_painted() > before + 1; }));
  }

  /// The view shows the session.
  void expect_shown() {
    EXPECT_TRUE(viewport().choice() == document.session().cones);
    EXPECT_EQ(view_.findChild<QComboBox*>("explorer-family")->currentText().toStdString(),
              document.session().cones.family);
  }

  ExplorerViewport& viewport() { return view_.viewport(); }
  Document document;

 private:
  std::uint64_t pick(std::uint64_t n) { return random_.next() % n; }

  void choose(const char* name) {
    auto* box = view_.findChild<QComboBox*>(name);
    box->setCurrentIndex(static_cast<int>(pick(static_cast<std::uint64_t>(box->count()))));
    frame();
  }

  void type(const char* name) {
    auto* field = view_.findChild<QLineEdit*>(name);
    field->setText(QString::number(random_.uniform() - 0.5) + ", " +
                   QString::number(0.05 + 0.3 * random_.uniform()));
    emit field->editingFinished();
  }

  void toggle() {
    const char* const names[] = {"geodesic", "horospheres", "level lines", "common ancestors"};
    const QRectF box = viewport().control(names[pick(4)]);
    if (!box.isEmpty()) click(viewport(), {box.left() + 8, box.center().y()});
    frame(), frame();
  }

  void pull(QPointF from) {
    const QPointF to = from + QPointF(60 * random_.uniform() - 30, 40 * random_.uniform() - 20);
    move_to(viewport(), from);
    frame();
    send_mouse(viewport(), QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
    frame();
    move_to(viewport(), to, Qt::LeftButton);
    frame();
    send_mouse(viewport(), QEvent::MouseButtonRelease, to, Qt::LeftButton, Qt::NoButton);
    frame();
  }

  Random random_;
  JobPool jobs_{deliver};
  Workspace workspace_{document, jobs_};
  ExplorerView view_{workspace_};
};

TEST(Explorer, AnySequenceOfItsEditsIsUndoneToTheStartAndRedoneToTheEnd) {
  REQUIRE_DISPLAY();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Hand hand(seed);
    Document& document = hand.document;
    const Session start = document.session();
    for (int i = 0; i < 60; ++i) {
      hand.act();
      hand.expect_shown();
    }
    const Session end = document.session();
    ASSERT_FALSE(start == end);
    int steps = 0;
    for (; document.history().can_undo(); ++steps) document.undo(), hand.expect_shown();
    EXPECT_GT(steps, 15) << seed;
    EXPECT_TRUE(document.session() == start) << seed;
    hand.frame();  // What is drawn afterwards changes nothing.
    EXPECT_TRUE(document.session() == start) << seed;
    while (document.history().can_redo()) document.redo(), hand.expect_shown();
    EXPECT_TRUE(document.session() == end) << seed;
  }
}

}  // namespace
}  // namespace conelab::desktop
