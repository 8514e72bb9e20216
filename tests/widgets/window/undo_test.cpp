// Every control of every view, used at random as a person would: all of it can be undone and done
// again, and no control makes an edit of its own while it follows the session.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDeadlineTimer>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QListWidget>
#include <QSpinBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <set>

#include "app/desktop.h"
#include "core/base/random.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/idle_bench_window.h"
#include "widgets/maps/maps_view.h"
#include "widgets/session/session_json.h"
#include "widgets/session/session_members.h"
#include "widgets/window/command_palette.h"

namespace conelab::desktop {
namespace {

/// A window with a trace open, whose buttons start no benchmark.
struct OpenedForUndo : IdleBenchWindow {
  OpenedForUndo() {
    window->workspace().open(QString::fromStdString(shipped_trace()), "/german/layer3");
    EXPECT_TRUE(wait_for([this] { return window->workspace().head() != nullptr; }));
  }
  [[nodiscard]] QByteArray session() const {
    return session_to_json({window->document().session(), {}});
  }
};

/// A dialog that was opened by mistake would wait for ever.
class NoDialogs {
 public:
  NoDialogs() {
    timer_.setInterval(200);
    QObject::connect(&timer_, &QTimer::timeout, [] {
      QWidget* dialog = QApplication::activeModalWidget();
      if (dialog == nullptr) return;
      ADD_FAILURE() << "a dialog was opened: " << dialog->windowTitle().toStdString();
      dialog->close();
    });
    timer_.start();
  }

 private:
  QTimer timer_;
};

/// Dialogs, files and the clipboard are no edits; neither is what ends the program.
bool opens_or_closes(const QWidget& widget) {
  const auto* button = qobject_cast<const QAbstractButton*>(&widget);
  if (button == nullptr) return false;
  if (qobject_cast<const QLineEdit*>(button->parentWidget())) return true;  // Its browse action.
  const QString text = button->text();
  const auto* tool = qobject_cast<const QToolButton*>(button);
  return text.contains(QStringLiteral("…")) || text == QStringLiteral("✕") ||
         text.contains(QStringLiteral("$_")) || text == "Export" || text == "Save" ||
         text.startsWith("Copy") || text.startsWith("cancel") ||
         (tool != nullptr && tool->menu() != nullptr) || button->objectName().startsWith("qt_");
}

class Monkey {
 public:
  Monkey(MainWindow& window, std::uint64_t seed) : window_(window), random_(seed) {}

  /// One action on one control; what it was.
  std::string act() {
    const auto controls = controls_now();
    QWidget* widget = controls[static_cast<std::size_t>(pick(controls.size()))];
    const std::string name =
        widget->metaObject()->className() + std::string(" ") + widget->objectName().toStdString();
    if (auto* box = qobject_cast<QComboBox*>(widget)) use(*box);
    if (auto* spin = qobject_cast<QSpinBox*>(widget)) spin->setValue(between(*spin));
    if (auto* spin = qobject_cast<QDoubleSpinBox*>(widget)) spin->setValue(between(*spin));
    if (auto* button = qobject_cast<QAbstractButton*>(widget)) button->click();
    if (auto* line = qobject_cast<QLineEdit*>(widget)) type(*line);
    if (auto* tabs = qobject_cast<QTabBar*>(widget)) tabs->setCurrentIndex(pick(tabs->count()));
    if (auto* list = qobject_cast<QListWidget*>(widget)) tick(*list);
    return name;
  }

 private:
  int pick(std::uint64_t n) { return static_cast<int>(random_.next() % n); }

  /// Those of all views, seen or behind another tab.
  std::vector<QWidget*> controls_now() {
    std::vector<QWidget*> found;
    for (const QDockWidget* dock : window_.findChildren<QDockWidget*>()) {
      if (dock->objectName() == "dock-welcome" || dock->objectName() == "dock-data") continue;
      for (QWidget* w : dock->widget()->findChildren<QWidget*>()) {
        const bool control =
            qobject_cast<QComboBox*>(w) || qobject_cast<QSpinBox*>(w) ||
            qobject_cast<QDoubleSpinBox*>(w) || qobject_cast<QAbstractButton*>(w) ||
            qobject_cast<QTabBar*>(w) || qobject_cast<QListWidget*>(w) ||
            (qobject_cast<QLineEdit*>(w) && !qobject_cast<QAbstractSpinBox*>(w->parentWidget()) &&
             !qobject_cast<QComboBox*>(w->parentWidget()));
        if (control && w->isEnabled() && !opens_or_closes(*w)) found.push_back(w);
      }
    }
    return found;
  }

  void use(QComboBox& box) {
    if (box.count() == 0) return;
    const int entry = pick(static_cast<std::uint64_t>(box.count()));
    const bool can_be_chosen =
        box.model()->flags(box.model()->index(entry, 0)).testFlag(Qt::ItemIsEnabled);
    if (!can_be_chosen || box.itemText(entry).contains(QStringLiteral("…"))) return;
    box.setCurrentIndex(entry);
    emit box.activated(box.currentIndex());
    emit box.textActivated(box.currentText());
  }
  int between(const QSpinBox& spin) {
    return spin.minimum() +
           pick(static_cast<std::uint64_t>(std::min(20, spin.maximum() - spin.minimum()) + 1));
  }
  double between(const QDoubleSpinBox& spin) {
    return spin.minimum() + (spin.maximum() - spin.minimum()) * pick(100) / 100;
  }
  void type(QLineEdit& line) {
    static const char* const texts[] = {"", "2", "0.5", "64", "nonsense", "0.25,0.5", "120mm"};
    line.setText(texts[pick(std::size(texts))]);
    emit line.textEdited(line.text());
    emit line.editingFinished();
    emit line.returnPressed();
  }
  void tick(QListWidget& list) {
    if (list.count() == 0) return;
    QListWidgetItem* item = list.item(pick(static_cast<std::uint64_t>(list.count())));
    item->setCheckState(item->checkState() == Qt::Checked ? Qt::Unchecked : Qt::Checked);
  }

  MainWindow& window_;
  Random random_;
};

TEST(Undo, TakesBackWhateverControlsDoAndDoesItAgain) {
  REQUIRE_DISPLAY();
  const NoDialogs watch;
  std::set<std::string> used;
  for (std::uint64_t seed = 1; seed <= 1; ++seed) {
    SCOPED_TRACE(seed);
    OpenedForUndo opened;
    Document& document = opened.window->document();
    const int before = [&] {
      int steps = 0;
      for (History history = document.history(); history.can_undo(); ++steps) history.undo();
      return steps;
    }();
    const QByteArray start = opened.session();
    Monkey monkey(*opened.window, seed);
    std::vector<std::string> done;
    for (int i = 0; i < 200; ++i) {
      done.push_back(monkey.act());
      used.insert(done.back());
      if (i % 10 == 0) QCoreApplication::processEvents();
    }
    // Delayed entries of controls are edits of their own and must precede the undoing.
    for (const QDeadlineTimer rest(500); !rest.hasExpired();) {
      QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    }
    const QByteArray end = opened.session();
    ASSERT_NE(start, end);
    std::vector<QByteArray> way = {end};
    while (document.history().can_undo()) {
      document.undo();
      if (way.size() % 20 == 0) QCoreApplication::processEvents();  // Controls follow.
      way.push_back(opened.session());
    }
    ASSERT_GT(way.size(), 60U + static_cast<std::size_t>(before));
    EXPECT_EQ(way[way.size() - 1 - static_cast<std::size_t>(before)], start);
    EXPECT_EQ(document.session().trace.file, shipped_trace()) << "the file stays open";
    for (std::size_t i = way.size() - 1; i > 0; --i) {
      ASSERT_TRUE(document.history().can_redo()) << "an edit was made while undoing";
      document.redo();
      ASSERT_EQ(opened.session(), way[i - 1]);
    }
    EXPECT_FALSE(document.history().can_redo());
    EXPECT_EQ(opened.session(), end);
    EXPECT_TRUE(session_from_json(end, "end").session == document.session());
  }
  printf("%zu different controls were used\n", used.size());
  EXPECT_GT(used.size(), 60U);
}

TEST(Undo, OpeningAndClosingFilesAreSteps) {
  REQUIRE_DISPLAY();
  OpenedForUndo opened;
  Document& document = opened.window->document();
  const Session german = document.session();
  opened.window->open({QString::fromStdString(shipped_trace() + ":/german/layer0")});
  ASSERT_TRUE(wait_for([&] { return document.session().trace.group == "/german/layer0"; }));
  for (QAction* action : opened.window->actions()) {
    if (action_name(*action) == "New session") action->trigger();
  }
  EXPECT_EQ(document.session().trace.file, "");
  EXPECT_TRUE(wait_for([&] { return opened.window->workspace().trace() == nullptr; }));
  document.undo();
  EXPECT_EQ(document.session().trace.group, "/german/layer0");
  document.undo();
  EXPECT_TRUE(document.session() == german);
  EXPECT_TRUE(wait_for([&] {
    const auto& trace = opened.window->workspace().trace();
    return trace && trace->group == "/german/layer3";
  }));
  // The first file that was opened is where the history begins.
  EXPECT_FALSE(document.history().can_undo());
  QTest::keyClick(opened.window.get(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(document.session() == german);
  while (document.history().can_redo()) document.redo();
  EXPECT_EQ(document.session().trace.file, "");
  EXPECT_EQ(opened.window->error_shown(), "");
}

TEST(Undo, DoesNotCloseTheFirstFileWhateverWasDoneBefore) {
  REQUIRE_DISPLAY();
  MainWindow window(desktop_backends(), "");
  show_active(window);
  Document& document = window.document();
  document.edit("scale", [](Session& s) { s.maps.scale = "log"; });
  window.open({QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
  document.edit("scale", [](Session& s) { s.maps.scale = "rank"; });
  for (int i = 0; i < 4; ++i) QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(document.session().trace.file, shipped_trace());
  EXPECT_EQ(document.session().maps.scale, "log");
  // A new session is a step, and so is a file that is opened in it.
  QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
  window.open({QString::fromStdString(shipped_trace()) + ":/german/layer2"});
  ASSERT_TRUE(wait_for([&] { return document.session().trace.group == "/german/layer2"; }));
  QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(document.session().trace.file, "");
  QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(document.session().maps.scale, "log");
  EXPECT_EQ(document.session().trace.file, shipped_trace());
}

TEST(Undo, AnExampleAtTheStartIsNotClosed) {
  REQUIRE_DISPLAY();
  MainWindow window(desktop_backends(), "");
  show_active(window);
  for (const bool at_start : {true, false}) {
    auto* example = window.findChild<QAbstractButton*>("example-0");
    ASSERT_NE(example, nullptr);
    click(*example, QRectF(example->rect()).center());
    ASSERT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
    EXPECT_EQ(window.document().history().can_undo(), !at_start);
    QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
    ASSERT_TRUE(wait_for([&] { return window.workspace().trace() == nullptr; }));
  }
}

}  // namespace
}  // namespace conelab::desktop
