// Heads are trained in the view Train: the maps follow, and the slider shows earlier steps.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QPushButton>
#include <QSlider>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/desktop.h"
#include "core/trace/trace.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/keys.h"
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

TEST_F(TrainTest, WithoutSnapshotsThereIsNothingToSlideOrExport) {
  EXPECT_FALSE(find<QSlider>("train-snapshot").isEnabled());
  EXPECT_FALSE(find<QToolButton>("train-export").isEnabled());
}

}  // namespace
}  // namespace conelab::desktop
