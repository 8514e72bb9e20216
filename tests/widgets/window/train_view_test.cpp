// Heads are trained in the view Train: the maps follow, and the slider shows earlier steps.
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <set>
#include <thread>

#include "app/desktop.h"
#include "core/study/job_worker.h"
#include "core/trace/trace.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/keys.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/figures/figure_preview.h"
#include "widgets/forms/job_form.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

class TrainTest : public testing::Test {
 protected:
  QTemporaryDir folder, state;
  MainWindow window{backends(), state.path()};
  QWidget* view = window.findChild<QWidget*>("dock-train");

  TrainTest() {
    window.resize(1440, 900);
    show_active(window);
    window.show_view("train");
    pump();
  }
  Backends backends() {
    Backends made = desktop_backends();
    made.studies.worker = {CONELAB_BINARY_DIR "/bin/conelab", "job-worker"};
    made.studies.results = folder.path().toStdString();
    return made;
  }
  template <class Widget>
  Widget& find(const char* name) {
    auto* found = view->findChild<Widget*>(name);
    if (found == nullptr) throw std::runtime_error(name);
    return *found;
  }
  JobFormModel& model() { return view->findChild<JobFormView*>()->model(); }
  [[nodiscard]] std::string group() {
    const auto& trace = window.workspace().trace();
    return trace ? trace->group : "";
  }
  [[nodiscard]] std::string output() const { return folder.filePath("trained.h5").toStdString(); }
};

TEST_F(TrainTest, BeginsWithTheShippedHierarchyAndShowsWhatIsTrained) {
  ASSERT_EQ(model().problem(), "");
  model().type("similarity", "umbral");
  model().type("parameters", "snapshots=10; starts=1; epochs=400");
  ASSERT_EQ(model().problem(), "");
  find<QPushButton>("job-run").click();
  ASSERT_TRUE(wait_for([&] { return group() == "/umbral/seed1"; }, 60000));
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  auto& slider = find<QSlider>("train-snapshot");
  ASSERT_TRUE(wait_for([&] { return slider.maximum() == 10; }, 60000)) << "the file is read again";
  EXPECT_EQ(slider.value(), 10);
  const auto radius = [&] {
    const std::vector<Call>& calls = window.document().session().maps.calls;
    EXPECT_EQ(calls.front().similarity, "umbral");
    return calls.front().parameters.at("radius").number().value();
  };
  const double last = radius();
  slider.setValue(0);
  ASSERT_TRUE(wait_for([&] { return group() == "/umbral/seed1/step040"; }));
  // The points and the operator are those of that step, which an own reader finds in the file.
  const auto early = load_trace(output(), "/umbral/seed1/step040", {});
  EXPECT_EQ(window.workspace().trace()->query.data, early->query.data);
  ASSERT_TRUE(early->own_call);
  EXPECT_EQ(radius(), early->own_call->parameters.at("radius").number().value());
  EXPECT_NE(radius(), last);
  auto& curves = find<FigurePreview>("train-curves");
  ASSERT_TRUE(wait_for([&] { return curves.list() != nullptr && curves.sharp(); }));
  find<QComboBox>("train-measure").setCurrentIndex(1);
  const auto before = curves.list();
  EXPECT_TRUE(wait_for([&] { return curves.list() != before; }));
}

TEST_F(TrainTest, WhatIsCancelledIsKeptAndStaysOpen) {
  model().type("similarity", "dot");
  model().type("parameters", "snapshots=1000; starts=1; epochs=100000");
  find<QPushButton>("job-run").click();
  const auto& slider = find<QSlider>("train-snapshot");
  ASSERT_TRUE(wait_for([&] { return slider.isEnabled() && slider.maximum() > 2; }, 60000));
  EXPECT_FALSE(window.close()) << "a job runs";
  model().cancel(0);
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  EXPECT_TRUE(QFile::exists(QString::fromStdString(output())));
  EXPECT_EQ(group(), "/dot/seed1");
  EXPECT_EQ(window.error_shown(), "");
}

TEST_F(TrainTest, PausesMakesStepsAndGoesOn) {
  const auto& slider = find<QSlider>("train-snapshot");
  const auto& pause = find<QToolButton>("train-pause");
  model().type("similarity", "dot");
  model().type("parameters", "snapshots=1000; starts=1; epochs=100000");
  EXPECT_FALSE(pause.isEnabled());
  find<QPushButton>("job-run").click();
  ASSERT_TRUE(wait_for([&] { return slider.isEnabled(); }, 60000));
  find<QToolButton>("train-pause").click();
  const auto stored = [&] { return groups_to_open(output()).size(); };
  std::size_t count = 0;
  const auto rests = [&] {  // Nothing is written within a second.
    return wait_for(
        [&] {
          const std::size_t before = stored();
          pump(1000);
          count = stored();
          return before == count;
        },
        60000);
  };
  ASSERT_TRUE(rests());
  EXPECT_EQ(pause.text(), "Continue");
  find<QToolButton>("train-step-on").click();
  EXPECT_TRUE(wait_for([&] { return stored() == count + 1; }, 20000)) << "one more snapshot";
  ASSERT_TRUE(rests());
  EXPECT_TRUE(wait_for([&] { return slider.maximum() == static_cast<int>(count) - 1; }));
  find<QToolButton>("train-pause").click();
  EXPECT_TRUE(wait_for([&] { return stored() > count + 2; }, 60000));
  model().cancel(0);
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
}

TEST_F(TrainTest, GoesOnWithWhatWasCancelled) {
  model().type("similarity", "umbral");
  model().type("parameters", "snapshots=100; starts=1; epochs=4000");
  find<QPushButton>("job-run").click();
  const auto& slider = find<QSlider>("train-snapshot");
  ASSERT_TRUE(wait_for([&] { return slider.isEnabled() && slider.maximum() > 2; }, 60000));
  model().cancel(0);
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  ASSERT_LT(groups_to_open(output()).size(), 101U) << "it ended before it was cancelled";
  find<QToolButton>("train-resume").click();
  ASSERT_TRUE(model().running());
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  EXPECT_EQ(model().result_of(0), output()) << model().runs().front().run->error();
  EXPECT_TRUE(wait_for([&] { return slider.maximum() == 100; }));
}

TEST_F(TrainTest, ShowsWhatIsReachedBetweenTheSnapshots) {
  model().type("similarity", "umbral");
  model().type("parameters", "snapshots=2; starts=1; epochs=3000");
  find<QPushButton>("job-run").click();
  ASSERT_TRUE(wait_for([&] { return group() == "/umbral/seed1"; }, 60000));
  std::set<std::vector<double>> seen;
  ASSERT_TRUE(wait_for(
      [&] {
        seen.insert(window.workspace().trace()->query.data);
        return !model().running();
      },
      60000));
  EXPECT_GT(seen.size(), 10U) << "the file has three states";
  const auto last = load_trace(output(), "/umbral/seed1", {});
  EXPECT_TRUE(wait_for([&] { return window.workspace().trace()->query.data == last->query.data; }));
}

TEST_F(TrainTest, ExportsTheTrace) {
  model().type("similarity", "dot");
  model().type("parameters", "snapshots=3; starts=1; epochs=30");
  find<QPushButton>("job-run").click();
  ASSERT_TRUE(wait_for([&] { return find<QSlider>("train-snapshot").maximum() == 3; }, 60000));
  const QString copy = folder.filePath("copy.h5");
  QTimer::singleShot(200, [&] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    dialog->findChild<QLineEdit*>("fileNameEdit")->setText(copy);
    QTest::keyClick(dialog->findChild<QLineEdit*>("fileNameEdit"), Qt::Key_Return);
  });
  find<QToolButton>("train-export").menu()->actions().front()->trigger();
  ASSERT_TRUE(wait_for([&] { return QFile::exists(copy); }));
  EXPECT_EQ(groups_to_open(copy.toStdString()), groups_to_open(output()));
}

/// How often the explorer draws another state of the head while it is trained, and how much longer
/// the same job takes then than when nobody watches.
TEST_F(TrainTest, DISABLED_FramesASecondAndWhatTheyCost) {
  window.show_view("explorer");
  model().type("similarity", "umbral");
  model().type("parameters", "snapshots=50; starts=1; epochs=6000");
  model().type("threads", "1");
  const Viewport& drawn = window.view<ExplorerView>().viewport();
  std::vector<double> ratios;
  for (int round = 0; round < 5; ++round) {
    QElapsedTimer clock;
    clock.start();
    std::atomic<double> alone = 0;
    std::thread unwatched([&] {
      const Backends made = backends();
      JobSpec spec = model().spec();
      spec.values["output"] = folder.filePath("alone.h5").toStdString();
      (void)run_in_worker(made.studies.worker, folder.path().toStdString(), spec, {});
      alone = 1e-9 * static_cast<double>(clock.nsecsElapsed());
    });
    wait_for([&] { return alone > 0; }, 600000);
    unwatched.join();
    clock.restart();
    const long before = drawn.frames_painted();
    model().run();
    std::set<std::vector<double>> seen;
    wait_for(
        [&] {
          if (window.workspace().trace()) seen.insert(window.workspace().trace()->query.data);
          return !model().running();
        },
        600000);
    const double watched = 1e-9 * static_cast<double>(clock.nsecsElapsed());
    ratios.push_back(watched / alone);
    std::printf("unwatched %.2f s, watched %.2f s; %.1f states and %.1f pictures a second\n",
                alone.load(), watched, static_cast<double>(seen.size()) / watched,
                static_cast<double>(drawn.frames_painted() - before) / watched);
  }
  std::ranges::sort(ratios);
  std::printf("%.3f times as long (median)\n", ratios[ratios.size() / 2]);
}

TEST_F(TrainTest, WithoutSnapshotsThereIsNothingToSlideOrExport) {
  EXPECT_FALSE(find<QSlider>("train-snapshot").isEnabled());
  EXPECT_FALSE(find<QToolButton>("train-export").isEnabled());
  EXPECT_TRUE(find<QToolButton>("train-resume").isEnabled());
  model().type("threads", "0.5");
  EXPECT_FALSE(find<QToolButton>("train-resume").isEnabled()) << "something is wrong";
  model().run(true);
  EXPECT_FALSE(model().running());
}

}  // namespace
}  // namespace conelab::desktop
