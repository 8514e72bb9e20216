// Keys of the views work wherever the focus is; the palette finds everything; layers open by a
// click.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QPushButton>
#include <QTextEdit>
#include <QTreeWidget>
#include <algorithm>
#include <set>

#include "tests/widgets/window/keys.h"
#include "tests/widgets/window/trace_window.h"
#include "widgets/maps/maps_view.h"
#include "widgets/operators/operator_card.h"
#include "widgets/operators/operators_panel.h"

namespace conelab::desktop {
namespace {

struct KeyWindow : TraceWindow {
  KeyWindow() : TraceWindow({1300, 850}) { point_into(*window.findChild<QMenuBar*>()); }
  [[nodiscard]] const Session& session() { return window.document().session(); }
  [[nodiscard]] bool group_is(const std::string& group) {
    return wait_for([&] { return session().trace.group == group; });
  }
};

TEST(ViewKeys, MovePairsHeadsAndLayersWhateverHasTheFocus) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  opened.window.findChild<QComboBox*>("maps-scale")->setFocus();
  type_key(opened.window, Qt::Key_BracketRight);
  type_key(opened.window, Qt::Key_BracketRight);
  EXPECT_EQ(opened.session().trace.head, 2);
  opened.window.document().edit("join", [](Session& s) { s.maps.join = "mean"; });
  type_key(opened.window, Qt::Key_BracketLeft);
  EXPECT_EQ(opened.session().trace.head, 1);
  EXPECT_EQ(opened.session().maps.join, "one") << "one head is shown, not the mean of all";
  opened.window.view<MapsView>().canvas().setFocus();
  type_key(opened.window, Qt::Key_Down);
  type_key(opened.window, Qt::Key_Right);
  type_key(opened.window, Qt::Key_Right);
  ASSERT_TRUE(opened.session().locked.has_value());
  const Focus pair = *opened.session().locked;
  type_key(opened.window, Qt::Key_PageDown);
  EXPECT_TRUE(opened.group_is("/german/layer4"));
  EXPECT_EQ(opened.session().locked, pair) << "the pair is that of the same tokens";
  EXPECT_EQ(opened.session().trace.head, 1);
  EXPECT_TRUE(opened.is_at_rest());
  type_key(opened.window, Qt::Key_PageUp);
  EXPECT_TRUE(opened.group_is("/german/layer3"));
}

TEST(ViewKeys, EveryViewHasAKey) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  const QList<QDockWidget*> docks = opened.window.findChildren<QDockWidget*>();
  for (const QDockWidget* dock : docks) {
    const QList<QAction*> all = opened.window.actions();
    const auto shows = std::ranges::find(all, "Show " + dock->windowTitle(), &QAction::text);
    ASSERT_NE(shows, all.end()) << dock->windowTitle().toStdString();
    ASSERT_FALSE((*shows)->shortcut().isEmpty()) << dock->windowTitle().toStdString();
    const QKeyCombination keys = (*shows)->shortcut()[0];
    type_key(opened.window, keys.key(), keys.keyboardModifiers());
    EXPECT_TRUE(wait_for([&] { return !dock->visibleRegion().isEmpty(); }, 5000))
        << dock->windowTitle().toStdString();
  }
}

TEST(ViewKeys, TabReachesEveryControlOfEveryView) {
  REQUIRE_DISPLAY();
  TraceWindow opened({1440, 900});
  for (QDockWidget* dock : opened.window.findChildren<QDockWidget*>()) {
    SCOPED_TRACE(dock->objectName().toStdString());
    opened.window.show_view(dock->objectName().mid(5));
    pump(100);
    std::set<const QWidget*> reached;
    for (int i = 0; i < 250; ++i) {
      const QWidget* focus = QApplication::focusWidget();
      if (focus != nullptr) reached.insert(focus);
      for (const QDockWidget* other : opened.window.findChildren<QDockWidget*>()) {
        const bool hidden = other->visibleRegion().isEmpty() && focus != nullptr;
        EXPECT_FALSE(hidden && other->isAncestorOf(focus)) << "in a view behind another";
      }
      // A text keeps Tab for itself and is left by Ctrl+Tab.
      const auto* text = qobject_cast<const QTextEdit*>(focus);
      const bool keeps = text != nullptr && !text->tabChangesFocus();
      QTest::keyClick(focus != nullptr ? QApplication::focusWidget() : &opened.window, Qt::Key_Tab,
                      keeps ? Qt::ControlModifier : Qt::NoModifier);
    }
    for (const QWidget* widget : dock->widget()->findChildren<QWidget*>()) {
      const bool takes = (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible() &&
                         widget->isEnabled() && widget->focusProxy() == nullptr &&
                         qobject_cast<const QLabel*>(widget) == nullptr;
      if (!takes) continue;
      EXPECT_TRUE(reached.contains(widget))
          << widget->metaObject()->className() << " " << widget->objectName().toStdString()
          << ": the last of " << reached.size() << " has the name "
          << QApplication::focusWidget()->objectName().toStdString();
    }
  }
}

TEST(ViewKeys, ArrowsStepByWordWhereWordsAreMergedAndTheMapsFollow) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  opened.window.document().edit("merge", [](Session& s) {
    s.maps.merge_words = true;
    s.locked = Focus{0, 0};
  });
  EXPECT_TRUE(opened.is_at_rest());
  auto& view = opened.window.view<MapsView>();
  MapsCanvas& canvas = view.canvas();
  const MapAxis keys = view.model().tokens().key;
  ASSERT_TRUE(keys.merged());
  for (int i = 0; i < 8; ++i) turn_wheel(canvas, canvas.cell_centre(0, {0, 0}), 1);
  canvas.setFocus();
  for (std::size_t word = 1; word < keys.label.size(); ++word) {
    type_key(opened.window, Qt::Key_Right);
    EXPECT_EQ(opened.session().locked, (Focus{0, keys.first[word]}));
  }
  type_key(opened.window, Qt::Key_Right);
  EXPECT_EQ(opened.session().locked->key, keys.first[keys.label.size() - 1]) << "it is the last";
  const QPointF at = canvas.cell_centre(0, {0, keys.size() - 1});
  EXPECT_TRUE(canvas.places().panels[0].cells.contains({at.x(), at.y()}));
  opened.window.document().edit("arcs", [](Session& s) { s.maps.layout = "arcs"; });
  type_key(opened.window, Qt::Key_Left);
  EXPECT_EQ(opened.session().locked->key, keys.first[keys.label.size() - 1] - 1) << "one token";
}

TEST(ViewKeys, TheReferenceIsShownWhileRIsHeldAndChosenByShiftR) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  tree->setFocus();
  type_key(opened.window, Qt::Key_R, Qt::ShiftModifier);
  EXPECT_EQ(opened.session().maps.reference, 0);
  type_key(opened.window, Qt::Key_R, Qt::ShiftModifier);
  EXPECT_EQ(opened.session().maps.reference, 1);
  QTest::keyPress(tree, Qt::Key_R);
  EXPECT_TRUE(opened.window.view<MapsView>().model().flipped());
  QTest::keyRelease(tree, Qt::Key_R);
  EXPECT_FALSE(opened.window.view<MapsView>().model().flipped());
}

TEST(ViewKeys, FitTheViewUnderThePointer) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  MapsCanvas& canvas = opened.window.view<MapsView>().canvas();
  turn_wheel(canvas, canvas.cell_centre(0, {3, 3}), 3);
  EXPECT_FALSE(opened.window.view<MapsView>().model().camera_fits);
  opened.window.findChild<QTreeWidget*>("data-tree")->setFocus();
  point_into(canvas);
  type_key(opened.window, Qt::Key_F);
  EXPECT_TRUE(opened.window.view<MapsView>().model().camera_fits);
}

TEST(ViewKeys, EscapeRemovesPairAndRegionWhateverHasTheFocus) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  opened.window.document().edit("select", [](Session& s) {
    s.locked = Focus{3, 4};
    s.maps.region = MapRegion{2, 6, 3, 9};
  });
  auto* field = opened.window.findChild<QLineEdit*>("operator-1-gamma");
  field->setFocus();
  type_key(opened.window, Qt::Key_Escape);  // Leaves the field.
  EXPECT_TRUE(opened.session().locked.has_value());
  opened.window.findChild<QComboBox*>("maps-scale")->setFocus();
  type_key(opened.window, Qt::Key_Escape);
  EXPECT_FALSE(opened.session().locked.has_value());
  EXPECT_TRUE(opened.session().maps.region.has_value());
  type_key(opened.window, Qt::Key_Escape);
  EXPECT_FALSE(opened.session().maps.region.has_value());
  opened.window.document().edit("select", [](Session& s) { s.locked = Focus{3, 4}; });
  opened.window.findChild<QDockWidget*>("dock-maps")->setFloating(true);
  QTest::keyClick(&opened.window.view<MapsView>().canvas(), Qt::Key_Escape);
  EXPECT_FALSE(opened.session().locked.has_value()) << "a floating view is left out";
}

TEST(ViewKeys, TheZoomOfTheMapsIsUndoneAndComesBackWithTheSession) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  MapsCanvas& canvas = opened.window.view<MapsView>().canvas();
  const MapsModel& model = opened.window.view<MapsView>().model();
  const double fitted = model.camera.scale;
  turn_wheel(canvas, canvas.cell_centre(0, {3, 3}), 1);
  turn_wheel(canvas, canvas.cell_centre(0, {3, 3}), 2);
  drag(canvas, canvas.cell_centre(0, {4, 4}), canvas.cell_centre(0, {4, 4}) + QPointF(30, 20));
  const MapCamera zoomed = model.camera;
  EXPECT_GT(zoomed.scale, 2 * fitted);
  opened.window.document().undo();  // All moves in a row are one step.
  pump(60);
  EXPECT_TRUE(model.camera_fits);
  EXPECT_NEAR(model.camera.scale, fitted, 0.2 * fitted);
  opened.window.document().redo();
  EXPECT_EQ(model.camera, zoomed);
  opened.window.close();
  MainWindow again(desktop_backends(), opened.state.path());
  ASSERT_TRUE(again.restore_autosave());
  again.resize(1300, 850);
  show_active(again);
  ASSERT_TRUE(wait_for([&] { return again.workspace().head() != nullptr; }));
  pump(100);
  EXPECT_EQ(again.view<MapsView>().model().camera, zoomed);
  // Of a text of another length, the maps are seen completely.
  again.document().edit("english", [](Session& s) { s.trace.group = "/taxonomy/layer0"; });
  EXPECT_TRUE(wait_for([&] { return again.view<MapsView>().model().camera_fits; }));
}

TEST(ViewKeys, FieldsAndListsKeepTheirKeys) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  auto* field = opened.window.findChild<QLineEdit*>("operator-1-gamma");
  field->setFocus();
  const auto head = opened.session().trace.head;
  type_text(*field, "r[f");
  EXPECT_EQ(field->text(), "r[f");
  EXPECT_EQ(opened.session().trace.head, head);
  field->setText("");
  QTest::keyClick(field, Qt::Key_Up);  // A step of the number.
  EXPECT_FALSE(opened.session().locked.has_value());
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  tree->setCurrentItem(tree->topLevelItem(0));
  tree->setFocus();
  QTest::keyClick(tree, Qt::Key_Down);
  EXPECT_NE(tree->currentItem(), tree->topLevelItem(0));
  EXPECT_FALSE(opened.session().locked.has_value());
  point_into(opened.window.view<MapsView>().canvas());  // Over the maps, the arrows are theirs.
  QTest::keyClick(tree, Qt::Key_Down);
  EXPECT_TRUE(opened.session().locked.has_value());
}

TEST(ViewKeys, PagesChangeTheLayerAndNotAChoiceThatHasTheFocus) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  auto* mask = opened.window.findChild<QComboBox*>("operator-1-mask");
  mask->setFocus();
  type_key(opened.window, Qt::Key_PageDown);
  EXPECT_TRUE(opened.group_is("/german/layer4"));
  EXPECT_EQ(mask->currentText(), "full");
  type_key(opened.window, Qt::Key_Down);  // Arrows are those of the choice.
  EXPECT_NE(mask->currentText(), "full");
}

TEST(ViewKeys, StandInTheListOfShortcuts) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  opened.window.view<MapsView>().canvas().setFocus();
  QTest::keyClick(&opened.window.view<MapsView>().canvas(), Qt::Key_Question);
  QDialog* sheet = nullptr;
  ASSERT_TRUE(wait_for(
      [&] { return (sheet = opened.window.findChild<QDialog*>("shortcut-sheet")) != nullptr; }));
  QString text;
  for (const QLabel* label : sheet->findChildren<QLabel*>()) text += label->text();
  for (const char* action : {"Next head", "Previous layer", "Next reference", "Fit the view"}) {
    EXPECT_TRUE(text.contains(action)) << action;
  }
}

/// Opens the palette by its keys and types. Returns null, after a failure, if it does not open.
QDialog* type_in_palette(KeyWindow& opened, const QString& typed) {
  opened.window.view<MapsView>().canvas().setFocus();
  QTest::keyClick(&opened.window.view<MapsView>().canvas(), Qt::Key_P,
                  Qt::ControlModifier | Qt::ShiftModifier);
  QDialog* palette = nullptr;
  EXPECT_TRUE(wait_for(
      [&] { return (palette = opened.window.findChild<QDialog*>("command-palette")) != nullptr; }));
  if (palette != nullptr) type_text(*palette->findChild<QLineEdit*>(), typed);
  return palette;
}

/// The same, and presses Enter.
void run_from_palette(KeyWindow& opened, const QString& typed) {
  QDialog* palette = type_in_palette(opened, typed);
  if (palette == nullptr) return;
  QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
  pump(50);
  EXPECT_EQ(opened.window.findChild<QDialog*>("command-palette"), nullptr);
}

TEST(ViewKeys, ThePaletteRunsWhatIsTyped) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  run_from_palette(opened, "head 7");
  EXPECT_EQ(opened.session().trace.head, 7);
  run_from_palette(opened, "next head");
  EXPECT_EQ(opened.session().trace.head, 8);
  run_from_palette(opened, "layer taxonomy/layer2");
  EXPECT_TRUE(opened.group_is("/taxonomy/layer2"));
  EXPECT_TRUE(opened.is_at_rest());
  run_from_palette(opened, "add operator laplacian");
  EXPECT_EQ(opened.session().maps.calls.back().similarity, "laplacian");
  run_from_palette(opened, "figure roofline");
  EXPECT_EQ(opened.session().figure.name, "roofline");
  run_from_palette(opened, "example sharper");
  EXPECT_TRUE(opened.group_is("/german/layer3"));
  EXPECT_EQ(opened.session().maps.calls[2].parameters.at("gamma"), "16");
}

TEST(ViewKeys, ThePaletteFindsTheToolsOfTheViews) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  run_from_palette(opened, "difference: penumbral");
  EXPECT_EQ(opened.session().maps.reference, 1);
  run_from_palette(opened, "profiles");
  EXPECT_TRUE(opened.session().maps.profiles);
  run_from_palette(opened, "special tokens excluded");
  EXPECT_EQ(opened.session().maps.special_tokens, "excluded");
  run_from_palette(opened, "logits");
  EXPECT_EQ(opened.session().maps.quantity, "logits");
  run_from_palette(opened, "rollout");
  EXPECT_EQ(opened.session().maps.join, "rollout");
  run_from_palette(opened, "compared layer: with german/layer5");
  ASSERT_TRUE(opened.session().maps.beside);
  EXPECT_EQ(opened.session().maps.beside->group, "/german/layer5");
  run_from_palette(opened, "cone family: ganea");
  EXPECT_EQ(opened.session().cones.family, "ganea");
  run_from_palette(opened, "explorer: follow tokens");
  EXPECT_FALSE(opened.session().cones.follow_tokens);
  run_from_palette(opened, "layout: arcs");
  EXPECT_EQ(opened.session().maps.layout, "arcs");
  // Tools without a meaning in a layout are not offered there.
  QDialog* palette = type_in_palette(opened, "percentiles: 1-99 %");
  ASSERT_NE(palette, nullptr);
  auto* list = palette->findChild<QListWidget*>();
  ASSERT_EQ(list->count(), 1);
  EXPECT_EQ(list->item(0)->text(), "No command here has these letters.");
  QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
  EXPECT_EQ(opened.session().maps.percentiles, "all values");
}

TEST(ViewKeys, ThePaletteFindsWhatTheNoticeOffers) {
  REQUIRE_DISPLAY();
  KeyWindow opened;  // Penumbral is flat on this head.
  ASSERT_TRUE(wait_for([&] {
    const auto offers = opened.window.view<MapsView>().findChildren<QPushButton*>();
    return std::any_of(offers.begin(), offers.end(), [](auto* b) { return b->isVisible(); });
  }));
  run_from_palette(opened, "match entropy of dot");
  EXPECT_TRUE(
      wait_for([&] { return opened.session().maps.calls[1].parameters.contains("gamma"); }));
}

TEST(ViewKeys, ThePaletteIsAsHighAsItsList) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  QDialog* palette = type_in_palette(opened, "add operator l");
  ASSERT_NE(palette, nullptr);
  pump(50);
  auto& list = *palette->findChild<QListWidget*>();
  const auto below_last = [&] {
    return list.viewport()->height() - list.visualItemRect(list.item(list.count() - 1)).bottom();
  };
  ASSERT_LT(list.count(), 15);
  ASSERT_GT(list.count(), 1);
  EXPECT_NEAR(below_last(), 1, 3);
  const int several = palette->height();
  type_text(*palette->findChild<QLineEdit*>(), "aplacian");
  pump(50);
  ASSERT_EQ(list.count(), 1);
  EXPECT_NEAR(below_last(), 1, 3);
  EXPECT_LT(palette->height(), several);
  for (int i = 0; i < 30; ++i) {
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Backspace);
  }
  pump(50);
  EXPECT_LE(palette->height(), opened.window.height() - 80);
  EXPECT_GT(palette->height(), several);
}

TEST(ViewKeys, TheCardOfAnAddedOperatorIsInView) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  auto* panel = opened.window.findChild<OperatorsPanel*>();
  for (int i = 0; i < 2; ++i) {
    QTest::keyClick(&opened.window.view<MapsView>().canvas(), Qt::Key_A,
                    Qt::ControlModifier | Qt::ShiftModifier);
    pump(100);
    const auto cards = panel->findChildren<OperatorCard*>();
    ASSERT_EQ(cards.size(), 4 + i);
    const QRect place(cards.back()->mapTo(panel->viewport(), QPoint(0, 0)), cards.back()->size());
    const QRect view = panel->viewport()->rect();
    EXPECT_GE(place.top(), 0);
    EXPECT_TRUE(place.bottom() <= view.bottom() || place.top() == 0)
        << place.top() << " to " << place.bottom() << " in " << view.height();
  }
}

TEST(ViewKeys, OneClickOpensALayer) {
  REQUIRE_DISPLAY();
  KeyWindow opened;
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  QTreeWidgetItem* layer = nullptr;
  for (QTreeWidgetItem* item : tree->findItems("layer1", Qt::MatchRecursive | Qt::MatchExactly)) {
    if (item->parent()->text(0) == "english") layer = item;
  }
  ASSERT_NE(layer, nullptr);
  tree->scrollToItem(layer);
  pump(30);
  QTest::mouseClick(tree->viewport(), Qt::LeftButton, Qt::NoModifier,
                    tree->visualItemRect(layer).center());
  EXPECT_TRUE(opened.group_is("/english/layer1"));
  EXPECT_FALSE(opened.window.findChild<QDockWidget*>("dock-maps")->visibleRegion().isEmpty());
}

}  // namespace
}  // namespace conelab::desktop
