#include "widgets/trace/workspace.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <atomic>
#include <set>

#include "tests/widgets/driving.h"
#include "tests/widgets/work.h"

namespace conelab::desktop {
namespace {

/// A trace that is open, and a pool whose only thread can be kept busy: what is opened waits.
struct Open {
  QTemporaryDir folder;
  QString live = folder.filePath("live.h5");
  Document document;
  std::atomic<bool> released{false};
  JobPool jobs{deliver, 1};
  Workspace workspace{document, jobs};
  JobHandle busy;

  Open() {
    EXPECT_TRUE(QFile::copy(QString::fromStdString(shipped_trace()), live));
    workspace.open(live, "/german/layer3");
    EXPECT_TRUE(wait_for([this] { return workspace.trace() && !workspace.loading(); }));
  }
  ~Open() { released = true; }
  void hold() {
    busy = jobs.start<bool>(
        "busy",
        [this](const PoolContext&) {
          while (!released) QThread::usleep(500);
          return true;
        },
        [](bool) {}, [](const std::string&) {}, true);
    EXPECT_TRUE(wait_for([this] { return !jobs.running().empty() && jobs.running()[0]->running; }));
  }
  /// Until a watch of our own has told of it, as the workspace's is told too.
  void rewrite() {
    FileWatch watch;
    watch.watch(live);
    bool told = false;
    QObject::connect(&watch, &FileWatch::changed, [&] { told = true; });
    rewrite_file(live);
    ASSERT_TRUE(wait_for([&] { return told; }));
    pump(100);
  }
};

TEST(Workspace, AChangeWhileAnotherFileIsOpenedInVainIsReadThen) {
  Open open;
  const auto before = open.workspace.trace();
  open.hold();
  open.workspace.open(open.folder.filePath("missing.h5"));
  open.rewrite();
  EXPECT_EQ(open.workspace.trace(), before);
  open.released = true;
  EXPECT_TRUE(wait_for([&] { return open.workspace.trace() != before; }));
  EXPECT_EQ(open.workspace.trace()->file, open.live.toStdString());
}

TEST(Workspace, AChangeWhileAnotherGroupOfTheFileIsOpenedIsReadThen) {
  Open open;
  std::set<std::shared_ptr<const Trace>> seen;
  QObject::connect(&open.workspace, &Workspace::trace_changed, [&] {
    const auto& now = open.workspace.trace();
    if (now && now->group == "/german/layer0") seen.insert(now);
  });
  open.hold();
  open.workspace.open(open.live, "/german/layer0");
  open.rewrite();
  open.released = true;
  EXPECT_TRUE(wait_for([&] { return seen.size() == 2; })) << seen.size();
}

TEST(Workspace, ATraceIsFirstSeenInTheBallUnderItsOwnFamily) {
  Work work;
  EXPECT_EQ(work.document.session().cones.model, "halfspace");
  work.open(CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5", "/umbral/seed1");
  EXPECT_EQ(work.document.session().cones.model, "ball");
  EXPECT_EQ(work.document.session().cones.family, "umbral");
  work.document.edit("model", [](Session& s) { s.cones.model = "halfspace"; });
  work.open();
  EXPECT_EQ(work.document.session().cones.model, "halfspace") << "as the user chose";
}

TEST(Workspace, StepsCountWhileALayerIsOpened) {
  Open open;
  open.hold();
  open.workspace.step_group(1);
  open.workspace.step_group(1);
  open.released = true;
  EXPECT_TRUE(wait_for([&] { return open.workspace.trace()->group == "/german/layer5"; }));
}

TEST(Workspace, RegionsAndRangesAreOfOneFile) {
  Open open;
  const MapRegion region{1, 4, 2, 5};
  open.document.edit("choose", [&](Session& s) {
    s.maps.region = region;
    s.maps.range_begin = 3;
  });
  const auto opened = [&](const QString& file, const QString& group) {
    open.workspace.open(file, group);
    return wait_for([&] {
      const auto& trace = open.workspace.trace();
      return trace && trace->file == file.toStdString() && trace->group == group.toStdString();
    });
  };
  ASSERT_TRUE(opened(open.live, "/german/layer0"));
  EXPECT_EQ(open.document.session().maps.region, region);
  ASSERT_TRUE(opened(QString::fromStdString(shipped_trace()), "/german/layer0"));
  EXPECT_FALSE(open.document.session().maps.region);
  EXPECT_EQ(open.document.session().maps.range_begin, 0);
}

}  // namespace
}  // namespace conelab::desktop
