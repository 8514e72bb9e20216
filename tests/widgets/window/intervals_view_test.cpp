// The view of intervals: what it says of a bar, compared with the geometry of cones.
#include <QLabel>
#include <QTemporaryDir>
#include <cmath>

#include "tests/widgets/window/trace_window.h"
#include "widgets/explorer/token_plane.h"

namespace conelab::desktop {
namespace {

struct IntervalsWindow {
  QTemporaryDir state;
  MainWindow window{desktop_backends(), state.path()};
  QWidget* canvas = window.findChild<QWidget*>("intervals-canvas");
  QLabel* readout = window.findChild<QLabel*>("intervals-readout");

  explicit IntervalsWindow(const QString& trace) {
    window.resize(1300, 850);
    show_active(window);
    window.open({trace});
    EXPECT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
    window.show_view("intervals");
    EXPECT_TRUE(wait_for([&] { return window.workspace().jobs().running().empty(); }));
  }
  /// Moves the pointer down the middle of the canvas until it is over a bar at this height or
  /// below. Returns false if there is none, as while the bars are being placed.
  bool point_at_a_bar(double part) {
    for (double y = part * canvas->height(); y < canvas->height(); y += 3) {
      send_mouse(*canvas, QEvent::MouseMove, {0.5 * canvas->width(), y}, Qt::NoButton, {});
      if (window.document().hovered()) return true;
    }
    return false;
  }
};

TEST(IntervalsView, SaysAncestorsAndWeightsOfTheBarUnderThePointer) {
  REQUIRE_DISPLAY();
  IntervalsWindow shown(CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5:/umbral/seed1");
  ASSERT_NE(shown.canvas, nullptr);
  ASSERT_TRUE(wait_for([&] { return shown.point_at_a_bar(0.15); }));
  const Focus pair = *shown.window.document().hovered();
  EXPECT_EQ(pair.query, pair.key);  // Nothing is locked.
  ASSERT_TRUE(wait_for([&] { return shown.readout->text().contains("largest weights"); }));

  const Trace& trace = *shown.window.workspace().trace();
  ASSERT_TRUE(trace.own_call);
  const Call call = call_on_head(*trace.own_call, trace, 0);
  const auto tokens = head_tokens(*shown.window.workspace().head(), call);
  const auto key = static_cast<std::size_t>(pair.key);
  const auto& keys = tokens->keys.elements;
  std::size_t ancestors = 0;
  double sum = 0, largest = 0;
  const double gamma = call.parameters.at("gamma").number().value();
  for (std::size_t j = 0; j < keys.size(); ++j) {
    if (j != key && geometry::is_ancestor(geometry::Base::plane, keys[j], keys[key])) ++ancestors;
    const double weight = std::exp(
        -gamma * geometry::lca(tokens->keys.system, tokens->queries.elements[key], keys[j]).radial);
    sum += weight, largest = std::max(largest, weight);
  }
  const std::string text = shown.readout->text().toStdString();
  EXPECT_NE(text.find(trace.key_label(0, pair.key)), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("\n{} ancestors", ancestors)), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("largest weights: {:.3g} ", largest / sum)), std::string::npos)
      << text << largest / sum;
}

TEST(IntervalsView, FollowsTheSessionAndLocksAPair) {
  REQUIRE_DISPLAY();
  IntervalsWindow shown(CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5:/umbral/seed1");
  Document& document = shown.window.document();
  ASSERT_TRUE(wait_for([&] { return shown.point_at_a_bar(0.1); }));
  const Focus pair = *document.hovered();
  document.edit("select a pair", [&](Session& s) { s.locked = Focus{3, 5}; });
  document.hover(std::nullopt);
  EXPECT_TRUE(shown.readout->text().startsWith("key 5 ")) << shown.readout->text().toStdString();
  ASSERT_TRUE(wait_for([&] { return shown.point_at_a_bar(0.1); }));
  EXPECT_EQ(document.hovered()->query, 3);
  EXPECT_EQ(document.hovered()->key, pair.key);
}

TEST(IntervalsView, SaysWhyTokensOfMoreDimensionsHaveNone) {
  REQUIRE_DISPLAY();
  IntervalsWindow shown(QString::fromStdString(shipped_trace()) + ":/german/layer3");
  EXPECT_FALSE(shown.point_at_a_bar(0));
  EXPECT_EQ(shown.readout->text(), "");
}

}  // namespace
}  // namespace conelab::desktop
