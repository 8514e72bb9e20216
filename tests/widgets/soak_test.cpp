// Random actions for a long time: clicks, drags, wheels and keys anywhere, files that are opened,
// heads that are trained, a study that runs. Disabled, because it takes as long as it is told to:
//
//   CONELAB_SOAK_SECONDS=28800 CONELAB_SOAK_SEED=1 build/bin/conelab_tests_widgets
//       --gtest_also_run_disabled_tests --gtest_filter='Soak.*'
//
// A line a minute has the number of actions, the memory, and the part of it that is allocated: if
// only the former grows, the heap is in pieces, and nothing is kept. At the end the program must
// come to rest: no job, no time of the processor.
#include <gtest/gtest.h>
#include <malloc.h>

#include <QAbstractButton>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QDrag>
#include <QEventLoop>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "core/base/random.h"
#include "core/bench/machine.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/worker_backends.h"
#include "widgets/forms/job_form.h"
#include "widgets/studies/studies_view.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

double allocated_megabytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd) / 1e6;
}

class Soak : public testing::Test {
 protected:
  QTemporaryDir folder, state;
  std::unique_ptr<MainWindow> window;
  Random random{static_cast<std::uint64_t>(qEnvironmentVariableIntValue("CONELAB_SOAK_SEED"))};
  QStringList files;
  QTimer closer;  ///< Dialogs and menus block until somebody answers.

  Soak() {
    Backends made = worker_backends(folder);
    made.show_elsewhere = [](const QString&) { return true; };
    window = std::make_unique<MainWindow>(made, state.path());
    window->resize(1440, 900);
    const QDir data(CONELAB_SOURCE_DIR "/datasets");
    for (const QString& name : data.entryList({"*.h5"})) files << data.filePath(name);
    files << folder.filePath("first.toml");  // Its results lie beside it.
    QFile::copy(CONELAB_SOURCE_DIR "/resources/studies/first.toml", files.back());
    closer.callOnTimeout([] {
      QDrag::cancel();  // Of selected text, which waits for a release that never comes.
      if (QWidget* popup = QApplication::activePopupWidget()) popup->close();
      if (auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget())) {
        dialog->reject();
      }
    });
    closer.start(300);
  }

  std::size_t below(std::size_t count) { return random.next() % count; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  /// Returns a visible widget of this class, if there is one.
  template <class Widget>
  Widget* any() {
    QList<Widget*> seen;
    for (auto* each : window->findChildren<Widget*>()) {
      if (each->isVisible() && each->isEnabled()) seen << each;
    }
    return seen.isEmpty() ? nullptr : seen[static_cast<qsizetype>(below(seen.size()))];
  }
  QPointF place_in(const QWidget& widget) {
    return {random.uniform() * widget.width(), random.uniform() * widget.height()};
  }

  void act() {
    switch (below(16)) {
      case 0:
        if (below(4) == 0) window->open({files[static_cast<qsizetype>(below(files.size()))]});
        return;
      case 1:
        return window->show_view(window
                                     ->findChildren<QDockWidget*>()[static_cast<qsizetype>(
                                         below(window->findChildren<QDockWidget*>().size()))]
                                     ->objectName()
                                     .mid(5));
      case 2:
        return train();
      case 3:
        return study();
      case 4:
        if (auto* box = any<QComboBox>(); box != nullptr && box->count() > 0) {
          box->setCurrentIndex(static_cast<int>(below(box->count())));
          emit box->activated(box->currentIndex());
        }
        return;
      case 5:
      case 6:
        if (auto* button = any<QAbstractButton>()) button->click();
        return;
      case 7:
        if (auto* field = any<QLineEdit>(); field != nullptr && below(3) == 0) {
          field->setFocus();
          QTest::keyClicks(field, one_of<QString>({"2", "0.5", "8,16", "x", "", "-1", "1e9"}));
          QTest::keyClick(field, below(2) == 0 ? Qt::Key_Return : Qt::Key_Escape);
        }
        return;
      case 8:
        if (below(20) == 0) {
          window->resize(one_of<QSize>({{1440, 900}, {1024, 700}, {1600, 1100}}));
        }
        return;
      default:
        return in_a_view();
    }
  }
  /// A click, a drag, a turn of the wheel or a key in some widget.
  void in_a_view() {
    auto* widget = any<QWidget>();
    if (widget == nullptr) return;
    const QPointF from = place_in(*widget), to = place_in(*widget);
    switch (below(4)) {
      case 0:
        return click(*widget, from);
      case 1:
        send_mouse(*widget, QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
        for (const double t : {0.3, 0.6, 1.0}) {
          send_mouse(*widget, QEvent::MouseMove, from + t * (to - from), Qt::NoButton,
                     Qt::LeftButton);
        }
        return send_mouse(*widget, QEvent::MouseButtonRelease, to, Qt::LeftButton, Qt::NoButton);
      case 2:
        return turn_wheel(*widget, from, below(2) == 0 ? 1 : -1);
      default:
        return QTest::keyClick(
            QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : widget,
            one_of<Qt::Key>({Qt::Key_Tab, Qt::Key_Left, Qt::Key_Down, Qt::Key_F, Qt::Key_L,
                             Qt::Key_R, Qt::Key_BracketRight, Qt::Key_PageDown, Qt::Key_Escape,
                             Qt::Key_Return, Qt::Key_Space}),
            below(8) == 0 ? Qt::ControlModifier : Qt::NoModifier);
    }
  }
  void train() {
    JobFormModel& model =
        window->findChild<QWidget*>("dock-train")->findChild<JobFormView*>()->model();
    if (model.running()) {
      if (below(2) == 0) return model.cancel(0);
      return below(2) == 0 ? model.pause(!model.paused()) : model.step();
    }
    if (below(10) != 0) return;
    model.type("similarity", one_of<std::string>({"dot", "umbral", "penumbral"}));
    model.type("parameters", "snapshots=50; starts=1; epochs=1000");
    if (model.problem().empty()) model.run();
  }
  void study() {
    StudyModel& model = window->view<StudiesView>().model();
    if (model.running()) return below(40) == 0 ? model.cancel() : void();
    if (below(60) == 0) model.run_quick();
  }
};

TEST_F(Soak, DISABLED_RandomActions) {
  REQUIRE_DISPLAY();
  const int seconds = std::max(60, qEnvironmentVariableIntValue("CONELAB_SOAK_SECONDS"));
  show_active(*window);
  QElapsedTimer clock;
  clock.start();
  long actions = 0;
  for (qint64 told = 0; clock.elapsed() < 1000LL * seconds; ++actions) {
    act();
    wait_for([] { return false; }, 5);
    if (!window->isVisible()) show_active(*window);  // It was closed.
    if (clock.elapsed() < 60000 * told) continue;
    std::printf("%lld min: %ld actions, %.0f MB, %.0f MB allocated\n",
                static_cast<long long>(told++), actions, resident_bytes() / 1e6,
                allocated_megabytes());
    std::fflush(stdout);
  }
  JobFormModel& training =
      window->findChild<QWidget*>("dock-train")->findChild<JobFormView*>()->model();
  for (std::size_t run = 0; run < training.runs().size(); ++run) training.cancel(run);
  window->view<StudiesView>().model().cancel();
  closer.stop();
  EXPECT_TRUE(wait_for([&] { return window->workspace().jobs().running().empty(); }, 60000));
  pump(3000);
  const double before = processor_seconds(RUSAGE_SELF);
  QEventLoop rest;
  QTimer::singleShot(10000, &rest, &QEventLoop::quit);
  rest.exec();
  const double used = processor_seconds(RUSAGE_SELF) - before;
  std::printf("%ld actions, %.0f MB, %.1f %% of a processor at rest\n", actions,
              resident_bytes() / 1e6, 10 * used);
  EXPECT_LT(used, 0.2);
}

}  // namespace
}  // namespace conelab::desktop
