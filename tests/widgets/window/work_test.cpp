// No work holds the window up, and the window can be closed in the middle of any.
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QTemporaryDir>
#include <fstream>

#include "app/desktop.h"
#include "core/base/random.h"
#include "core/files/hdf5_write.h"
#include "tests/widgets/benchmarks/bench_fixtures.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/gaps.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

/// What the window may be held up by anything.
constexpr double most_milliseconds = 50 * slowness;

/// How often a turn that was too long is looked at again. On a machine with few cores the display's
/// own process waits for them, and every answer of it that the window needs is then late by a turn
/// of the scheduler; what the window does itself is too long every time.
constexpr int attempts = 10;

/// A trace of that many heads and tokens in NumPy's form; d = 64, f32.
QString write_trace(const QTemporaryDir& folder, int heads, int tokens) {
  const QString path = folder.filePath(QStringLiteral("q-%1-%2.npy").arg(heads).arg(tokens));
  std::string header = fmt::format(
      "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, 64), }}", heads, tokens);
  header.resize(118, ' ');
  header[117] = '\n';
  std::ofstream file(path.toStdString(), std::ios::binary);
  file.write("\x93NUMPY\x01\x00\x76\x00", 10);
  file << header;
  Random random(7);
  std::vector<float> some(std::size_t{64} * std::min(tokens, 4096));
  for (float& x : some) x = static_cast<float>(random.normal());
  const auto bytes = static_cast<std::int64_t>(sizeof(float) * some.size());
  for (std::int64_t left = std::int64_t{256} * heads * tokens; left > 0; left -= bytes) {
    file.write(reinterpret_cast<const char*>(some.data()), std::min(left, bytes));
  }
  return path;
}

/// A trace of one tensor in HDF5, checksummed and packed, so that its reader takes its time.
QString write_hdf5_trace(const QTemporaryDir& folder, int heads, int tokens) {
  const QString path = folder.filePath("q.h5");
  const hdf5::Where where{path.toStdString(), "/q"};
  const std::vector<float> some(std::size_t{64} * static_cast<std::size_t>(heads * tokens), 0.5F);
  const auto extent = [](int n) { return static_cast<hsize_t>(n); };
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::create_file(where.file, where);
  const hdf5::Dataset dataset = hdf5::create_dataset(
      file.id(), "q", H5T_NATIVE_FLOAT, {1, extent(heads), extent(tokens), 64}, {}, where);
  hdf5::write_numbers(dataset, H5T_NATIVE_FLOAT, some.data(), where);
  return path;
}

/// A piece of long work: begun in a window, and going on for as long as the test looks.
struct Work {
  const char* name;
  /// What the job's title begins with.
  const char* title;
  int heads, tokens;
  /// Begins it; the trace is open already where `opened`.
  std::function<void(MainWindow&, const QString& trace)> begin;
  bool opened = true;
};

void show_layout(MainWindow& window, const char* layout) {
  window.document().edit("layout", [&](Session& s) { s.maps.layout = layout; });
}

void show_numbers(MainWindow& window, const char* layout) {
  window.document().edit("numbers", [&](Session& s) {
    s.maps.layout = layout;
    s.maps.numbers = true;
  });
}

const std::vector<Work>& all_work() {
  static const std::vector<Work> all = {
      {"reading a file", "", 16, 16384,
       [](MainWindow& w, const QString& trace) { w.open({trace}); }, false},
      {"attention maps", "attention map", 1, 16384, [](MainWindow&, const QString&) {}},
      {"all heads", "all heads", 12, 4096,
       [](MainWindow& w, const QString&) { show_layout(w, "heads"); }},
      {"arcs", "arcs", 1, 2048, [](MainWindow& w, const QString&) { show_layout(w, "arcs"); }},
      {"trees", "tree", 1, 1024, [](MainWindow& w, const QString&) { show_layout(w, "tree"); }},
      {"orders", "tree", 1, 1024, [](MainWindow& w, const QString&) { show_layout(w, "hasse"); }},
      {"arcs as numbers", "arcs", 1, 2048,
       [](MainWindow& w, const QString&) { show_numbers(w, "arcs"); }},
      {"trees as numbers", "tree", 1, 1024,
       [](MainWindow& w, const QString&) { show_numbers(w, "tree"); }},
      {"a figure", "figure", 1, 6000,
       [](MainWindow& w, const QString&) {
         w.document().edit("maps", [](Session& s) { s.maps.calls.clear(); });
         w.document().edit("figure", [](Session& s) { s.figure.name = "heatmap"; });
         w.findChild<QDockWidget*>("dock-figures")->raise();
       }},
      {"a benchmark", "benchmark", 1, 64,
       [](MainWindow& w, const QString&) {
         w.document().edit("sweep", [](Session& s) {
           s.bench = quick_sweep();
           s.bench.fields["rounds"] = "400";
         });
         w.findChild<QDockWidget*>("dock-benchmarks")->raise();
         w.view<BenchmarksView>().model().run();
       }},
  };
  return all;
}

/// A window without the cone explorer: a software renderer's frames are not ours to hold up.
struct OpenedAtWork {
  QTemporaryDir folder{folder_template()};
  std::unique_ptr<MainWindow> window;

  OpenedAtWork() {
    Backends backends = desktop_backends();
    backends.bench = fake_bench_backend(folder);
    window = std::make_unique<MainWindow>(backends, folder.filePath("state"));
    window->findChild<QDockWidget*>("dock-explorer")->hide();
    window->resize(1200, 800);
    show_active(*window);
    window->findChild<QDockWidget*>("dock-maps")->raise();
    pump(100);
  }
  [[nodiscard]] bool under_way(const char* title) const {
    const auto running = window->workspace().jobs().running();
    return std::any_of(running.begin(), running.end(), [&](const auto& job) {
      return job->running && job->title.rfind(title, 0) == 0;
    });
  }
};

class EachWork : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Work& work() const { return all_work()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(Work, EachWork, ::testing::Range<std::size_t>(0, all_work().size()),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : std::string(all_work()[info.param].name)) {
                             if (c != ' ') name += c;
                           }
                           return name;
                         });

/// Ends by itself or is looked at for a while; the longest turn of the window's thread.
double longest_turn(const Work& work, OpenedAtWork& opened, const QString& trace) {
  if (work.opened) {
    opened.window->workspace().open(trace);
    EXPECT_TRUE(wait_for([&] { return opened.window->workspace().trace() != nullptr; }));
    pump(50);
  }
  Gaps gaps;
  work.begin(*opened.window, trace);
  EXPECT_TRUE(wait_for([&] { return opened.under_way(work.title); })) << "there was no such work";
  wait_for([&] { return opened.window->workspace().jobs().running().empty(); }, 1200);
  pump(100);
  EXPECT_GT(gaps.ticks(), 5);
  return gaps.longest();
}

TEST_P(EachWork, LeavesTheWindowFree) {
  REQUIRE_DISPLAY();
  double best = 1e9;
  for (int attempt = 0; attempt < attempts && best >= most_milliseconds; ++attempt) {
    OpenedAtWork opened;
    const QString trace = write_trace(opened.folder, work().heads, work().tokens);
    best = std::min(best, longest_turn(work(), opened, trace));
  }
  printf("%s: the window's thread was held for %.1f ms at most\n", work().name, best);
  EXPECT_LT(best, most_milliseconds);
}

TEST_P(EachWork, EndsCleanlyWithTheWindow) {
  REQUIRE_DISPLAY();
  const auto before = QApplication::allWidgets().size();
  QElapsedTimer closing;
  {
    OpenedAtWork opened;
    const QString trace = write_trace(opened.folder, work().heads, work().tokens);
    if (work().opened) {
      opened.window->workspace().open(trace);
      ASSERT_TRUE(wait_for([&] { return opened.window->workspace().head() != nullptr; }));
    }
    work().begin(*opened.window, trace);
    ASSERT_TRUE(wait_for([&] { return opened.under_way(work().title); }));
    closing.start();
    // A sweep is not stopped before its user was told.
    const bool sweeps = opened.window->view<BenchmarksView>().model().running();
    EXPECT_EQ(opened.window->close(), !sweeps);
    EXPECT_EQ(opened.window->isVisible(), sweeps);
    EXPECT_TRUE(opened.window->close());
    opened.window.reset();
    printf("%s: the window was gone after %lld ms\n", work().name,
           static_cast<long long>(closing.elapsed()));
    EXPECT_LT(closing.elapsed(), 2000 * slowness) << "it waited for the work instead of ending it";
  }
  pump(30);  // What the work still had to say is heard by nobody.
  EXPECT_EQ(QApplication::allWidgets().size(), before);
}

TEST(Window, ClosesAtAnyStageOfReadingAnHdf5File) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder{folder_template()};
  const QString trace = write_hdf5_trace(folder, 4, 32768);
  QElapsedTimer whole;
  {
    OpenedAtWork opened;
    whole.start();
    opened.window->open({trace});
    ASSERT_TRUE(
        wait_for([&] { return opened.window->workspace().head() != nullptr; }, 60000 * slowness));
  }
  const int reading = static_cast<int>(whole.elapsed());
  qint64 longest = 0;
  constexpr int stages = 6;
  for (int stage = 0; stage < stages; ++stage) {
    OpenedAtWork opened;
    opened.window->open({trace});
    pump(reading * stage / stages);
    QElapsedTimer closing;
    closing.start();
    opened.window->close();
    opened.window.reset();
    longest = std::max(longest, closing.elapsed());
  }
  printf("an HDF5 file read in %d ms: the window was gone after %lld ms at most\n", reading,
         static_cast<long long>(longest));
  // A machine that is slow at closing is slow at reading, too.
  EXPECT_LT(longest, std::max(1000 * slowness, reading / 2)) << "it waited for the file";
}

TEST(Window, ALargeTraceLeavesItFree) {
  REQUIRE_DISPLAY();
  OpenedAtWork opened;
  opened.window->workspace().open(write_trace(opened.folder, 2, 16384));
  ASSERT_TRUE(wait_for([&] { return opened.window->workspace().head() != nullptr; }));
  pump(500);
  Document& document = opened.window->document();
  std::int64_t row = 0;
  const std::vector<std::pair<const char*, std::function<void()>>> acts = {
      {"pointing at cells",
       [&] {
         for (int i = 0; i < 20; ++i) document.hover(Focus{row += 97, 5}), pump(10);
       }},
      {"the exact values",
       [&] {
         wait_for([&] { return !opened.window->view<MapsView>().readout().contains("computing"); });
         EXPECT_TRUE(opened.window->view<MapsView>().readout().contains("penumbral: "))
             << opened.window->view<MapsView>().readout().toStdString();
       }},
      {"the table", [&] { show_layout(*opened.window, "table"), pump(300); }},
      {"the maps again", [&] { show_layout(*opened.window, "maps"), pump(300); }},
      {"another head",
       [&] {
         document.edit("head", [](Session& s) { s.trace.head = 1 - s.trace.head; });
         pump(500);
       }},
      {"another quantity",
       [&] {
         document.edit("logits", [](Session& s) {
           s.maps.quantity = s.maps.quantity == "logits" ? "weights" : "logits";
         });
         pump(500);
       }},
  };
  const auto& panels = opened.window->view<MapsView>().model().panels();
  ASSERT_TRUE(wait_for([&] { return panels.front()->pyramid->complete(); }, 60000 * slowness));
  std::vector<double> best(acts.size(), 1e9);
  const auto worst = [&] { return *std::max_element(best.begin(), best.end()); };
  for (int attempt = 0; attempt < attempts && worst() >= most_milliseconds; ++attempt) {
    for (std::size_t i = 0; i < acts.size(); ++i) {
      Gaps gaps;
      acts[i].second();
      best[i] = std::min(best[i], gaps.longest());
    }
  }
  for (std::size_t i = 0; i < acts.size(); ++i) {
    printf("16384 tokens, %s: the window's thread was held for %.1f ms at most\n", acts[i].first,
           best[i]);
    EXPECT_LT(best[i], most_milliseconds) << acts[i].first;
  }
}

TEST(Window, EditsAndThemesLeaveItFree) {
  REQUIRE_DISPLAY();
  OpenedAtWork opened;
  opened.window->open({QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(wait_for([&] { return opened.window->workspace().head() != nullptr; }));
  pump(300);
  const std::vector<std::pair<const char*, std::function<void(Session&)>>> edits = {
      {"head", [](Session& s) { s.trace.head = (s.trace.head + 1) % 12; }},
      {"scale", [](Session& s) { s.maps.scale = s.maps.scale == "log" ? "row" : "log"; }},
      {"layout", [](Session& s) { s.maps.layout = s.maps.layout == "maps" ? "arcs" : "maps"; }},
      {"operators", [](Session& s) { s.maps.calls.push_back(plain_call("laplacian")); }},
      {"figure", [](Session& s) { s.figure.name = s.figure.name == "cones" ? "tree" : "cones"; }},
      {"lock",
       [](Session& s) {
         s.locked = Focus{3, 4};
       }},
  };
  for (const auto& [name, change] : edits) {
    double best = 1e9;
    for (int attempt = 0; attempt < attempts && best >= most_milliseconds; ++attempt) {
      Gaps gaps;
      opened.window->document().edit(name, change);
      pump(150);
      best = std::min(best, gaps.longest());
    }
    printf("edit of the %s: the window's thread was held for %.1f ms at most\n", name, best);
    EXPECT_LT(best, most_milliseconds) << name;
  }
}

}  // namespace
}  // namespace conelab::desktop
