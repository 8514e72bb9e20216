// Every kind of job has a form, which runs it, cancels it and opens its result.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>

#include "tests/widgets/driving.h"
#include "tests/widgets/window/keys.h"
#include "tests/widgets/worker_backends.h"
#include "widgets/forms/job_form.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

class JobsTest : public testing::Test {
 protected:
  QTemporaryDir folder, state;
  MainWindow window{worker_backends(folder), state.path()};

  JobsTest() {
    window.resize(1300, 850);
    show_active(window);
    window.show_view("jobs");
    pump();
  }
  /// The view Train has a form of this class, too.
  JobFormView& jobs_view() {
    return *window.findChild<QWidget*>("dock-jobs")->findChild<JobFormView*>();
  }
  JobFormModel& model() { return jobs_view().model(); }
  template <class Widget>
  Widget& find(const std::string& name) {
    auto* found = jobs_view().findChild<Widget*>(QString::fromStdString(name));
    if (found == nullptr) throw std::runtime_error(name);
    return *found;
  }
  void fill(const char* field, const char* text) {
    auto& edit = find<QLineEdit>(std::string("job-field-") + field);
    edit.setText(text);
    emit edit.textEdited(text);
  }
};

TEST_F(JobsTest, EveryFieldOfEveryKindHasAFieldWithItsHelp) {
  for (const JobKind* kind : JobFormModel::kinds()) {
    model().choose_kind(kind->name);
    for (const JobField& field : typed_fields(*kind)) {
      const auto& edit = find<QWidget>("job-field-" + field.name);
      EXPECT_TRUE(edit.toolTip().startsWith(QString::fromStdString(field.about))) << field.name;
      EXPECT_FALSE(edit.accessibleName().isEmpty());
    }
  }
}

TEST_F(JobsTest, AFormSaysWhatIsMissingAndThenRuns) {
  model().choose_kind("dataset");
  EXPECT_FALSE(find<QPushButton>("job-run").isEnabled());
  EXPECT_TRUE(find<QLabel>("job-message").text().endsWith("is needed"));
  model().type("kind", "tree");
  fill("output", "family.h5");
  fill("parameters", "dept=3");
  EXPECT_TRUE(find<QLabel>("job-message").text().contains("depth"))
      << find<QLabel>("job-message").text().toStdString();
  fill("parameters", "depth=3");
  ASSERT_TRUE(find<QPushButton>("job-run").isEnabled()) << model().problem();
  EXPECT_EQ(model().command(), "conelab dataset tree -o " +
                                   folder.filePath("family.h5").toStdString() + " -p depth=3");
  find<QPushButton>("job-run").click();
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  EXPECT_EQ(model().table().rows[0][1], "done") << model().table().rows[0][3];
  EXPECT_EQ(model().result_of(0), folder.filePath("family.h5").toStdString());
  emit find<QTableView>("job-runs").activated(find<QTableView>("job-runs").model()->index(0, 0));
  EXPECT_TRUE(wait_for([&] { return window.findChild<QDockWidget*>("dock-jobs") != nullptr; }));
}

TEST_F(JobsTest, ARunningJobIsCancelledAndLeavesNoFile) {
  model().choose_kind("dataset");
  model().type("kind", "tree"), model().type("output", "big.h5"),
      model().type("parameters", "depth=9");
  model().run();
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  model().choose_kind("train");
  model().type("input", folder.filePath("big.h5").toStdString());
  model().type("output", "trained.h5");
  ASSERT_EQ(model().problem(), "");
  model().run();
  ASSERT_TRUE(wait_for([&] { return model().runs()[0].run->state().fraction > 0; }, 60000));
  EXPECT_FALSE(window.close()) << "a job runs";
  model().cancel(0);
  ASSERT_TRUE(wait_for([&] { return !model().running(); }, 60000));
  EXPECT_EQ(model().table().rows[0][1], "cancelled");
  EXPECT_FALSE(QFile::exists(folder.filePath("trained.h5")));
}

TEST_F(JobsTest, WhatIsTypedIsUndoneAndKeptForEachKind) {
  model().choose_kind("rank");
  model().type("output", "signs.h5");
  model().choose_kind("tree");
  EXPECT_EQ(model().typed(), FieldTexts());
  window.document().undo();
  EXPECT_EQ(model().typed().at("output"), "signs.h5");
  window.document().undo();
  EXPECT_EQ(model().typed(), FieldTexts());
}

}  // namespace
}  // namespace conelab::desktop
