// Forms show what the session holds, and nothing changes it by accident.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QTemporaryDir>
#include <QTimer>
#include <QWheelEvent>

#include "tests/widgets/driving.h"
#include "tests/widgets/window/idle_bench_window.h"
#include "tests/widgets/window/keys.h"
#include "tests/widgets/window/trace_window.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/window/file_kind.h"

namespace conelab::desktop {
namespace {

struct WindowForInput : IdleBenchWindow {
  template <class Widget>
  [[nodiscard]] Widget* named(const char* name) const {
    auto* found = window->findChild<Widget*>(QString::fromUtf8(name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  [[nodiscard]] const Session& session() const { return window->document().session(); }
};

void type_and_enter(QLineEdit& field, const QString& text) {
  field.setFocus();
  field.selectAll();
  for (const QChar letter : text) press_key(field, 0, Qt::NoModifier, QString(letter));
  press_key(field, Qt::Key_Return);
  pump(30);
}

void turn_wheel_on(QWidget& widget) {
  turn_wheel(widget, {widget.width() / 2.0, widget.height() / 2.0}, -1);
  pump(30);
}

/// Whether a field keeps Ctrl+Z for its own text.
bool keeps_undo(QLineEdit& field) {
  QKeyEvent undo(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
  undo.ignore();
  QApplication::sendEvent(&field, &undo);
  return undo.isAccepted();
}

TEST(Input, ParameterFieldsShowWhatTheMapsShow) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  type_and_enter(*opened.named<QLineEdit>("operator-1-gamma"), "16");
  ASSERT_EQ(opened.session().maps.calls[1].parameters.at("gamma"), "16");
  opened.named<QComboBox>("operator-1-mask")->setCurrentText("window");
  opened.named<QComboBox>("operator-1-bias")->setCurrentText("alibi");
  EXPECT_EQ(opened.session().maps.calls[1].parameters.at("gamma"), "16");
  EXPECT_EQ(opened.named<QLineEdit>("operator-1-gamma")->text(), "16");
  type_and_enter(*opened.named<QLineEdit>("operator-1-window"), "3");
  opened.named<QComboBox>("operator-1-mask")->setCurrentText("causal");
  EXPECT_EQ(opened.session().maps.calls[1].parameters.count("window"), 0U);
}

TEST(Input, UndoInAFieldIsThatOfTheSessionOnceItsTextIsEntered) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* field = opened.named<QLineEdit>("operator-1-gamma");
  EXPECT_FALSE(keeps_undo(*field));
  field->setFocus();
  press_key(*field, 0, Qt::NoModifier, "4");
  EXPECT_TRUE(keeps_undo(*field));
  type_and_enter(*field, "16");
  EXPECT_FALSE(keeps_undo(*field));
  opened.window->document().undo();
  EXPECT_EQ(field->text(), "");
  type_and_enter(*field, "16");  // What was undone can be entered again.
  EXPECT_EQ(opened.session().maps.calls[1].parameters.at("gamma"), "16");
}

TEST(Input, AMapThatTheTokensDoNotFitIsToldInTheReadout) {
  REQUIRE_DISPLAY();
  TraceWindow opened({1300, 850});
  opened.window.document().edit("lock", [](Session& s) { s.locked = Focus{3, 8}; });
  auto* map = opened.window.findChild<QComboBox*>("operator-1-map");
  ASSERT_NE(map, nullptr);
  map->setFocus();
  map->setCurrentText("none");  // The heights of some tokens lie above the light.
  const QString readout = opened.window.view<MapsView>().readout();
  EXPECT_TRUE(readout.contains("lies outside the model under map none")) << readout.toStdString();
  opened.window.document().undo();
  EXPECT_FALSE(opened.window.view<MapsView>().readout().contains("lies outside"));
}

TEST(Input, TheWheelChangesOnlyWhatHasTheFocus) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* mask = opened.named<QComboBox>("operator-0-mask");
  opened.named<QLineEdit>("operator-0-scale")->setFocus();
  turn_wheel_on(*mask);
  EXPECT_EQ(mask->currentText(), "full");
  EXPECT_FALSE(mask->hasFocus());
  mask->setFocus();
  turn_wheel_on(*mask);
  EXPECT_NE(mask->currentText(), "full");
}

TEST(Input, ScrollingStopsAtNoFieldThatComesUnderThePointer) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* mask = opened.named<QComboBox>("operator-0-mask");
  auto* gamma = opened.named<QLineEdit>("operator-1-gamma");
  type_and_enter(*gamma, "16");
  gamma->setFocus();
  const auto turn = [](QWidget& widget, const QPointF& on_screen) {
    QWheelEvent event(QPointF(5, 5), on_screen, {}, QPoint(0, -120), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &event);
    pump(30);
  };
  const QPointF pointer = mask->mapToGlobal(QPointF(5, 5));
  turn(*mask, pointer);
  turn(*gamma, pointer);                  // The panel has scrolled, the pointer has not moved.
  turn(*gamma, pointer + QPointF(2, 3));  // It has moved by a few pixels.
  EXPECT_EQ(opened.session().maps.calls[1].parameters.at("gamma"), "16");
  turn(*gamma, pointer + QPointF(0, 9));
  EXPECT_NE(opened.session().maps.calls[1].parameters.at("gamma"), "16");
}

TEST(Input, NumbersStepByKeysWheelAndDrag) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  const auto gamma = [&] { return opened.session().maps.calls[1].parameters.at("gamma"); };
  auto* field = opened.named<QLineEdit>("operator-1-gamma");
  field->setFocus();
  for (int i = 0; i < 8; ++i) press_key(*field, Qt::Key_Up);
  EXPECT_NEAR(gamma().number().value_or(0), 2, 0.02);
  turn_wheel_on(*field);
  EXPECT_NEAR(gamma().number().value_or(0), 1.83, 0.02);
  opened.window->document().undo();  // All steps are one change.
  EXPECT_TRUE(opened.session().maps.calls[1].parameters.empty());
  type_and_enter(*field, "1,2");
  QWidget* label = nullptr;
  for (QLabel* each :
       opened.named<QWidget>("operator-1-gamma")->parentWidget()->findChildren<QLabel*>()) {
    if (each->text() == "gamma") label = each;
  }
  ASSERT_NE(label, nullptr);
  drag(*label, {4, 4}, {4 + 8 * 6, 4});
  EXPECT_EQ(gamma(), "2,4");
}

TEST(Input, PointsAreTypedAsTheyAreShown) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* field = opened.named<QLineEdit>("explorer-u");
  type_and_enter(*field, " -0.4 , 0.3 ");
  EXPECT_EQ(opened.session().cones.u, (std::array<double, 2>{-0.4, 0.3}));
  type_and_enter(*field, "0.7, 0.4");
  opened.window->document().undo();
  EXPECT_TRUE(wait_for([&] { return field->text() == "-0.4, 0.3"; }))
      << field->text().toStdString();
  EXPECT_EQ(opened.session().cones.u, (std::array<double, 2>{-0.4, 0.3}));
}

TEST(Input, AFocusedPointShowsItsBeginning) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  opened.window->document().edit("long", [](Session& s) {
    s.cones.u = {-0.12345678901234567, 0.76543210987654321};
  });
  auto* field = opened.named<QLineEdit>("explorer-u");
  for (const Qt::FocusReason why : {Qt::TabFocusReason, Qt::MouseFocusReason}) {
    field->setFocus(why);
    EXPECT_GT(field->text().size(), 30);
    EXPECT_EQ(field->cursorPosition(), 0);
    EXPECT_EQ(field->selectedText() == field->text(), why == Qt::TabFocusReason);
    field->clearFocus();
  }
}

TEST(Input, TheSourceCanBeTypedWhereThereIsOne) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* source = opened.named<QLineEdit>("explorer-source");
  auto* u = opened.named<QLineEdit>("explorer-u");
  const auto ground = [](QLineEdit* field) {
    return field->grab().toImage().pixelColor(field->width() - 8, field->height() / 2);
  };
  EXPECT_FALSE(source->isEnabled());
  EXPECT_TRUE(source->toolTip().contains("penumbral is infinitely far away"));
  EXPECT_NE(ground(source), ground(u));
  opened.window->document().edit("finite", [](Session& s) { s.cones.family = "umbral-finite"; });
  EXPECT_TRUE(source->isEnabled());
  EXPECT_EQ(source->toolTip(), u->toolTip());
  EXPECT_EQ(ground(source), ground(u));
}

TEST(Input, ALargeFileIsNotReadToFindOutWhatItIs) {
  const QTemporaryDir folder(folder_template());
  const QString file = folder.filePath("large.h5");
  ASSERT_TRUE(QFile::copy(CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5", file));
  QFile(file).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  // The bytes behind its end are not on the disk. Reading them takes half a minute.
  ASSERT_TRUE(QFile(file).resize(50'000'000'000));
  QElapsedTimer timer;
  timer.start();
  const FoundFile found = identify_file(file);
  EXPECT_EQ(found.kind, "trace");
  EXPECT_EQ(found.content->sha256, "");
  EXPECT_EQ(groups_to_open(*found.content), groups_to_open(file.toStdString()));
  EXPECT_LT(timer.elapsed(), 10'000);
}

TEST(Input, EscapeTakesBackAPointThatWasRefused) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* field = opened.named<QLineEdit>("explorer-u");
  const auto told = [&](const char* text) {
    const auto labels = opened.window->findChild<ExplorerView*>()->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->text().contains(text); });
  };
  const QString before = field->text();
  type_and_enter(*field, "abc");
  EXPECT_TRUE(wait_for([&] { return told("not a point"); }));
  press_key(*field, Qt::Key_Escape);
  EXPECT_EQ(field->text(), before);
  EXPECT_TRUE(wait_for([&] { return told("distance") && !told("not a point"); }));
}

/// Answers the next dialog for files with a name, and returns the folder in which it began.
QString answer_file_dialog(const QString& name, const std::function<void()>& open) {
  QString folder;
  QTimer looking;
  looking.callOnTimeout([&] {
    if (auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
      ADD_FAILURE() << question->text().toStdString();
      return question->reject();
    }
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr || !folder.isEmpty()) return;
    folder = dialog->directory().absolutePath();
    EXPECT_EQ(dialog->nameFilters().last(), "All files (*)");
    auto* field = dialog->findChild<QLineEdit*>("fileNameEdit");
    QApplication::setActiveWindow(dialog);
    field->setFocus();  // Otherwise the file that the dialog proposes stays chosen in its list.
    field->setText(name);
    QTimer::singleShot(0, field, [field] { QTest::keyClick(field, Qt::Key_Return); });
  });
  looking.start(50);
  open();
  return folder;
}

TEST(Input, ASessionIsSavedByAKeyWithItsEndingBesideTheLastFile) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  const auto save_as = [&] {
    show_active(*opened.window);  // The dialog before was the active window.
    type_key(*opened.window, Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  };
  answer_file_dialog(opened.folder.filePath("mine"), save_as);
  EXPECT_TRUE(wait_for([&] { return QFileInfo::exists(opened.folder.filePath("mine.json")); }));
  EXPECT_FALSE(QFileInfo::exists(opened.folder.filePath("mine")));
  EXPECT_EQ(answer_file_dialog("other.json", save_as),
            QFileInfo(opened.folder.path()).absoluteFilePath());
  EXPECT_TRUE(wait_for([&] { return QFileInfo::exists(opened.folder.filePath("other.json")); }));
}

TEST(Input, FilesAreNotSavedWhereDataIsRead) {
  REQUIRE_DISPLAY();
  TraceWindow opened({1300, 850});
  const QString data = QFileInfo(QString::fromStdString(shipped_trace())).absolutePath();
  const auto press = [&](Qt::Key key) {
    return [&opened, key] {
      show_active(opened.window);
      type_key(opened.window, key, Qt::ControlModifier);
    };
  };
  EXPECT_EQ(answer_file_dialog(QString::fromStdString(shipped_trace()), press(Qt::Key_O)), data);
  const QString file = opened.state.filePath("mine.json");
  EXPECT_NE(answer_file_dialog(file, press(Qt::Key_S)), data);
  EXPECT_TRUE(wait_for([&] { return QFileInfo::exists(file); }));
  opened.window.open({QString::fromStdString(shipped_trace()) + ":/german/layer2"});
  EXPECT_TRUE(
      wait_for([&] { return opened.window.document().session().trace.group == "/german/layer2"; }));
  press(Qt::Key_N)();
  EXPECT_EQ(answer_file_dialog(opened.state.filePath("next.json"), press(Qt::Key_S)),
            QFileInfo(file).absolutePath());
}

TEST(Input, ListsShowAllHeadsOfUsualModelsAtOnce) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  EXPECT_GE(opened.named<QComboBox>("maps-head")->maxVisibleItems(), 12 + 3);
}

TEST(Input, TheFileOfAFigureIsNamedAfterTheFigure) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  opened.window->document().edit("", [&](Session& s) {
    s.figure.name = "heatmap";
    s.figure_output = opened.folder.filePath("mine.svg").toStdString();
  });
  opened.named<QComboBox>("figure-name")->setCurrentText("roofline");
  EXPECT_EQ(opened.session().figure_output, opened.folder.filePath("roofline.svg").toStdString());
}

TEST(Input, ASessionOpensUnderAnyName) {
  const QTemporaryDir folder(folder_template());
  const QString file = folder.filePath("my work");
  Session session;
  session.theme = "dark";
  save_session({session, {}}, file);
  const FoundFile found = identify_file(file);
  ASSERT_EQ(found.kind, "session");
  EXPECT_EQ(found.session->session, session);
}

TEST(Input, EscapeTakesBackWhatWasTypedAndLeavesTheField) {
  REQUIRE_DISPLAY();
  const WindowForInput opened;
  auto* field = opened.named<QLineEdit>("operator-1-gamma");
  type_and_enter(*field, "16");
  field->selectAll();
  press_key(*field, 0, Qt::NoModifier, "7");
  EXPECT_EQ(field->text(), "7");
  press_key(*field, Qt::Key_Escape);
  pump(30);
  EXPECT_EQ(field->text(), "16");
  EXPECT_FALSE(field->hasFocus());
  EXPECT_EQ(opened.session().maps.calls[1].parameters.at("gamma"), "16");
  field->setFocus();
  press_key(*field, Qt::Key_Escape);
  EXPECT_FALSE(field->hasFocus()) << "nothing was typed";
  auto* point = opened.named<QLineEdit>("explorer-u");
  const auto u = opened.session().cones.u;
  point->setFocus();
  point->selectAll();
  press_key(*point, 0, Qt::NoModifier, "x");
  press_key(*point, Qt::Key_Escape);
  pump(30);
  EXPECT_EQ(point->text(), "-0.35, 0.35");
  EXPECT_EQ(opened.session().cones.u, u);
}

}  // namespace
}  // namespace conelab::desktop
