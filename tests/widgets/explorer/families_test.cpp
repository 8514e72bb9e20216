// Another family, and many beside each other, over the points of the user.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>

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

TEST(Explorer, TheSettingsOpenOverNoneOfManyFamilies) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.resize(1420, 880);
  ExplorerViewport& viewport = shown.view.viewport();
  ASSERT_TRUE(wait_for([&] { return viewport.control("hide settings").isValid(); }));
  auto* beside = shown.view.findChild<QComboBox*>("explorer-beside");
  beside->setCurrentIndex(beside->count() - 1);
  settle(viewport);
  EXPECT_EQ(viewport.pane_count(), 5U);
  EXPECT_FALSE(viewport.control("geodesic").isValid());
  beside->setCurrentIndex(0);
  EXPECT_TRUE(wait_for([&] { return viewport.control("geodesic").isValid(); }));
}

}  // namespace
}  // namespace conelab::desktop
