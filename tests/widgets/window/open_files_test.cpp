// Every kind of file that the program writes opens in the view that shows it, alone and with
// others.
#include <gtest/gtest.h>

#include <QAction>
#include <QDockWidget>
#include <QDropEvent>
#include <QLabel>
#include <QMimeData>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <QUrl>

#include "app/desktop.h"
#include "core/files/hdf5.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/written_files.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/session/session_json.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

struct Window {
  QTemporaryDir state;
  MainWindow window{desktop_backends(), state.path()};

  Window() { show_active(window); }
  void drop(const QStringList& names) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& name : names) {
      urls << QUrl::fromLocalFile(
          name.startsWith('/') ? name : Written::files()[name.toUtf8().constData()]);
    }
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QDropEvent event(QPointF(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &event);
  }
  [[nodiscard]] const Session& session() { return window.document().session(); }
  [[nodiscard]] bool in_front(const char* dock) {
    return wait_for(
        [&] { return !window.findChild<QDockWidget*>(dock)->visibleRegion().isEmpty(); });
  }
  [[nodiscard]] std::vector<std::string> inputs(std::initializer_list<const char*> names) {
    std::vector<std::string> paths;
    for (const char* name : names) paths.push_back(Written::files()[name].toStdString());
    return paths;
  }
  [[nodiscard]] bool figure_is(const std::string& name, std::initializer_list<const char*> files) {
    return wait_for(
        [&] { return session().figure.name == name && session().figure.inputs == inputs(files); });
  }
  [[nodiscard]] bool trace_is(const std::string& group) {
    return wait_for([&] {
      const auto& trace = window.workspace().trace();
      return trace && trace->group == group;
    });
  }
};

TEST(OpenFiles, AResultOfTreeIsDrawnByTheFigures) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({"tree.h5"});
  EXPECT_TRUE(opened.figure_is("tree", {"tree.h5"}));
  EXPECT_TRUE(opened.in_front("dock-figures"));
  EXPECT_TRUE(opened.window.notice_shown().contains("result of tree"));
  for (QToolButton* button : opened.window.findChildren<QToolButton*>()) {
    if (button->text().startsWith("Open its trace")) button->click();
  }
  EXPECT_TRUE(opened.trace_is("/german/layer3"));
  EXPECT_TRUE(wait_for([&] { return opened.window.workspace().jobs().running().empty(); }));
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(OpenFiles, EachKindAloneOpensInItsView) {
  REQUIRE_DISPLAY();
  const std::string trace = shipped_trace();
  const std::vector<std::pair<QString, const char*>> views = {
      {QString::fromStdString(trace), "dock-maps"},
      {"dot.h5", "dock-maps"},
      {"logits.h5", "dock-maps"},
      {"tree.h5", "dock-figures"},
      {"old.h5", "dock-benchmarks"},
      {"output.h5", "dock-maps"}};
  for (const auto& [file, dock] : views) {
    SCOPED_TRACE(file.toStdString());
    Window opened;
    opened.drop({file});
    EXPECT_TRUE(opened.in_front(dock));
    EXPECT_TRUE(wait_for([&] { return opened.window.workspace().jobs().running().empty(); }));
    EXPECT_EQ(opened.window.error_shown(), "");
  }
  Window opened;
  opened.drop({"session.json"});
  EXPECT_TRUE(wait_for([&] { return opened.session().maps.scale == "rank"; }));
}

/// Whatever was open before, a file is seen as if it were the first.
TEST(OpenFiles, NoFileLeavesAnythingForTheNext) {
  REQUIRE_DISPLAY();
  const QString trained = CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5";
  const QStringList files = {QString::fromStdString(shipped_trace()), trained,
                             trained + ":/umbral/seed2", "dot.h5"};
  const auto shown = [](Window& opened) {
    Session session = opened.session();
    session.figure = {}, session.views = {};  // Of results of other kinds.
    return session_to_json({session, {}}).toStdString();
  };
  const auto rests = [](Window& opened) {
    const auto at_rest = [&] { return opened.window.workspace().jobs().running().empty(); };
    return wait_for(at_rest);
  };
  std::map<QString, std::string> alone;
  for (const QString& file : files) {
    Window opened;
    opened.drop({file});
    ASSERT_TRUE(wait_for([&] { return opened.window.workspace().head() != nullptr; }));
    ASSERT_TRUE(rests(opened));
    alone[file] = shown(opened);
  }
  Window opened;
  const auto open = [&](const QString& file) {
    opened.drop({file});
    const auto as_alone = [&] { return shown(opened) == alone[file]; };
    // The next file would be opened together with one that is still being opened.
    EXPECT_TRUE(rests(opened) && (!alone.contains(file) || wait_for(as_alone)))
        << file.toStdString() << ": " << shown(opened);
  };
  const QStringList all = files + QStringList{"tree.h5"};
  for (int i = 0; i < all.size(); ++i) {  // Every file is opened after every other.
    open(all[i]);
    for (int k = i + 1; k < all.size(); ++k) open(all[k]), open(all[i]);
  }
}

TEST(OpenFiles, AFileIsLookedIntoOnceAndThenRead) {
  REQUIRE_DISPLAY();
  Window opened;
  QStringList titles;
  JobPool& jobs = opened.window.workspace().jobs();
  opened.drop({QString::fromStdString(shipped_trace())});
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  ASSERT_TRUE(wait_for([&] {
    for (const auto& job : jobs.running()) titles << QString::fromStdString(job->title);
    return opened.window.workspace().trace() != nullptr && tree->topLevelItemCount() == 1;
  }));
  EXPECT_TRUE(titles.contains("opening minilm_trace.h5"));
  EXPECT_TRUE(titles.filter("looking into").isEmpty()) << titles.join(", ").toStdString();
  EXPECT_FALSE(opened.window.workspace().groups().empty());
  EXPECT_GE(tree->findItems("layer3", Qt::MatchRecursive | Qt::MatchExactly).size(), 2);
}

TEST(OpenFiles, MapsOfOneQuantityStandSideBySide) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({"dot.h5", "logits.h5", "penumbral.h5"});
  EXPECT_TRUE(opened.figure_is("heatmap", {"dot.h5", "penumbral.h5"}));
  EXPECT_TRUE(opened.in_front("dock-figures"));
  EXPECT_TRUE(opened.window.notice_shown().contains("2 results of attend"));
  EXPECT_TRUE(opened.window.notice_shown().contains("logits.h5"))
      << opened.window.notice_shown().toStdString();
}

TEST(OpenFiles, TwoBenchmarksAreCompared) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({"old.h5", "new.h5"});
  BenchModel& model = opened.window.view<BenchmarksView>().model();
  ASSERT_TRUE(wait_for([&] { return model.comparison().has_value(); }));
  EXPECT_EQ(opened.session().bench.compared, Written::files()["old.h5"].toStdString());
  EXPECT_EQ(opened.session().bench.shown, Written::files()["new.h5"].toStdString());
  EXPECT_EQ(opened.session().bench.page, "comparison");
  EXPECT_TRUE(opened.in_front("dock-benchmarks"));
}

TEST(OpenFiles, OfTwoKindsTheOneBehindIsNamed) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({QString::fromStdString(shipped_trace()), "old.h5", "new.h5"});
  EXPECT_TRUE(opened.trace_is("/german/layer0"));
  EXPECT_TRUE(wait_for(
      [&] { return opened.window.view<BenchmarksView>().model().comparison().has_value(); }));
  EXPECT_TRUE(opened.in_front("dock-maps"));
  EXPECT_EQ(opened.window.notice_shown(),
            "Open: minilm_trace.h5 in Attention maps, old.h5 and new.h5 in Benchmarks.");
  Window alone;
  alone.drop({"old.h5", "new.h5"});
  ASSERT_TRUE(wait_for(
      [&] { return alone.window.view<BenchmarksView>().model().comparison().has_value(); }));
  EXPECT_EQ(alone.window.notice_shown(), "") << "what is in front needs no words";
}

TEST(OpenFiles, ABenchmarkFillsTheFormWithItsSweep) {
  REQUIRE_DISPLAY();
  Window opened;
  const BenchChoice before = opened.session().bench;
  opened.drop({"new.h5"});
  ASSERT_TRUE(
      wait_for([&] { return opened.window.view<BenchmarksView>().model().data() != nullptr; }));
  const BenchChoice& form = opened.session().bench;
  EXPECT_EQ(form.fields.at("operators"), "laplacian,dot");
  EXPECT_EQ(form.fields.at("passes"), "backward");
  EXPECT_EQ(form.fields.at("lengths"), "16,32");
  EXPECT_EQ(form.fields.at("rounds"), "6");
  EXPECT_EQ(form.fields.at("warm_only"), "yes");
  EXPECT_TRUE(opened.window.view<BenchmarksView>().model().check().sound());
  opened.window.document().undo();
  EXPECT_TRUE(opened.session().bench == before) << "opening is one step";
}

TEST(OpenFiles, OfDifferentKindsEachOpensAndTheFirstIsSeen) {
  REQUIRE_DISPLAY();
  Window opened;
  const QString trace = QString::fromStdString(shipped_trace());
  opened.drop({"tree.h5", trace, "session.json", "old.h5", "dot.h5"});
  EXPECT_TRUE(opened.trace_is("/german/layer0"));
  EXPECT_TRUE(opened.figure_is("tree", {"tree.h5"}));
  EXPECT_EQ(opened.session().maps.scale, "rank");
  EXPECT_TRUE(
      wait_for([&] { return opened.window.view<BenchmarksView>().model().data() != nullptr; }));
  EXPECT_TRUE(opened.in_front("dock-figures"));
  const QString told = opened.window.notice_shown();
  for (const char* part : {"Open: minilm_trace.h5 in Attention maps, old.h5 in Benchmarks.",
                           "tree.h5 is a result of tree: its figure is in Figures.",
                           "A view shows one at a time: under File, Open recent: dot.h5."}) {
    EXPECT_TRUE(told.contains(part)) << part << " in " << told.toStdString();
  }
  bool listed = false;
  for (const QAction* action : opened.window.findChildren<QAction*>()) {
    listed = listed || action->text() == Written::files()["dot.h5"];
  }
  EXPECT_TRUE(listed);
}

TEST(OpenFiles, OfSeveralTracesTheFirstIsShownAndTheOthersAreNamed) {
  REQUIRE_DISPLAY();
  Window opened;
  const QString copy = opened.state.filePath("copy.h5");
  ASSERT_TRUE(QFile::copy(QString::fromStdString(shipped_trace()), copy));
  opened.drop({copy, QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
  EXPECT_EQ(opened.window.workspace().trace()->file, copy.toStdString());
  EXPECT_TRUE(opened.window.notice_shown().contains("minilm_trace.h5"));
}

TEST(OpenFiles, OfSeveralTracesTheDamagedOneIsNamedWithTheReason) {
  REQUIRE_DISPLAY();
  Window opened;
  const QString broken = opened.state.filePath("broken.npz");
  QFile file(broken);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("PK\x03\x04 and nothing else");
  file.close();
  // Wherever it stands among them, the first of the others is shown.
  const QString sound = QString::fromStdString(shipped_trace());
  const QString copy = opened.state.filePath("copy.h5");
  ASSERT_TRUE(QFile::copy(sound, copy));
  opened.drop({broken, copy, sound});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
  EXPECT_EQ(opened.window.workspace().trace()->file, copy.toStdString());
  const QString told = opened.window.error_shown();
  EXPECT_TRUE(told.contains("broken.npz: ")) << told.toStdString();
  EXPECT_TRUE(told.contains("in the list above the maps: minilm_trace.h5")) << told.toStdString();
}

TEST(OpenFiles, WhatCannotBeReadIsToldAndTheOthersOpen) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({opened.state.filePath("gone.h5"), "tree.h5", opened.state.filePath("lost.h5")});
  EXPECT_TRUE(opened.figure_is("tree", {"tree.h5"}));
  EXPECT_TRUE(opened.window.error_shown().contains("gone.h5"));
  EXPECT_TRUE(opened.window.error_shown().contains("lost.h5"));
  EXPECT_FALSE(opened.window.error_shown().contains('\n'));
  EXPECT_TRUE(opened.window.error_shown().contains("tree.h5 is a result of tree"))
      << "what the notice would have said";
}

TEST(OpenFiles, OneResultUnderSeveralNamesStandsOnce) {
  REQUIRE_DISPLAY();
  Window opened;
  const QString file = Written::files()["dot.h5"], link = opened.state.filePath("link.h5");
  ASSERT_TRUE(QFile::link(file, link));
  opened.window.open({file, QFileInfo(file).path() + "/./dot.h5", link});
  EXPECT_TRUE(opened.figure_is("heatmap", {"dot.h5"}));
  EXPECT_TRUE(opened.window.notice_shown().contains("dot.h5 is a result of attend"))
      << opened.window.notice_shown().toStdString();
}

/// A copy with an array that cannot be read: its filter is unknown.
QString damaged_copy(const char* name, const QTemporaryDir& folder) {
  const QString copy = folder.filePath(name);
  EXPECT_TRUE(QFile::copy(Written::files()[name], copy));
  const hdf5::Lock lock;
  const hdf5::File file(H5Fopen(copy.toUtf8().constData(), H5F_ACC_RDWR, H5P_DEFAULT));
  const hsize_t extent = 4;
  const hdf5::Properties chunked(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(chunked.id(), 1, &extent);
  H5Pset_filter(chunked.id(), 32015, H5Z_FLAG_OPTIONAL, 0, nullptr);
  const hdf5::Space space(H5Screate_simple(1, &extent, nullptr));
  const hdf5::Dataset bad(H5Dcreate2(file.id(), "bad", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT,
                                     chunked.id(), H5P_DEFAULT));
  EXPECT_GE(bad.id(), 0);
  return copy;
}

TEST(OpenFiles, ResultsWithADamagedArrayOpenAndItIsTold) {
  REQUIRE_DISPLAY();
  const std::vector<std::pair<const char*, const char*>> views = {
      {"tree.h5", "dock-figures"}, {"old.h5", "dock-benchmarks"}, {"output.h5", "dock-maps"}};
  for (const auto& [file, dock] : views) {
    SCOPED_TRACE(file);
    Window opened;
    opened.drop({damaged_copy(file, opened.state)});
    EXPECT_TRUE(opened.in_front(dock));
    EXPECT_TRUE(wait_for([&] {
      return opened.window.error_shown().contains("its bytes are not those");
    })) << opened.window.error_shown().toStdString();
  }
}

// What views show of a file makes none of them so wide that the window outgrows the screen.
TEST(OpenFiles, TheWindowStillFitsASmallScreen) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({"tree.h5", "old.h5", QString::fromStdString(shipped_trace()) + ":/german/layer3"});
  ASSERT_TRUE(opened.trace_is("/german/layer3"));
  ASSERT_TRUE(
      wait_for([&] { return opened.window.view<BenchmarksView>().model().data() != nullptr; }));
  const auto* size = opened.window.findChild<QLabel*>("figure-size");
  ASSERT_TRUE(wait_for([&] { return size->text().contains("mm"); }));
  opened.window.document().edit("look", [](Session& s) {
    s.locked = Focus{3, 8};
    s.cones.follow_tokens = true;
    s.bench.page = "table";
  });
  opened.window.show_error(QString("/a/long/path").repeated(40));
  for (QDockWidget* dock : opened.window.findChildren<QDockWidget*>()) {
    dock->raise();
    opened.window.resize(1024, 700);
    pump(100);
    EXPECT_EQ(opened.window.size(), QSize(1024, 700)) << dock->objectName().toStdString();
  }
}

TEST(OpenFiles, FilesOpenedSoonAfterOthersDoNotReplaceThem) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({"tree.h5"});
  opened.drop({"old.h5"});
  opened.drop({QString::fromStdString(shipped_trace())});
  EXPECT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
  EXPECT_TRUE(opened.figure_is("tree", {"tree.h5"}));
  EXPECT_TRUE(
      wait_for([&] { return opened.window.view<BenchmarksView>().model().data() != nullptr; }));
}

TEST(OpenFiles, ANewSessionShowsTheContentOfNoFile) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.drop({QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(opened.trace_is("/german/layer0"));
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  ASSERT_TRUE(wait_for([&] { return tree->topLevelItemCount() == 1; }));
  for (QAction* action : opened.window.actions()) {
    if (action->shortcut() == QKeySequence(QKeySequence::New)) action->trigger();
  }
  EXPECT_TRUE(wait_for([&] { return opened.window.workspace().trace() == nullptr; }));
  EXPECT_EQ(tree->topLevelItemCount(), 0);
  opened.window.document().undo();
  EXPECT_TRUE(wait_for([&] { return tree->topLevelItemCount() == 1; }));
}

TEST(OpenFiles, ALongDescriptionLeavesTheTreeItsSpace) {
  REQUIRE_DISPLAY();
  Window opened;
  opened.window.resize(1024, 700);
  opened.drop({QString::fromStdString(shipped_trace())});
  auto* tree = opened.window.findChild<QTreeWidget*>("data-tree");
  ASSERT_TRUE(wait_for([&] { return tree->topLevelItemCount() == 1; }));
  tree->setCurrentItem(tree->topLevelItem(0));  // The file's own attributes are several lines.
  pump(60);
  EXPECT_GT(tree->height(), tree->parentWidget()->height() / 2);
}

}  // namespace
}  // namespace conelab::desktop
