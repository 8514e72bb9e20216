// Tests what titles, tool tips and the line of values say of the maps.
#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QToolTip>

#include "tests/widgets/maps/shown_maps.h"
#include "tests/widgets/texts_painted.h"

namespace conelab::desktop {
namespace {

TEST(MapTitles, KeepTheParametersInTwoLinesAndInTheToolTip) {
  REQUIRE_DISPLAY();
  ShownMaps shown({640, 700});
  const auto texts = [&] {
    QStringList all;
    for (const PaintedText& each : texts_painted(shown.canvas())) all << each.text;
    return all;
  };
  const double usual = shown.canvas().places().panels[0].title.height;
  shown.edit([](MapChoice& m) {
    m.calls[1].parameters["gamma"] = "16";
    m.calls[1].parameters["window"] = "12";
    m.calls[1].masks = {"causal", "window"};
    m.calls[1].bias = "alibi";
  });
  const QString title = QString::fromStdString(shown.panel(1).title);
  ASSERT_EQ(title, "penumbral, gamma = 16, window = 12, alibi, causal, window");
  const Box place = shown.canvas().places().panels[1].title;
  EXPECT_GT(place.height, usual);
  const QString all = texts().join(" ");
  for (const char* part : {"penumbral,", "gamma = 16", "window = 12", "alibi", "window"}) {
    EXPECT_TRUE(all.contains(part)) << part << " in " << all.toStdString();
  }
  expect_texts_apart(texts_painted(shown.canvas()), "titles");
  const QPoint at(static_cast<int>(place.x) + 5, static_cast<int>(place.y) + 5);
  QHelpEvent help(QEvent::ToolTip, at, shown.canvas().mapToGlobal(at));
  QApplication::sendEvent(&shown.canvas(), &help);
  EXPECT_EQ(QToolTip::text(), title);
  QToolTip::hideText();
  shown.edit([](MapChoice& m) { m.calls[1] = plain_call("penumbral"); });
  EXPECT_EQ(shown.canvas().places().panels[1].title.height, usual);
}

TEST(MapReadout, SaysWhichValuesAreDrawnAsZero) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& m) { m.calls[1].parameters["gamma"] = "300"; });
  const std::vector<float> drawn = cells_of(shown.panel(1).pyramid->source());
  const auto find = [&](bool hidden) {
    for (std::int64_t i = 0; i < std::ssize(drawn); ++i) {
      const double exact = shown.panel(1).pyramid->source().exact(i / 30, i % 30);
      const bool hides = drawn[static_cast<std::size_t>(i)] == 0 && exact > 0;
      if (exact > 0 && hides == hidden) return Focus{i / 30, i % 30};
    }
    throw std::runtime_error("there is no such cell");
  };
  const auto told = [&](const Focus& cell) {
    move_to(shown.canvas(), shown.canvas().cell_centre(0, cell));
    pump(80);
    return shown.view.readout();
  };
  EXPECT_TRUE(told(find(true)).contains("(drawn as 0)"));
  const QString plain = told(find(false));
  const auto line = plain.mid(plain.indexOf("penumbral")).section("    ", 0, 0);
  EXPECT_FALSE(line.contains("(drawn as 0)")) << plain.toStdString();
}

TEST(MapsView, SaysWhatToPointAtInEachLayout) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  for (const auto& [layout, text] : {std::pair{"arcs", "Point at a token for its arcs"},
                                     {"tree", "Point at a token or a node"},
                                     {"hasse", "Point at a token for its ancestors"},
                                     {"heads", "Point at a map for its scores"},
                                     {"maps", "Point at a cell"}}) {
    shown.document.edit("layout", [name = layout](Session& s) { s.maps.layout = name; });
    pump(60);
    EXPECT_TRUE(shown.view.readout().startsWith(text)) << shown.view.readout().toStdString();
  }
  shown.document.edit("numbers", [](Session& s) { s.maps.numbers = true; });
  for (const auto& [layout, text] : {std::pair{"arcs", "Choose a row to keep its pair"},
                                     {"tree", "Choose a row to keep its pair"},
                                     {"hasse", "Choose a row to keep its pair"},
                                     {"heads", "Choose a row to open its head"},
                                     {"maps", "Point at a cell"}}) {
    shown.document.edit("layout", [name = layout](Session& s) { s.maps.layout = name; });
    pump(60);
    EXPECT_TRUE(shown.view.readout().startsWith(text)) << shown.view.readout().toStdString();
  }
}

}  // namespace
}  // namespace conelab::desktop
