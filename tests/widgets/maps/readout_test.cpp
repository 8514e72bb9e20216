// Tests what titles, tool tips and the line of values say of the maps.
#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>

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

/// Returns the five largest keys of a row, found one by one.
std::vector<std::int64_t> largest_by_hand(const MapPanel& panel, std::int64_t query) {
  const MatrixSource& source = panel.pyramid->source();
  std::vector<std::int64_t> keys;
  for (int i = 0; i < 5; ++i) {
    std::int64_t best = -1;
    for (std::int64_t key = 0; key < source.columns(); ++key) {
      if (std::ranges::find(keys, key) != keys.end()) continue;
      if (best < 0 || source.exact(query, key) > source.exact(query, best)) best = key;
    }
    keys.push_back(best);
  }
  return keys;
}

TEST(LargestKeys, AreToldListedAndGoneTo) {
  REQUIRE_DISPLAY();
  ShownMaps shown({1000, 900});
  const Focus pair{26, 20};
  lock_pair(shown.document, pair);
  pump(80);
  const auto wanted = largest_by_hand(shown.panel(0), pair.query);
  const auto found = MapsModel::largest_keys(shown.panel(0), pair.query, 5);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(found[i].first, wanted[i]) << i;
  EXPECT_TRUE(shown.view.readout().contains("the row's largest 0.2"))
      << shown.view.readout().toStdString();
  // The menu lists them under each operator, and keeps the one that is chosen.
  QMenu& menu = *shown.named<QToolButton>("maps-largest").menu();
  emit menu.aboutToShow();
  EXPECT_EQ(menu.actions().size(), 3 * 6);
  menu.actions()[2]->trigger();
  EXPECT_EQ(shown.document.session().locked, (Focus{pair.query, wanted[1]}));
  shown.view.keep_largest();
  EXPECT_EQ(shown.document.session().locked, (Focus{pair.query, wanted[0]}));
  pump(80);
  EXPECT_TRUE(shown.view.readout().contains(", the row's largest"))
      << shown.view.readout().toStdString();
  // So does the list in the empty place beside three maps.
  const Box rest = shown.canvas().places().rest;
  ASSERT_GT(rest.height, 100);
  QPointF second;
  for (const PaintedText& each : texts_painted(shown.canvas())) {
    const bool listed = each.box.left() >= rest.x && each.box.top() >= rest.y;
    if (listed && each.text.contains(
                      QString::fromStdString(shown.panel(0).tokens->key.brief_of(wanted[1])))) {
      second = each.box.center();
    }
  }
  ASSERT_FALSE(second.isNull());
  click(shown.canvas(), second);
  EXPECT_EQ(shown.document.session().locked, (Focus{pair.query, wanted[1]}));
}

TEST(LargestKeys, LeaveOutExcludedTokens) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  EXPECT_EQ(MapsModel::largest_keys(shown.panel(0), 26, 1).front().first, 0) << "[CLS]";
  shown.edit([](MapChoice& m) { m.special_tokens = "excluded"; });
  EXPECT_NE(MapsModel::largest_keys(shown.panel(0), 26, 1).front().first, 0);
}

TEST(Profiles, AClickKeepsThatCellOfTheRow) {
  REQUIRE_DISPLAY();
  ShownMaps shown({1000, 900});
  shown.edit([](MapChoice& m) { m.profiles = true; });
  lock_pair(shown.document, Focus{26, 20});
  pump(80);
  const PanelPlace& place = shown.canvas().places().panels[0];
  const double x = shown.canvas().cell_centre(0, {26, 7}).x();
  click(shown.canvas(), {x, place.column_margin.y + 20});
  EXPECT_EQ(shown.document.session().locked, (Focus{26, 7}));
  const double y = shown.canvas().cell_centre(0, {4, 7}).y();
  click(shown.canvas(), {place.row_margin.x + 10, y});
  EXPECT_EQ(shown.document.session().locked, (Focus{4, 7}));
}

TEST(MapTable, OpensAtTheKeptPair) {
  REQUIRE_DISPLAY();
  ShownMaps shown({500, 300});
  lock_pair(shown.document, Focus{26, 20});
  shown.document.edit("table", [](Session& s) { s.maps.layout = "table"; });
  pump(80);
  const QTableView* table = nullptr;
  for (const auto* each : shown.view.findChildren<QTableView*>()) {
    if (each->isVisible()) table = each;
  }
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->currentIndex().row(), 26);
  EXPECT_EQ(table->currentIndex().column(), 20);
  EXPECT_TRUE(table->viewport()->rect().contains(table->visualRect(table->currentIndex())));
  EXPECT_EQ(shown.document.session().locked, (Focus{26, 20}));
}

TEST(TokenSearch, ComesNearEnoughToReadTheToken) {
  REQUIRE_DISPLAY();
  ShownMaps shown({500, 420});
  auto& field = shown.named<QLineEdit>("maps-search");
  shown.view.find_token();
  field.setText("du");
  press_key(field, Qt::Key_Return);
  pump(80);
  EXPECT_GE(shown.view.model().camera.scale, 9);
  press_key(field, Qt::Key_Down);
  EXPECT_FALSE(field.hasFocus());
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
