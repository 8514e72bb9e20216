#include "widgets/studies/studies_view.h"

#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>
#include <fstream>

#include "tests/widgets/driving.h"
#include "tests/widgets/worker_backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

const std::string trace = CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5:/german/layer3";

const std::string two_maps = R"([[attend]]
name = "maps"
input = ")" + trace + R"("
similarity = ["dot", "penumbral"]
keep = ["weights"]
)";

/// A window whose studies are run by the built program.
class StudiesTest : public testing::Test {
 protected:
  QTemporaryDir folder, state;
  QStringList shown;  ///< What other programs would show.
  MainWindow window{backends(), state.path()};

  StudiesTest() {
    window.resize(1300, 850);
    show_active(window);
  }

  Backends backends() {
    Backends made = worker_backends(folder);
    made.show_elsewhere = [this](const QString& file) {
      shown << file;
      return true;
    };
    return made;
  }
  StudyModel& model() { return window.view<StudiesView>().model(); }
  /// Writes a study and opens it as a file of any kind.
  void open_study(const std::string& text) {
    const QString file = folder.filePath("s.toml");
    std::ofstream(file.toStdString()) << "title = \"Two maps\"\n" << text;
    window.open({file});
    ASSERT_TRUE(wait_for([&] {
      return !model().choice().file.empty() && !model().table().rows.empty();
    })) << model().message();
  }
  void press(const char* name) {
    auto* button = window.findChild<QToolButton*>(name);
    ASSERT_NE(button, nullptr) << name;
    ASSERT_TRUE(button->isEnabled()) << name;
    click(*button, QRectF(button->rect()).center());
  }
  bool finish() {
    return wait_for([&] { return !model().running(); }, 60000 * slowness);
  }
  bool run() {
    press("study-run");
    return finish();
  }
  /// Returns a column of the table that is shown.
  std::vector<std::string> column(std::size_t index) {
    std::vector<std::string> texts;
    for (const auto& row : model().table().rows) texts.push_back(row[index]);
    return texts;
  }
  void activate(int row) {
    auto* table = window.findChild<QTableView*>("study-jobs");
    emit table->activated(table->model()->index(row, 0));
  }
};

using Texts = std::vector<std::string>;

TEST_F(StudiesTest, AStudyIsOpenedRunAndItsResultShown) {
  open_study(two_maps);
  EXPECT_FALSE(window.findChild<QDockWidget*>("dock-studies")->visibleRegion().isEmpty());
  EXPECT_EQ(column(0), (Texts{"maps-dot", "maps-penumbral"}));
  EXPECT_EQ(column(2), (Texts{"to do", "to do"}));
  EXPECT_TRUE(model().files_of(0).empty());
  ASSERT_TRUE(run());
  EXPECT_EQ(column(2), (Texts{"done", "done"})) << model().message();
  EXPECT_FALSE(model().can_run());
  activate(1);
  EXPECT_TRUE(wait_for([&] {
    const auto& shown = window.workspace().trace();
    return shown && shown->stored && shown->file == model().files_of(1).front();
  })) << window.error_shown().toStdString();
}

TEST_F(StudiesTest, TrialsAreFoldedUnderTheirJob) {
  open_study(R"([[dataset]]
name = "tree"
kind = "tree"
depth = 2
branching = 2

[[train]]
name = "heads"
input = "tree"
similarity = ["dot", "umbral"]
epochs = 20
starts = 1
tune = { trials = 3, rate = [0.01, 0.1] }
)");
  ASSERT_EQ(model().message().find("error"), std::string::npos);
  const Texts folded = {"tree", "heads-dot", "   ▸ 3 trials", "heads-umbral", "   ▸ 3 trials"};
  ASSERT_EQ(column(0), folded);
  activate(2);
  ASSERT_EQ(column(0).size(), 8U);
  EXPECT_EQ(column(0)[2], "   ▾ 3 trials");
  EXPECT_EQ(column(0)[3].substr(0, 11), "      heads");
  ASSERT_TRUE(run());
  EXPECT_EQ(column(2), (Texts{"done", "done", "3 done", "done", "done", "done", "done", "3 done"}))
      << model().message();
  activate(2);
  EXPECT_EQ(column(0), folded);
  activate(3);  // The result of the job below folded trials.
  EXPECT_TRUE(wait_for([&] { return window.windowTitle().startsWith("heads-umbral of s"); }))
      << window.windowTitle().toStdString();
}

TEST(StudyLines, AreKeysAndBlocks) {
  const auto lines = study_lines(
      "title = \"a # b\"  # c\n[[train]] # d\nsimilarity = [\n  \"dot\"]\n rate=.5\n# x = 1\n");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].value, "\"a # b\"");
  EXPECT_EQ(lines[0].before + "|" + lines[0].after, "title = |  # c");
  EXPECT_TRUE(lines[1].block && lines[1].key == "[[train]]");
  EXPECT_FALSE(lines[2].whole);
  EXPECT_EQ(lines[3].line, 5);
  EXPECT_EQ(lines[3].key + lines[3].value, "rate.5");
}

TEST_F(StudiesTest, AValueIsChangedAndWhatIsWrongStandsAtItsLine) {
  open_study(two_maps);
  press("study-edit");
  auto* keys = window.findChild<QTreeWidget*>("study-keys");
  auto* text = window.findChild<QPlainTextEdit*>("study-text");
  const auto value = [&](const QString& key) -> QTreeWidgetItem* {
    const auto found = keys->findItems(key, Qt::MatchExactly | Qt::MatchRecursive);
    return found.isEmpty() ? nullptr : found.front();
  };
  ASSERT_TRUE(wait_for([&] { return value("similarity") != nullptr; }));
  EXPECT_EQ(value("similarity")->text(1), "[\"dot\", \"penumbral\"]");
  EXPECT_EQ(value("similarity")->parent()->text(0), "[[attend]]");
  value("similarity")->setText(1, "[\"dot\", \"umbra\"]");
  EXPECT_TRUE(text->toPlainText().contains("similarity = [\"dot\", \"umbra\"]\n"));
  EXPECT_TRUE(wait_for([&] {
    return value("similarity") != nullptr && value("similarity")->text(2).contains("umbral");
  })) << window.findChild<QLabel*>("study-errors")->text().toStdString();
  EXPECT_EQ(text->extraSelections().size(), 1);
  EXPECT_EQ(text->extraSelections().front().cursor.blockNumber(), 4);
  EXPECT_FALSE(window.close()) << "the study is not saved";
  value("similarity")->setText(1, "\"umbral\"");
  const auto* said = window.findChild<QLabel*>("study-errors");
  EXPECT_TRUE(wait_for([&] { return said->text() == "Nothing is wrong."; }));
  press("study-save");
  EXPECT_TRUE(wait_for([&] { return column(0) == Texts{"maps"}; }));
  press("study-edit");
  EXPECT_TRUE(window.findChild<QTableView*>("study-jobs")->isVisible());
}

TEST_F(StudiesTest, AResultIsNamedAfterItsJob) {
  open_study(two_maps);
  ASSERT_TRUE(run());
  activate(0);
  EXPECT_TRUE(wait_for([&] { return window.windowTitle().startsWith("maps-dot of s"); }))
      << window.windowTitle().toStdString();
  EXPECT_TRUE(window.notice_shown().startsWith("maps-dot of s is a result of attend"))
      << window.notice_shown().toStdString();
  const auto* data = window.findChild<QTreeWidget*>("data-tree");
  EXPECT_EQ(data->topLevelItem(0)->text(0), "maps-dot of s");
}

TEST_F(StudiesTest, AnotherStudyStaysQuick) {
  open_study(two_maps);
  model().set_quick(true);
  const QString other = folder.filePath("other.toml");
  ASSERT_TRUE(QFile::copy(folder.filePath("s.toml"), other));
  model().open(other.toStdString());
  EXPECT_TRUE(model().choice().quick);
}

TEST_F(StudiesTest, AShippedStudyRunsQuickAtTheFirstClick) {
  window.show_view("studies");
  ASSERT_TRUE(wait_for([&] { return model().table().rows.size() >= 7; })) << model().message();
  EXPECT_EQ(model().table().header.front(), "shipped study");
  const Texts names = column(0);
  const auto first = std::ranges::find(names, "first") - names.begin();
  EXPECT_FALSE(column(2)[static_cast<std::size_t>(first)].empty()) << "how long it takes";
  auto* table = window.findChild<QTableView*>("study-jobs");
  table->setCurrentIndex(table->model()->index(static_cast<int>(first), 0));
  press("study-run-quick");
  ASSERT_TRUE(wait_for([&] { return model().running(); })) << model().message();
  EXPECT_TRUE(model().choice().quick);
  EXPECT_EQ(model().folder(), folder.filePath("conelab-studies/first").toStdString());
  ASSERT_TRUE(wait_for([&] { return model().index().count("done") > 0; })) << model().message();
  press("study-stop");
  ASSERT_TRUE(finish());
}

/// A copied study finds the data that ship, which lie elsewhere.
TEST_F(StudiesTest, ACopyOfAShippedStudyIsSound) {
  const QString copy = folder.filePath("copy.toml");
  ASSERT_TRUE(QFile::copy(CONELAB_SOURCE_DIR "/resources/studies/first.toml", copy));
  model().open(copy.toStdString());
  ASSERT_TRUE(wait_for([&] { return !model().index().jobs.empty() || model().failed(); }));
  EXPECT_TRUE(model().can_run()) << model().message();
}

TEST_F(StudiesTest, AJobThatFailsDoesNotStopTheOthers) {
  // Without a map, tokens of the language model lie outside of the half-space.
  std::string unplaced = two_maps;
  unplaced.replace(unplaced.find("maps"), 4, "bad");
  unplaced.replace(unplaced.find("[\"dot\", \"penumbral\"]"), 20, "\"penumbral\"\nmap = \"none\"");
  open_study(two_maps + unplaced);
  ASSERT_TRUE(run());
  EXPECT_EQ(column(2), (Texts{"done", "done", "failed"}));
  EXPECT_NE(column(4)[2], "");
  EXPECT_TRUE(model().failed());
  EXPECT_TRUE(model().can_run()) << "a failed job can be tried again";
}

TEST_F(StudiesTest, ARunIsStoppedAndGoesOn) {
  std::string many = two_maps;
  many.replace(many.find("[\"dot\", \"penumbral\"]"), 20,
               "[\"laplacian\", \"penumbral\", \"umbral\"]");
  open_study(many + "gamma = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n");
  press("study-run");
  ASSERT_TRUE(wait_for([&] { return model().index().count("done") > 0; }));
  EXPECT_FALSE(window.close()) << "a study runs";
  EXPECT_NE(window.notice_shown(), "");
  press("study-stop");
  ASSERT_TRUE(finish());
  const std::size_t kept = model().index().count("done");
  EXPECT_GT(kept, 0u);
  ASSERT_LT(kept, 48u);
  ASSERT_TRUE(run());
  EXPECT_EQ(model().index().count("done"), 48u) << model().message();
}

TEST_F(StudiesTest, ErrorsAreShownWithTheirLines) {
  open_study("[[attend]]\ninput = \"missing.h5\"\nsimilarity = \"dott\"\n");
  EXPECT_TRUE(model().failed());
  EXPECT_FALSE(model().can_run());
  EXPECT_EQ(model().table().header.front(), "line");
  EXPECT_EQ(column(0), (Texts{"3", "4"}));
}

TEST_F(StudiesTest, ResultsOfAnotherPlaceAreShownByTheirIndex) {
  open_study(two_maps);
  ASSERT_TRUE(run());
  const QString moved = folder.filePath("moved");
  ASSERT_TRUE(QDir().rename(folder.filePath("s"), moved));
  window.open({moved + "/index.json"});
  const std::string first = (moved + "/jobs").toStdString();
  ASSERT_TRUE(wait_for(
      [&] { return !model().files_of(0).empty() && model().files_of(0)[0].starts_with(first); }));
  EXPECT_EQ(column(2), (Texts{"done", "done"}));
  EXPECT_FALSE(model().can_run());
  EXPECT_EQ(model().command(), "");
}

TEST_F(StudiesTest, TheReportIsWrittenAndShown) {
  open_study(two_maps + "[[figure]]\nname = \"map\"\nkind = \"heatmap\"\ninput = \"maps\"\n");
  ASSERT_TRUE(run());
  press("study-report");
  const auto* page = window.findChild<QTextBrowser*>("study-page");
  ASSERT_TRUE(wait_for([&] { return page->isVisible(); })) << model().message();
  EXPECT_TRUE(page->toPlainText().contains("Two maps"));
  EXPECT_EQ(page->toPlainText().count(QChar::ObjectReplacementCharacter), 2) << "its figures";
  // The path is a link, which opens the browser.
  auto* message = window.findChild<QLabel*>("study-message");
  ASSERT_TRUE(message->text().contains("href")) << message->text().toStdString();
  emit message->linkActivated(message->text().section('\'', 1, 1));
  ASSERT_EQ(shown.size(), 1);
  EXPECT_EQ(shown[0], folder.filePath("s/report/index.html"));
  EXPECT_GT(QFileInfo(shown[0]).size(), 10000);
  press("study-report");  // Back to the jobs.
  activate(2);
  ASSERT_TRUE(wait_for([&] { return shown.size() == 2; }));
  EXPECT_TRUE(shown[1].endsWith(".svg"));
}

}  // namespace
}  // namespace conelab::desktop
