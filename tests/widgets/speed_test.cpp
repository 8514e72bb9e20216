// How long a person waits. Bounds are generous, so that a busy machine passes; the numbers are
// printed, and a tenfold loss is noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "tests/widgets/work.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/maps/heads_canvas.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/relations_canvas.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double p95(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() * 95 / 100];
}

double milliseconds(const std::function<void()>& work) {
  QElapsedTimer clock;
  clock.start();
  work();
  return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

/// What a frame costs before anything is drawn: Qt's composition and the display.
class EmptyViewport : public Viewport {
 protected:
  void draw_controls() override {}
};

TEST(Speed, AnEmptyViewport) {
  REQUIRE_DISPLAY();
  EmptyViewport viewport;
  viewport.resize(1200, 800);
  show_active(viewport);
  ASSERT_TRUE(wait_for([&] { return viewport.frames_painted() >= 3; }));
  std::vector<double> whole;
  for (int i = 0; i < 40; ++i) {
    const long before = viewport.frames_painted();
    viewport.wake(1);
    whole.push_back(
        milliseconds([&] { wait_for([&] { return viewport.frames_painted() > before; }); }));
  }
  printf("empty viewport 1200 x 800: %.1f ms (95%%: %.1f ms)\n", median(whole), p95(whole));
  EXPECT_LT(median(whole), 500 * slowness);
}

TEST(Speed, DraggingInTheExplorer) {
  REQUIRE_DISPLAY();
  Document document;
  ExplorerViewport viewport(document);
  viewport.resize(1200, 800);
  show_active(viewport);
  ASSERT_TRUE(wait_for([&] { return viewport.frames_painted() >= 3; }));
  std::vector<double> scene, whole;
  for (int i = 0; i < 80; ++i) {
    viewport.measured = i >= 40;  // To wait for the scene alone costs time of the whole.
    ConeChoice choice = viewport.choice();
    choice.u[0] = -0.5 + 0.01 * (i % 40);
    viewport.show_scene(choice, {});
    const long before = viewport.frames_painted();
    const double time =
        milliseconds([&] { wait_for([&] { return viewport.frames_painted() > before; }); });
    if (!viewport.measured) whole.push_back(time);
    if (viewport.measured) scene.push_back(viewport.frame_time());
  }
  printf("explorer 1200 x 800: scene %.1f ms, whole frame %.1f ms (95%%: %.1f ms)\n", median(scene),
         median(whole), p95(whole));
  EXPECT_LT(median(whole), 500 * slowness);
}

// With everything that follows a moved point: the readout, the fields, undo, the other views.
TEST(Speed, DraggingInTheWindow) {
  REQUIRE_DISPLAY();
  MainWindow window({}, "");
  window.resize(1440, 900);
  show_active(window);
  ExplorerViewport& viewport = window.view<ExplorerView>().viewport();
  ASSERT_TRUE(wait_for([&] { return viewport.frames_painted() >= 3; }));
  pump(300);
  const QPointF from = viewport.handle("u");
  move_to(viewport, from);
  pump(60);
  send_mouse(viewport, QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
  pump(60);
  std::vector<double> whole;
  for (int i = 1; i <= 60; ++i) {
    const long before = viewport.frames_painted();
    move_to(viewport, from + QPointF(0.5 * i, 0.2 * i), Qt::LeftButton);
    whole.push_back(
        milliseconds([&] { wait_for([&] { return viewport.frames_painted() > before; }); }));
  }
  send_mouse(viewport, QEvent::MouseButtonRelease, from, Qt::LeftButton, Qt::NoButton);
  EXPECT_NE(window.document().session().cones.u, ConeChoice().u);
  printf("window 1440 x 900, explorer %d x %d: dragging %.1f ms a movement (95%%: %.1f ms)\n",
         viewport.width(), viewport.height(), median(whole), p95(whole));
  EXPECT_LT(median(whole), 500 * slowness);
}

TEST(Speed, A16384MapIsSeenAtOnceAndPannedFreely) {
  const std::int64_t n = 16384;
  Random random(1);
  auto head = std::make_shared<HeadInput>();
  for (auto* t : {&head->fast.query, &head->fast.key, &head->fast.value}) {
    *t = Tensor4<float>({1, 1, n, 64});
    for (float& x : t->owned().data) x = static_cast<float>(random.normal());
  }
  MapPyramid pyramid(attention_source(head, plain_call("penumbral"), Map2d::logits));
  MapCamera camera;
  camera.fit(n, n, 1000, 800);
  std::vector<std::uint32_t> pixels(1000 * 800);
  const auto draw = [&] {
    const MapSummary summary = pyramid.summary();
    const ColourChoice choice;
    draw_map(pyramid, MapColours(choice, colour_limits(summary, choice), summary), camera, 1000,
             800, 1, pixels.data());
  };
  const double first = milliseconds([&] { pyramid.fill_sample(), draw(); });
  std::vector<double> pans;
  for (int i = 0; i < 20; ++i) {
    camera.pan(7, 3);
    pans.push_back(milliseconds(draw));
  }
  camera.scale = 1;
  const std::vector<TileKey> tiles = missing_tiles(pyramid, camera, 1000, 800);
  std::vector<double> tile_times;
  for (const TileKey& key : tiles) {
    tile_times.push_back(milliseconds([&] { pyramid.compute_tile(key); }));
  }
  printf("16384 map: first picture %.0f ms, pan %.1f ms, a tile of 256 x 256 cells %.1f ms\n",
         first, median(pans), median(tile_times));
  EXPECT_LT(first, 5000 * slowness);
  EXPECT_LT(median(pans), 330 * slowness);
}

TEST(Speed, AllHeadsAreThereAtOnce) {
  Work work;
  work.open();
  MapsModel maps(work.workspace);
  HeadsModel heads(maps);
  const double computed = milliseconds([&] {
    heads.set_visible(true);
    wait_for([&] { return heads.complete(); });
  });
  HeadsCanvas canvas(heads);
  canvas.resize(900, 640);
  QImage picture(canvas.size(), QImage::Format_ARGB32_Premultiplied);
  const double painted = milliseconds([&] { canvas.render(&picture); });
  printf("12 heads under 3 operators, 30 tokens: computed %.0f ms, painted %.1f ms\n", computed,
         painted);
  EXPECT_LT(computed, 5000 * slowness);
  EXPECT_LT(painted, 500 * slowness);
}

TEST(Speed, ArcsAndTreesFollowThePointer) {
  Work work;
  Document& document = work.document;
  document.edit("arcs", [](Session& s) { s.maps.layout = "arcs"; });
  work.open();
  RelationsModel model(work.workspace);
  RelationsCanvas canvas(model);
  QImage picture(820, 1400, QImage::Format_ARGB32_Premultiplied);
  for (const char* layout : {"arcs", "tree", "hasse"}) {
    document.edit("layout", [&](Session& s) { s.maps.layout = layout; });
    ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
    const double laid_out = milliseconds([&] { canvas.resize(820 - 10 * (*layout == 'a'), 1400); });
    const double first = milliseconds([&] {
      canvas.render(&picture);
      wait_for([&] { return canvas.sharp(); });
    });
    std::vector<double> times;
    for (std::int64_t i = 0; i < 20; ++i) {
      document.hover(Focus{i, 3});
      times.push_back(milliseconds([&] { canvas.render(&picture); }));
    }
    printf("%s: laid out %.1f ms, first picture %.1f ms, following the pointer %.1f ms\n", layout,
           laid_out, first, median(times));
    EXPECT_LT(median(times), 500 * slowness);
  }
}

TEST(Speed, TheWindowIsThereSoon) {
  REQUIRE_DISPLAY();
  double shown = 0;
  const double made = milliseconds([&] {
    MainWindow window({}, "");
    QElapsedTimer clock;
    clock.start();
    window.show();
    wait_for([&] { return window.view<ExplorerView>().viewport().frames_painted() > 0; });
    shown = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
  });
  printf("window: shown and painted %.0f ms, with making and closing %.0f ms\n", shown, made);
  EXPECT_LT(made, 6000 * slowness);
}

}  // namespace
}  // namespace conelab::desktop
