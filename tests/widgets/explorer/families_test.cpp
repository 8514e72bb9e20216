// The points of the user: their fields, another family over them, and many beside each other.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <algorithm>

#include "tests/widgets/explorer/shown_explorer.h"

namespace conelab::desktop {
namespace {

TEST(Explorer, AnotherFamilyKeepsThePointsAndSaysWhichLiesOutside) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto* family = shown.view.findChild<QComboBox*>("explorer-family");
  auto* field = shown.view.findChild<QLineEdit*>("explorer-u");
  const auto type = [&](const QString& text) {
    field->setFocus();
    field->selectAll();
    for (const QChar letter : text) press_key(*field, 0, Qt::NoModifier, QString(letter));
    press_key(*field, Qt::Key_Return);
    pump(80);
  };
  const auto u = [&] { return shown.document.session().cones.u; };
  const std::array<double, 2> high = {0, 1.5};
  family->setCurrentText("umbral");
  type("0, 1.5");
  EXPECT_EQ(u(), high);
  EXPECT_FALSE(shown.view.readout().contains("outside"));
  family->setCurrentText("penumbral");
  pump(80);
  EXPECT_EQ(u(), high);
  EXPECT_EQ(field->text(), "0, 1.5");
  EXPECT_TRUE(shown.view.readout().contains("outside: u")) << shown.view.readout().toStdString();
  family->setCurrentText("umbral");
  pump(80);
  EXPECT_EQ(u(), high);
  EXPECT_TRUE(shown.view.readout().contains("K(u, v)"));
  // No family has points below the boundary, so that these are not entered.
  type("0.3, -0.2");
  EXPECT_EQ(u(), high);
  const auto* label = shown.view.findChild<QLabel*>("explorer-readout");
  EXPECT_TRUE(label->text().contains("u: its height must be above 0"));
  press_key(*field, Qt::Key_Escape);
}

TEST(Explorer, FieldsShowFewDigitsAndLoseNone) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  const std::array<double, 2> exact = {-0.34567891234567, 0.25123456789123};
  shown.document.edit("move", [&](Session& s) { s.cones.u = exact; });
  auto* field = shown.view.findChild<QLineEdit*>("explorer-u");
  const auto u = [&] { return shown.document.session().cones.u; };
  EXPECT_EQ(field->text(), "-0.3457, 0.2512");
  field->setFocus();
  EXPECT_EQ(field->text(), "-0.34567891234567, 0.25123456789123");
  press_key(*field, Qt::Key_Return);
  field->clearFocus();
  EXPECT_EQ(field->text(), "-0.3457, 0.2512");
  EXPECT_EQ(u(), exact);
  // The other coordinate keeps its digits, and so does what is typed.
  field->setFocus();
  field->setCursorPosition(0);
  for (int i = 0; i < 5; ++i) press_key(*field, Qt::Key_Delete);
  for (const QChar letter : QString("-0.11")) press_key(*field, 0, Qt::NoModifier, letter);
  field->clearFocus();
  EXPECT_EQ(u(), (std::array<double, 2>{-0.11567891234567, exact[1]}));
  EXPECT_EQ(field->text(), "-0.1157, 0.2512");
  // A text that is typed as the field showed it is a point of few digits.
  field->setFocus();
  field->selectAll();
  for (const QChar letter : QString("-0.1157, 0.2512")) {
    press_key(*field, 0, Qt::NoModifier, letter);
  }
  press_key(*field, Qt::Key_Return);
  EXPECT_EQ(u(), (std::array<double, 2>{-0.1157, 0.2512}));
}

TEST(Explorer, TheSettingsOpenOverNoneOfManyFamilies) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.resize(1420, 880);
  ASSERT_TRUE(wait_for([&] { return shown.viewport.control("hide settings").isValid(); }));
  auto* beside = shown.view.findChild<QComboBox*>("explorer-beside");
  beside->setCurrentIndex(beside->count() - 1);
  settle(shown.viewport);
  EXPECT_EQ(shown.viewport.pane_count(), 5U);
  EXPECT_FALSE(shown.viewport.control("geodesic").isValid());
  beside->setCurrentIndex(0);
  EXPECT_TRUE(wait_for([&] { return shown.viewport.control("geodesic").isValid(); }));
}

TEST(Explorer, ItsMenuPutsPointsUnderThePointerAndCopies) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  ASSERT_TRUE(shown.viewport.shows_tokens());
  const QPoint at = shown.viewport.handle("v").toPoint() - QPoint(60, 0);
  const auto trigger = [&](const QString& text) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, shown.viewport.mapToGlobal(at));
    QApplication::sendEvent(&shown.viewport, &event);
    auto* menu = shown.view.findChild<QMenu*>("explorer-menu");
    if (menu == nullptr) return false;
    const QList<QAction*> actions = menu->actions();
    const auto named = std::find_if(actions.begin(), actions.end(),
                                    [&](const QAction* action) { return action->text() == text; });
    const bool found = named != actions.end();
    if (found) (*named)->trigger();
    menu->close();
    QCoreApplication::sendPostedEvents(menu, QEvent::DeferredDelete);
    settle(shown.viewport);
    return found;
  };
  EXPECT_FALSE(trigger("Put source here")) << "penumbral cones of the infinite family have none";
  ASSERT_TRUE(trigger("Put u here"));
  EXPECT_FALSE(shown.document.session().cones.follow_tokens) << "u is a point of the user";
  const QPointF u = shown.viewport.handle("u");
  EXPECT_NEAR(u.x(), at.x(), 1.5);
  EXPECT_NEAR(u.y(), at.y(), 1.5);
  QClipboard& clipboard = *QGuiApplication::clipboard();
  ASSERT_TRUE(trigger("Copy the values"));
  EXPECT_EQ(clipboard.text(), shown.view.readout());
  ASSERT_TRUE(trigger("Copy the picture"));
  EXPECT_EQ(clipboard.pixmap().size(), shown.viewport.size() * shown.viewport.devicePixelRatioF());
  shown.document.undo();
  EXPECT_TRUE(shown.document.session().cones.follow_tokens) << "one step of the history";
  shown.document.edit("family", [](Session& s) { s.cones.family = "umbral-finite"; });
  settle(shown.viewport);
  EXPECT_TRUE(trigger("Put source here"));
}

}  // namespace
}  // namespace conelab::desktop
