#include <gtest/gtest.h>
#include <imgui.h>

#include <QKeyEvent>
#include <QSurfaceFormat>

#include "tests/widgets/driving.h"
#include "widgets/imgui/overlay.h"
#include "widgets/imgui/viewport.h"

namespace conelab::desktop {
namespace {

TEST(InputQueue, APressAndItsReleaseTakeTwoFrames) {
  InputQueue queue;
  ImGuiIO io;
  queue.push(PointerMove{10, 20});
  queue.push(ButtonChange{0, true});
  queue.push(ButtonChange{0, false});
  EXPECT_TRUE(queue.apply(io));
  EXPECT_TRUE(io.MouseDown[0]);
  EXPECT_FALSE(queue.apply(io));
  EXPECT_FALSE(io.MouseDown[0]);
}

TEST(InputQueue, AClickIsTakenWhereItHappened) {
  InputQueue queue;
  ImGuiIO io;
  queue.push(PointerMove{10, 20});
  queue.push(ButtonChange{0, true});
  queue.push(PointerMove{300, 20});
  EXPECT_TRUE(queue.apply(io));
  EXPECT_EQ(io.MousePos.x, 10);
  EXPECT_FALSE(queue.apply(io));
  EXPECT_EQ(io.MousePos.x, 300);
}

TEST(InputQueue, FocusLossReleasesEverything) {
  InputQueue queue;
  ImGuiIO io;
  queue.push(KeyChange{key_index(Qt::Key_A), true});
  queue.push(Modifiers{true, false, false, false});
  queue.push(FocusLoss{});
  while (queue.apply(io)) {
  }
  EXPECT_FALSE(io.KeysDown[key_index(Qt::Key_A)]);
  EXPECT_FALSE(io.KeyCtrl);
}

TEST(InputQueue, KeysHaveSlotsOfTheirOwn) {
  const int keys[] = {Qt::Key_A,    Qt::Key_Z,      Qt::Key_Left, Qt::Key_Right, Qt::Key_Home,
                      Qt::Key_Tab,  Qt::Key_Escape, Qt::Key_Up,   Qt::Key_Space, Qt::Key_Return,
                      Qt::Key_Down, Qt::Key_Enter,  Qt::Key_F1,   Qt::Key_Delete};
  std::vector<int> places;
  for (const int key : keys) places.push_back(key_index(key));
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::unique(places.begin(), places.end()), places.end());
  EXPECT_GE(places.front(), 0);
  EXPECT_LT(places.back(), 512);
}

/// A viewport with a button, a slider and nothing behind.
class Panel : public Viewport {
 public:
  int presses = 0;
  double value = 0.5;
  bool text_wanted = false;

 protected:
  void draw_controls() override {
    apply_palette(palette());
    Overlay overlay(*this, "panel", {false, false}, 0.9F);
    if (overlay.button("press")) ++presses;
    overlay.slider("slide", value, 0, 1);
  }
};

TEST(Viewport, RealEventsReachItsControls) {
  REQUIRE_DISPLAY();
  Panel panel;
  panel.resize(400, 300);
  show_active(panel);
  ASSERT_TRUE(wait_for([&] { return !panel.control("press").isEmpty(); }));
  pump(100);
  click(panel, panel.control("press").center());  // Press and release before one paint.
  ASSERT_TRUE(wait_for([&] { return panel.presses == 1; }));
  const QRectF slider = panel.control("slide");
  drag(panel, {slider.left() + 65, slider.center().y()},
       {slider.left() + 110, slider.center().y()});
  EXPECT_GT(panel.value, 0.7);
}

TEST(Viewport, PaintsNothingAtRest) {
  REQUIRE_DISPLAY();
  Panel panel;
  panel.resize(400, 300);
  show_active(panel);
  ASSERT_TRUE(wait_for([&] { return panel.frames_painted() >= 3; }));
  pump(300);
  const long before = panel.frames_painted();
  pump(300);
  EXPECT_EQ(panel.frames_painted(), before);
  move_to(panel, {50, 50});
  ASSERT_TRUE(wait_for([&] { return panel.frames_painted() >= before + 3; }));
  pump(200);
  EXPECT_LE(panel.frames_painted(), before + 8);
}

TEST(Viewport, SurvivesBeingMovedToAnotherWindow) {
  REQUIRE_DISPLAY();
  QWidget first, second;
  first.resize(300, 200), second.resize(300, 200);
  auto* panel = new Panel;
  panel->setParent(&first);
  panel->resize(300, 200);
  show_active(first);
  ASSERT_TRUE(wait_for([&] { return panel->frames_painted() > 0; }));
  const long before = panel->frames_painted();
  panel->setParent(&second);
  panel->show();
  show_active(second);
  ASSERT_TRUE(wait_for([&] { return panel->frames_painted() > before; }));
  click(*panel, panel->control("press").center());
  EXPECT_TRUE(wait_for([&] { return panel->presses == 1; }));
}

TEST(GlCanvas, ASizeThatCannotBeHadIsToldAndALaterOneWorks) {
  REQUIRE_DISPLAY();
  GlCanvas canvas;
  ASSERT_EQ(canvas.error(), "");
  EXPECT_FALSE(canvas.begin({1 << 20, 40}));
  EXPECT_TRUE(canvas.error().contains("1048576 x 40")) << canvas.error().toStdString();
  EXPECT_TRUE(canvas.picture().isNull());
  ASSERT_TRUE(canvas.begin({64, 40}));
  EXPECT_EQ(canvas.error(), "");
  canvas.end();
  EXPECT_EQ(canvas.picture().size(), QSize(64, 40));
}

TEST(Viewport, SaysSoWhereNoOpenGlIsToBeHad) {
  REQUIRE_DISPLAY();
  const QSurfaceFormat usual = QSurfaceFormat::defaultFormat();
  QSurfaceFormat old = usual;
  old.setVersion(2, 1);
  old.setProfile(QSurfaceFormat::NoProfile);
  old.setRenderableType(QSurfaceFormat::OpenGLES);  // Of version 2: without these shaders.
  QSurfaceFormat::setDefaultFormat(old);
  {
    Panel panel;
    panel.resize(400, 300);
    show_active(panel);
    pump(100);
    EXPECT_TRUE(panel.error().contains("OpenGL")) << panel.error().toStdString();
    EXPECT_EQ(panel.frames_painted(), 0);
    EXPECT_EQ(panel.accessibleDescription(), panel.error());
    click(panel, {50, 50});  // And nothing breaks.
    pump(60);
  }
  QSurfaceFormat::setDefaultFormat(usual);
}

}  // namespace
}  // namespace conelab::desktop
