// The colours of the maps: limits by hand, by percentiles, of their own; the sharpness with the
// entropy of dot; signs; themes; and what is told beside the colours: profiles, regions, the menu.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>
#include <cmath>
#include <numeric>

#include "tests/widgets/maps/shown_maps.h"
#include "tests/widgets/texts_painted.h"
#include "widgets/maps/entropy_matcher.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/map_menu.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// The mean entropy of the rows of a map, from its cells alone.
double entropy_of_cells(const std::vector<float>& cells, std::size_t columns) {
  double sum = 0;
  for (const float w : cells) {
    if (w > 0) sum -= static_cast<double>(w) * std::log(static_cast<double>(w));
  }
  return sum / (static_cast<double>(cells.size()) / static_cast<double>(columns));
}

QPointF handle_place(const MapsCanvas::Bar& bar, bool high) {
  const double value = high ? bar.scale.limits.high : bar.scale.limits.low;
  return {place_of(bar.place, bar.scale, value), bar.place.bar.y + 4};
}

void drag_with_shift(QWidget& widget, QPointF from, QPointF to) {
  const auto send = [&](QEvent::Type type, QPointF at, Qt::MouseButton button,
                        Qt::MouseButtons held) {
    QMouseEvent event(type, at, widget.mapToGlobal(at), button, held, Qt::ShiftModifier);
    QApplication::sendEvent(&widget, &event);
  };
  send(QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
  for (int i = 1; i <= 5; ++i) {
    send(QEvent::MouseMove, from + (to - from) * i / 5, Qt::NoButton, Qt::LeftButton);
  }
  send(QEvent::MouseButtonRelease, to, Qt::LeftButton, Qt::NoButton);
  pump(30);
}

TEST(MapNotice, OffersOwnLimitsAndTheEntropyOfDot) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  auto& notice = shown.named<QWidget>("maps-notice");
  auto& match = shown.named<QPushButton>("maps-match-entropy");
  ASSERT_TRUE(notice.isVisible());
  EXPECT_TRUE(shown.named<QLabel>("maps-notice-text").text().contains("penumbral uses 8.8 %"))
      << shown.named<QLabel>("maps-notice-text").text().toStdString();
  shown.named<QPushButton>("maps-own-limits").click();
  EXPECT_FALSE(shown.maps().shared_limits);
  pump(30);
  EXPECT_FALSE(notice.isVisible());
  shown.document.undo();
  pump(30);
  ASSERT_TRUE(match.isVisible());
  const QRect place = notice.geometry();
  match.click();
  ASSERT_TRUE(wait_for([&] { return shown.maps().calls[1].parameters.contains("gamma"); }));
  shown.settle();
  EXPECT_FALSE(match.isVisible());
  EXPECT_EQ(notice.geometry(), place);
  EXPECT_EQ(shown.named<QLabel>("maps-notice-text").text().indexOf("Every map uses at least"), 0);
  EXPECT_GT(*shown.maps().calls[1].parameters.at("gamma").number(), 2);
  const std::vector<float> dot = cells_of(shown.panel(0).pyramid->source()),
                           cones = cells_of(shown.panel(1).pyramid->source());
  EXPECT_NEAR(entropy_of_cells(cones, 30), entropy_of_cells(dot, 30), 1e-4);
  shown.document.undo();  // One step.
  EXPECT_FALSE(shown.maps().calls[1].parameters.contains("gamma"));
}

TEST(MapLimits, AreDraggedOnTheBarAndResetByADoubleClick) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  MapsCanvas& canvas = shown.canvas();
  ASSERT_EQ(canvas.bars().size(), 1U);
  const MapsCanvas::Bar bar = canvas.bars()[0];
  EXPECT_FALSE(bar.scale.histogram.empty());
  const figure::Limits before = shown.view.model().limits(shown.panel(0));
  const QPointF from = handle_place(bar, true);
  const QPointF to(bar.place.bar.x + bar.place.bar.width / 4, from.y());
  drag(canvas, from, to);
  ASSERT_EQ(shown.maps().limits.count("weights"), 1U);
  const double high = shown.maps().limits.at("weights")[1];
  EXPECT_NEAR(high, before.high / 4, before.high / 100);
  EXPECT_EQ(shown.view.model().limits(shown.panel(2)).high, high);  // Shared by all maps.
  // So has the figure of the maps.
  const auto figure = map_figure(shown.document.session(), *shown.workspace.trace());
  EXPECT_EQ(figure->parameters.at("high"), fmt::format("{:.6g}", high));
  EXPECT_EQ(figure->parameters.count("colours"), 0U);
  EXPECT_EQ(shown.view.model().range(shown.panel(0)), before);  // The bar shows all values.
  // A cell has the colour of its place between the new limits.
  const Focus cell{12, 12};
  const double value = shown.panel(0).pyramid->source().exact(cell.query, cell.key);
  const figure::Colour expected =
      figure::colour_at(figure::ColourMap::sequential, std::min(1.0, value / high));
  move_to(canvas, {2, 2});
  const QColor found = shown.colour_at(canvas.cell_centre(0, cell) + QPointF(2, 2));
  EXPECT_NEAR(found.red(), expected.r, 3);
  EXPECT_NEAR(found.blue(), expected.b, 3);
  shown.document.undo();  // The drag is one step.
  EXPECT_TRUE(shown.maps().limits.empty());
  shown.document.redo();
  const QPointF middle(bar.place.bar.x + bar.place.bar.width / 2, from.y());
  send_mouse(canvas, QEvent::MouseButtonDblClick, middle, Qt::LeftButton, Qt::LeftButton);
  EXPECT_TRUE(shown.maps().limits.empty());
  EXPECT_EQ(shown.view.model().limits(shown.panel(0)), before);
}

TEST(MapLimits, OfOwnBarsAreOfOneMap) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& m) { m.shared_limits = false; });
  const auto bars = shown.canvas().bars();
  ASSERT_EQ(bars.size(), 3U);
  const figure::Limits dot = shown.view.model().limits(shown.panel(0));
  const QPointF from = handle_place(bars[1], false);
  drag(shown.canvas(), from, from + QPointF(bars[1].place.bar.width / 2, 0));
  EXPECT_EQ(shown.maps().limits.count("weights of penumbral"), 1U);
  EXPECT_GT(shown.view.model().limits(shown.panel(1)).low, 0);
  EXPECT_EQ(shown.view.model().limits(shown.panel(0)), dot);
}

TEST(MapLimits, OfPercentilesAreThoseOfTheCells) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& m) {
    m.shared_limits = false;
    m.percentiles = "5-95 %";
  });
  std::vector<float> cells = cells_of(shown.panel(1).pyramid->source());
  std::sort(cells.begin(), cells.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(cells.size() - 1);
    const auto i = static_cast<std::size_t>(place);
    const double part = place - std::floor(place);
    return (1 - part) * static_cast<double>(cells[i]) + part * static_cast<double>(cells[i + 1]);
  };
  const figure::Limits limits = shown.view.model().limits(shown.panel(1));
  EXPECT_NEAR(limits.low, at(0.05), 1e-9);
  EXPECT_NEAR(limits.high, at(0.95), 1e-9);
}

TEST(MapLimits, AHistogramCountsEveryCell) {
  MapSummary summary(1, 8, true);
  summary.sorted_sample = {0, 0.1F, 0.1F, 0.1F, 0.45F, 0.9F, 1};
  const std::vector<double> heights = histogram_of({&summary}, ColourChoice(), {0, 1}, 2);
  ASSERT_EQ(heights.size(), 2U);
  EXPECT_NEAR(heights[0], 1, 1e-12);  // Five values, then two.
  EXPECT_NEAR(heights[1], std::log(3) / std::log(6), 1e-12);
}

TEST(MapColours, WeightsWithSignsDivergeAboutZero) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& m) {
    m.calls = {plain_call("dot"), call_from_text("volume-preserving:A=random:weighting=skew")};
  });
  const MapPanel& panel = shown.panel(1);
  ASSERT_EQ(panel.error, "");
  ASSERT_TRUE(panel.summary.is_signed());
  EXPECT_FALSE(shown.panel(0).summary.is_signed());
  const MapsModel& model = shown.view.model();
  EXPECT_TRUE(model.colour_choice(panel).diverging);
  const figure::Limits limits = model.limits(panel);
  EXPECT_EQ(limits.low, -limits.high);
  EXPECT_GE(limits.high, std::abs(panel.summary.limits.low));
  EXPECT_EQ(model.limits(shown.panel(0)).low, 0);  // Dot keeps its own colours.
  EXPECT_EQ(shown.canvas().bars().size(), 2U);
  const std::vector<float> cells = cells_of(panel.pyramid->source());
  const auto least =
      static_cast<std::int64_t>(std::min_element(cells.begin(), cells.end()) - cells.begin());
  const QColor found =
      shown.colour_at(shown.canvas().cell_centre(1, {least / 30, least % 30}) + QPointF(1, 1));
  EXPECT_GT(found.blue(), found.red() + 40);
}

TEST(MapColours, FollowTheThemeAndFiguresStayWhite) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  const auto lightness = [&] {
    shown.edit([](MapChoice& m) { m.shared_limits = true; });
    const std::vector<float> cells = cells_of(shown.panel(0).pyramid->source());
    const auto least =
        static_cast<std::int64_t>(std::min_element(cells.begin(), cells.end()) - cells.begin());
    return shown.colour_at(shown.canvas().cell_centre(0, {least / 30, least % 30}) + QPointF(1, 1))
        .lightnessF();
  };
  EXPECT_GT(lightness(), 0.8);
  apply_theme(*qApp, "dark");
  pump(60);
  EXPECT_LT(lightness(), 0.25);
  EXPECT_EQ(shown.view.model().colour_choice(false).map, figure::ColourMap::dark);
  EXPECT_EQ(drawn_map(shown.view.model().colour_choice(true)), figure::ColourMap::dark_diverging);
  shown.edit([](MapChoice& m) { m.colours = "sequential"; });
  EXPECT_GT(lightness(), 0.8);
  apply_theme(*qApp, "light");
  pump(60);
}

TEST(MapColours, TheirNamesAreReadInANarrowWindowToo) {
  REQUIRE_DISPLAY();
  ShownMaps shown({420, 700});
  auto& list = shown.named<QComboBox>("maps-colours");
  list.showPopup();
  ASSERT_TRUE(wait_for([&] { return list.view()->isVisible(); }));
  QAbstractItemView& view = *list.view();
  for (int i = 0; i < list.count(); ++i) {
    const QRect entry = view.visualRect(view.model()->index(i, 0));
    const int text = view.fontMetrics().horizontalAdvance(list.itemText(i));
    const int icon = list.itemIcon(i).isNull() ? 0 : list.iconSize().width();
    EXPECT_GE(view.viewport()->width(), entry.left() + icon + text)
        << list.itemText(i).toStdString();
  }
  list.hidePopup();
}

TEST(MapRegions, TellTheirMass) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  MapsCanvas& canvas = shown.canvas();
  drag_with_shift(canvas, canvas.cell_centre(0, {9, 12}), canvas.cell_centre(0, {4, 6}));
  ASSERT_TRUE(shown.maps().region);
  EXPECT_EQ(*shown.maps().region, (MapRegion{4, 10, 6, 13}));
  const std::vector<float> cells = cells_of(shown.panel(1).pyramid->source());
  double mass = 0;
  for (std::size_t r = 4; r < 10; ++r) {
    for (std::size_t c = 6; c < 13; ++c) mass += static_cast<double>(cells[r * 30 + c]);
  }
  const QString expected = QString::fromStdString(
      fmt::format("penumbral: Σ {:.6g}, {:.4g} % of its rows", mass, 100 * mass / 6));
  EXPECT_TRUE(wait_for([&] { return shown.view.readout().contains(expected); }))
      << shown.view.readout().toStdString() << " without " << expected.toStdString();
  // The cell under the pointer takes its place in the readout; the mass stays in the maps.
  const auto written = [&](const QString& text) {
    const auto texts = texts_painted(canvas);
    return std::count_if(texts.begin(), texts.end(),
                         [&](const PaintedText& each) { return each.text.contains(text); });
  };
  const QString mass_only =
      QString::fromStdString(fmt::format("{:.4g}, {:.3g} %", mass, 100 * mass / 6));
  EXPECT_EQ(written(mass_only), 1);
  move_to(canvas, canvas.cell_centre(0, {1, 1}));
  EXPECT_TRUE(wait_for([&] { return shown.view.readout().startsWith("query 1"); }));
  EXPECT_EQ(written(mass_only), 1);
  EXPECT_TRUE(shown.view.deselect());
  EXPECT_FALSE(shown.maps().region);
  EXPECT_FALSE(shown.view.readout().contains("region"));
  EXPECT_EQ(written(mass_only), 0);
}

TEST(MapRegions, MoveNothing) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  MapsCanvas& canvas = shown.canvas();
  for (const int width : {480, 560, 640, 720, 800, 880, 960, 1040, 1120}) {
    shown.document.edit("none", [](Session& s) { s.maps.region.reset(); });
    shown.document.hover(std::nullopt);
    shown.view.resize(width, 760);
    pump(100);
    const Box before = canvas.places().panels[2].cells;
    const auto is_same = [&] {
      pump(60);
      const Box now = canvas.places().panels[2].cells;
      return now.x == before.x && now.y == before.y && now.width == before.width &&
             now.height == before.height;
    };
    drag_with_shift(canvas, canvas.cell_centre(0, {4, 6}), canvas.cell_centre(0, {9, 12}));
    EXPECT_TRUE(wait_for([&] { return shown.view.readout().contains("% of its rows"); }));
    EXPECT_TRUE(is_same()) << width;
    move_to(canvas, canvas.cell_centre(0, {5, 7}));
    EXPECT_TRUE(is_same()) << width;
  }
}

TEST(MapLimits, OfAHandStayWithTheirFile) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  const auto drag_limit = [&] {
    const MapsCanvas::Bar bar = shown.canvas().bars().front();
    drag(shown.canvas(), handle_place(bar, true), handle_place(bar, true) - QPointF(40, 0));
    shown.settle();
  };
  const figure::Limits automatic = shown.view.model().limits(shown.panel(0));
  drag_limit();
  ASSERT_EQ(shown.maps().limits.size(), 1U);
  const auto open = [&](const QString& file, const QString& group) {
    shown.workspace.open(file, group);
    ASSERT_TRUE(wait_for([&] {
      return shown.document.session().trace.group == group.toStdString() &&
             shown.document.session().trace.file == file.toStdString();
    }));
    shown.settle();
  };
  open(QString::fromStdString(shipped_trace()), "/german/layer2");
  EXPECT_EQ(shown.maps().limits.size(), 1U) << "another layer of the same file";
  const QTemporaryDir folder;
  const QString copy = folder.filePath("other.h5");
  ASSERT_TRUE(QFile::copy(QString::fromStdString(shipped_trace()), copy));
  open(copy, "/german/layer3");
  EXPECT_TRUE(shown.maps().limits.empty());
  EXPECT_EQ(shown.view.model().limits(shown.panel(0)).high, automatic.high);
  shown.document.undo();
  EXPECT_EQ(shown.maps().limits.size(), 1U);
}

TEST(MapProfiles, AreDrawnBesideTheMaps) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.document.edit("lock", [](Session& s) { s.locked = Focus{7, 9}; });
  const auto marked = [&](const Box& box) {
    const QImage image = shown.canvas().grab().toImage();
    int count = 0;
    for (int y = static_cast<int>(box.y); y < static_cast<int>(box.bottom()); ++y) {
      for (int x = static_cast<int>(box.x); x < static_cast<int>(box.right()); ++x) {
        const QColor c = image.pixelColor(x, y);
        count += c.red() > c.blue() + 60 ? 1 : 0;
      }
    }
    return count;
  };
  pump(30);
  EXPECT_EQ(marked(shown.canvas().places().panels[0].column_margin), 0);
  shown.named<QToolButton>("maps-profiles").click();
  shown.settle();
  EXPECT_TRUE(shown.maps().profiles);
  const PanelPlace& place = shown.canvas().places().panels[0];
  EXPECT_GT(place.column_margin.height, 50);
  EXPECT_GT(marked(place.column_margin), 100);
  EXPECT_GT(marked(place.row_margin), 100);
}

TEST(MapMenu, CopiesValuesCommandsAndPictures) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  const Focus cell{3, 8};
  const auto trigger = [&](const QString& text) {
    const QPoint at = shown.canvas().cell_centre(1, cell).toPoint();
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, shown.canvas().mapToGlobal(at));
    QApplication::sendEvent(&shown.canvas(), &event);
    auto* menu = shown.view.findChild<MapMenu*>("maps-menu");
    ASSERT_NE(menu, nullptr);
    for (QAction* action : menu->actions()) {
      if (action->text() == text) action->trigger();
    }
    menu->close();
    QCoreApplication::sendPostedEvents(menu, QEvent::DeferredDelete);
    pump(30);
  };
  const double exact = shown.panel(1).pyramid->source().exact(cell.query, cell.key);
  QClipboard& clipboard = *QGuiApplication::clipboard();
  trigger("Copy the value");
  EXPECT_EQ(clipboard.text().toStdString(), fmt::format("{:.12g}", exact));
  trigger("Copy the row");
  const QStringList row = clipboard.text().split('\t');
  ASSERT_EQ(row.size(), 30);
  EXPECT_EQ(row[8].toStdString(), fmt::format("{:.12g}", exact));
  double sum = 0;
  for (const QString& value : row) sum += value.toDouble();
  EXPECT_NEAR(sum, 1, 1e-9);
  QString note;
  std::vector<Call> calls;
  QObject::connect(
      &shown.view, &MapsView::cell_commands_wanted,
      [&](const std::vector<Call>& wanted, const QString& text) { calls = wanted, note = text; });
  trigger("Copy the cell as a command");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].similarity, "penumbral");
  EXPECT_EQ(note, "/attention/weights/weight[0, 5, 3, 8]");
  trigger("Copy the picture");
  EXPECT_EQ(clipboard.pixmap().size(), shown.canvas().size() * shown.canvas().devicePixelRatioF());
  trigger("Set as reference");
  EXPECT_EQ(shown.maps().reference, 1);
  trigger("Show no differences");
  EXPECT_EQ(shown.maps().reference, -1);
  trigger("Match entropy of dot");
  EXPECT_TRUE(wait_for([&] { return shown.maps().calls[1].parameters.contains("gamma"); }));
}

TEST(MapLayout, MapsCanBeReadInSmallViewsAndUseEmptyPlaces) {
  REQUIRE_DISPLAY();
  for (const QSize size : {QSize(700, 560), QSize(480, 500), QSize(1000, 700), QSize(1400, 800)}) {
    ShownMaps shown(size);
    const MapLayout& layout = shown.canvas().places();
    const Box& cells = layout.panels[0].cells;
    EXPECT_GE(std::round(cells.height), nearly * 200) << size.width() << " x " << size.height();
    EXPECT_LE(layout.panels[2].cells.bottom(), shown.canvas().height());
    EXPECT_EQ(layout.panels[0].cells.y, layout.panels[1].cells.y) << "side by side";
    EXPECT_GE(layout.shared_bar.y, 0);
    for (const PanelPlace& panel : layout.panels) {
      const bool apart =
          layout.shared_bar.y >= panel.cells.bottom() || layout.shared_bar.x >= panel.cells.right();
      EXPECT_TRUE(apart);
    }
  }
  // Three panels in two rows: the bar is where the fourth would be, and costs no height.
  LabelSpace space;
  const MapLayout layout = arrange_panels(760, 700, 3, 1, space);
  ASSERT_GT(layout.panels[2].cells.y, layout.panels[0].cells.bottom());
  EXPECT_GT(layout.shared_bar.x, layout.panels[2].cells.right());
  EXPECT_LT(layout.shared_bar.y, layout.panels[2].cells.bottom());
  EXPECT_EQ(layout.panels[1].row_labels.width, 0);
  EXPECT_EQ(layout.panels[2].column_labels.height, 0);
}

Call failing_call() {
  Call call = plain_call("umbral");
  call.masks = {"causal", "window"};  // The window is missing.
  return call;
}

TEST(MapLayout, MapsKeepTheirLabelsAndBarWhereTheFirstFails) {
  REQUIRE_DISPLAY();
  for (const char* quantity : {"weights", "logits"}) {
    ShownMaps shown({600, 760});
    shown.edit([&](MapChoice& maps) {
      maps.calls = {failing_call(), plain_call("dot"), plain_call("penumbral")};
      maps.quantity = quantity;
    });
    ASSERT_NE(shown.panel(0).error, "");
    const auto bars = shown.canvas().bars();
    ASSERT_EQ(bars.size(), 1U) << quantity;
    EXPECT_EQ(bars[0].panel, 1U);
    const auto& places = shown.canvas().places().panels;
    ASSERT_EQ(places[0].cells.x, places[2].cells.x) << "two columns";
    const auto texts = texts_painted(shown.canvas());
    const auto written_in = [&](const Box& box) {
      return std::count_if(texts.begin(), texts.end(), [&](const PaintedText& each) {
        const QPointF at = each.box.center();
        return box.contains({at.x(), at.y()});
      });
    };
    for (const std::size_t row : {0U, 2U}) EXPECT_GT(written_in(places[row].row_labels), 4) << row;
    for (const std::size_t column : {0U, 1U}) {
      EXPECT_GT(written_in(places[column].column_labels), 4) << column;
    }
    drag(shown.canvas(), handle_place(bars[0], true), handle_place(bars[0], true) - QPointF(40, 0));
    EXPECT_EQ(shown.maps().limits.size(), 1U) << "the bar has handles";
  }
}

TEST(MapNotice, CountsNoMapThatFailed) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& maps) { maps.calls = {failing_call(), plain_call("dot")}; });
  EXPECT_FALSE(shown.named<QWidget>("maps-notice").isVisible()) << "one map shares with none";
  shown.edit([](MapChoice& maps) { maps.calls.push_back(plain_call("umbral")); });
  EXPECT_TRUE(shown.named<QWidget>("maps-notice").isVisible());
}

TEST(MapNotice, HasTheWholeLineWhereItOffersNothing) {
  REQUIRE_DISPLAY();
  ShownMaps shown({480, 600});
  auto& notice = shown.named<QWidget>("maps-notice");
  auto& text = shown.named<QLabel>("maps-notice-text");
  const int offering = notice.height();
  EXPECT_LT(text.width(), notice.width() / 2);
  shown.edit([](MapChoice& maps) { maps.calls = {plain_call("dot"), plain_call("umbral")}; });
  ASSERT_TRUE(wait_for([&] { return text.text().startsWith("Every map uses at least"); }));
  EXPECT_GT(text.width(), text.fontMetrics().horizontalAdvance(text.text()));
  EXPECT_EQ(notice.height(), offering) << "maps keep their size from head to head";
}

TEST(MapNotice, CutsALongTitleWhereTheSentenceHasNoSpace) {
  REQUIRE_DISPLAY();
  ShownMaps shown({480, 500});
  shown.edit([](MapChoice& maps) {
    Call call = plain_call("penumbral");
    call.parameters = {{"gamma", "1.0625"}, {"height", "1.0009765625"}};
    maps.calls = {plain_call("dot"), call};
  });
  auto& text = shown.named<QLabel>("maps-notice-text");
  const auto height = [&] {
    return text.fontMetrics()
        .boundingRect({0, 0, text.width(), 0}, Qt::TextWordWrap, text.text())
        .height();
  };
  ASSERT_TRUE(wait_for([&] { return text.text().contains("of the shared colours"); }));
  EXPECT_TRUE(text.text().contains("penumbral") && text.text().contains("…"));
  EXPECT_LE(height(), text.height());
  shown.view.resize(1400, 700);
  ASSERT_TRUE(wait_for([&] { return text.text().contains("height = 1.001"); }));
  EXPECT_LE(height(), text.height());
}

TEST(MapNotice, WritesAHundredPercentInFull) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& maps) { maps.calls = {plain_call("dot"), plain_call("dot")}; });
  auto& text = shown.named<QLabel>("maps-notice-text");
  EXPECT_TRUE(wait_for([&] { return text.text() == "Every map uses all of the shared colours."; }))
      << text.text().toStdString();
}

TEST(MapLimits, PercentilesReplaceThoseThatWereSetByHand) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  const MapsCanvas::Bar bar = shown.canvas().bars()[0];
  const QPointF from = handle_place(bar, true);
  drag(shown.canvas(), from, {bar.place.bar.x + bar.place.bar.width / 4, from.y()});
  ASSERT_EQ(shown.maps().limits.size(), 1U);
  const figure::Limits by_hand = shown.view.model().limits(shown.panel(0));
  auto* box = shown.view.findChild<QComboBox*>("maps-percentiles");
  EXPECT_EQ(box->currentIndex(), -1);
  EXPECT_EQ(box->placeholderText(), "by hand");
  box->setFocus();
  press_key(*box, Qt::Key_End);
  EXPECT_EQ(shown.maps().percentiles, "5-95 %");
  EXPECT_EQ(box->currentText(), "5-95 %");
  EXPECT_TRUE(shown.maps().limits.empty());
  EXPECT_NE(shown.view.model().limits(shown.panel(0)), by_hand);
  shown.document.undo();  // One step.
  EXPECT_EQ(shown.maps().percentiles, "all values");
  EXPECT_EQ(shown.view.model().limits(shown.panel(0)), by_hand);
}

/// A map whose largest values lie beyond the percentiles is not flat: it has the colours of both
/// ends.
TEST(MapLimits, ValuesBeyondThePercentilesUseTheColoursToo) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.edit([](MapChoice& m) { m.percentiles = "5-95 %"; });
  for (const auto& panel : shown.view.model().panels()) {
    const figure::Limits all = shown.view.model().limits(*panel);
    const std::vector<float> cells = cells_of(panel->pyramid->source());
    const auto [least, most] = std::minmax_element(cells.begin(), cells.end());
    const auto scale = figure::HeatScale::linear;
    const double used = figure::place_on_map(static_cast<double>(*most), all, scale) -
                        figure::place_on_map(static_cast<double>(*least), all, scale);
    EXPECT_NEAR(shown.view.model().used_colours(*panel), used, 1e-6) << panel->title;
  }
}

TEST(MapTitles, NameTheTensorsThatAreDrawnAtRandom) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  EXPECT_EQ(shown.panel(0).title, "dot");
  shown.edit([](MapChoice& m) { m.calls[0] = plain_call("multiplicative"); });
  EXPECT_EQ(shown.panel(0).title, "multiplicative, random W");
  shown.edit([](MapChoice& m) { m.calls[0].parameters["W"] = "random"; });
  EXPECT_EQ(shown.panel(0).title, call_title(shown.maps().calls[0])) << "it says so itself";
}

}  // namespace
}  // namespace conelab::desktop
