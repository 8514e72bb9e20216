// The layouts of the attention maps view besides the maps: all heads, arcs, trees, orders.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QMenu>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"
#include "tests/widgets/maps/opened_layout.h"
#include "tests/widgets/maps/relation_places.h"
#include "tests/widgets/maps/whole_maps.h"
#include "tests/widgets/texts_painted.h"
#include "tests/widgets/unplaced_tokens.h"

namespace conelab::desktop {
namespace {

// Tokens, titles, numbers of scales: at every size, with one operator and with many.
TEST(Labels, NeverLieOverEachOtherInMapsAndHeads) {
  for (const char* layout : {"maps", "heads"}) {
    OpenedTrace opened(layout);
    MapsView view(opened.workspace);
    for (const std::size_t operators : {1U, 3U, 6U}) {
      for (const bool shared : {true, false}) {
        opened.document.edit("operators", [&](Session& s) {
          s.maps.calls.assign(operators, plain_call("dot"));
          for (std::size_t i = 1; i < operators; ++i) {
            s.maps.calls[i].parameters["scale"] = std::to_string(i);
          }
          s.maps.calls.back().masks = {"causal"};
          s.maps.shared_limits = shared;
          s.locked = Focus{3, 8};
        });
        ASSERT_TRUE(wait_for([&] {
          return are_whole(view.model(), operators) && (*layout == 'm' || view.heads().complete());
        }));
        pump(60);
        QWidget& canvas = *layout == 'm' ? static_cast<QWidget&>(view.canvas())
                                         : static_cast<QWidget&>(view.heads_canvas());
        std::size_t most = 0;
        for (const QSize size : {QSize(320, 240), QSize(440, 460), QSize(606, 500), QSize(720, 650),
                                 QSize(900, 620), QSize(1400, 820)}) {
          canvas.setFixedSize(size);  // Layouts that are still to come leave it alone.
          const auto texts = texts_painted(canvas);
          ASSERT_EQ(canvas.size(), size);
          most = std::max(most, texts.size());
          expect_texts_apart(texts, fmt::format("{} of {} at {} x {}", layout, operators,
                                                size.width(), size.height()));
        }
        EXPECT_GT(most, *layout == 'm' ? 60U : 12U) << layout;
      }
    }
  }
}

TEST(Maps, APanelSaysThatAnotherLeavesItNoColours) {
  OpenedTrace opened("maps");
  MapsView view(opened.workspace);
  const auto& panels = view.model().panels();
  ASSERT_TRUE(wait_for([&] { return are_whole(view.model(), 3); }));
  view.resize(1400, 900);
  const auto hints = [&] {
    const auto texts = texts_painted(view.canvas());
    return std::count_if(texts.begin(), texts.end(), [](const PaintedText& painted) {
      return painted.text == "flat under shared limits";
    });
  };
  // Weights of penumbral stay below a tenth of those of dot and umbral.
  EXPECT_FALSE(view.model().flat(*panels[0]));
  EXPECT_TRUE(view.model().flat(*panels[1]));
  EXPECT_FALSE(view.model().flat(*panels[2]));
  EXPECT_EQ(hints(), 1);
  opened.document.edit("own", [](Session& s) { s.maps.shared_limits = false; });
  EXPECT_FALSE(view.model().flat(*panels[1]));
  EXPECT_EQ(hints(), 0);
}

TEST(Labels, ThoseOfArcsTreesAndOrdersKeepApart) {
  OpenedTrace opened("tree");
  RelationsModel model(opened.workspace);
  ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
  const auto apart = [](const figure::DisplayList& list, const std::string& where) {
    std::vector<figure::TextItem> all;
    for (const figure::Item& item : list.items) {
      if (const auto* text = std::get_if<figure::TextItem>(&item)) all.push_back(*text);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_FALSE(figure::overlap(figure::text_quad(all[i]), figure::text_quad(all[k])))
            << where << ": " << figure::plain(all[i].runs) << " over "
            << figure::plain(all[k].runs);
      }
    }
  };
  for (const double width : {240.0, 300.0, 480.0, 900.0}) {
    for (std::size_t i = 0; i < model.panels().size(); ++i) {
      const std::string where = fmt::format("tree {} of {} pt", i, width);
      figure::TreeFigure figure = model.tree_figure(i, width);
      apart(figure::place_tree(figure).list, where);
      if (figure.tree->order) apart(figure::place_hasse(figure).list, "order, " + where);
    }
  }
  for (const char* arrangement : {"sides", "above", "rows"}) {
    opened.document.edit("arcs", [&](Session& s) {
      s.maps.layout = "arcs";
      s.maps.arc_arrangement = arrangement;
    });
    ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
    for (const double width : {240.0, 300.0, 480.0, 900.0}) {
      apart(figure::place_arcs(model.arcs_figure(width)).list,
            fmt::format("arcs {} of {} pt", arrangement, width));
    }
  }
}

TEST(Heads, AHeadWithoutValuesSaysSoAndTheLegendNamesItsColour) {
  OpenedTrace opened("heads");
  opened.document.edit("mask", [](Session& s) {
    s.maps.calls = {plain_call("dot")};
    s.maps.calls[0].masks = {"causal"};
  });
  MapsView view(opened.workspace);
  ASSERT_TRUE(wait_for([&] { return view.heads().complete(); }));
  pump(60);
  EXPECT_TRUE(view.heads().specials().masked);
  view.heads_canvas().resize(700, 600);
  const auto texts = texts_painted(view.heads_canvas());
  const auto written = [&](const QString& text) {
    return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t.text == text; });
  };
  EXPECT_TRUE(written("masked"));
  EXPECT_TRUE(written("weights"));
}

TEST(Readout, ValuesStayOnTheLineOfTheirNames) {
  const QString text =
      with_values_bound("query 3 “a b”, dot: masked    umbral: -0.017    K(u, ·) = 2");
  EXPECT_EQ(QString(text).replace(QChar::Nbsp, '_'),
            "query_3 “a b”, dot:_masked    umbral:_-0.017    K(u, ·)_=_2");
  EXPECT_EQ(with_values_bound("umbral − dot: -0.02").replace(QChar::Nbsp, '_'),
            "umbral_−_dot:_-0.02");
}

TEST(HeadGrid, MapsNeitherOverlapNorLeaveTheCanvas) {
  for (const std::size_t heads : {1U, 2U, 5U, 12U, 16U, 40U}) {
    for (const std::size_t rows : {1U, 2U, 3U, 6U, 24U}) {
      const HeadGrid grid =
          arrange_heads(900, 640, std::vector<std::size_t>(rows, heads), 1, HeadSpace());
      ASSERT_EQ(grid.maps.size(), heads * rows);
      ASSERT_EQ(grid.titles.size(), rows);
      EXPECT_GE(grid.height, 18);
      for (std::size_t i = 0; i < grid.maps.size(); ++i) {
        const HeadPlace& p = grid.maps[i];
        EXPECT_EQ(p.row * heads + p.head, i);
        EXPECT_LE(p.cells.right(), 900);
        if (grid.height > 18) {
          EXPECT_LE(p.cells.bottom(), 640);
        }
        EXPECT_GE(p.label.y, grid.titles[p.row].y);
        EXPECT_EQ(grid.at({p.cells.x + 3, p.cells.y + 3}), i);
        for (std::size_t k = 0; k < i; ++k) {
          const figure::Box& q = grid.maps[k].cells;
          EXPECT_TRUE(p.label.y >= q.bottom() || p.cells.x >= q.right()) << i << " " << k;
        }
      }
    }
  }
  EXPECT_TRUE(arrange_heads(900, 640, {}, 1, HeadSpace()).maps.empty());
  const HeadGrid list = arrange_head_list(900, 640, 144, 1, HeadSpace());
  ASSERT_EQ(list.maps.size(), 144U);
  EXPECT_GE(list.width, HeadSpace().name);
  EXPECT_LE(list.maps.back().cells.bottom(), list.bottom);
}

TEST(Heads, EveryHeadOfEveryOperatorIsItsOwnMatrix) {
  OpenedTrace opened("heads");
  MapsModel maps(opened.workspace);
  HeadsModel heads(maps);
  EXPECT_TRUE(heads.rows().empty());  // Nothing is computed that nobody looks at.
  heads.set_visible(true);
  ASSERT_TRUE(wait_for([&] { return heads.complete(); }));
  ASSERT_EQ(heads.rows().size(), 3U);
  const char* const names[] = {"dot", "penumbral", "umbral"};
  for (std::size_t row = 0; row < 3; ++row) {
    for (const std::int64_t head : {0, 5, 11}) {
      const auto source = opened.source(names[row], head);
      const MapPyramid& pyramid = *heads.rows()[row]->maps[static_cast<std::size_t>(head)]->pyramid;
      float cell = 0;
      for (const Focus at : {Focus{0, 0}, Focus{4, 9}, Focus{29, 3}}) {
        pyramid.read_row(0, at.query, at.key, 1, &cell);
        EXPECT_NEAR(cell, source->exact(at.query, at.key), 1e-5) << names[row] << head;
      }
      EXPECT_EQ(pyramid.shared_source(), nullptr);
    }
  }
  EXPECT_NE(heads.about({1, 3}).find("penumbral, head 3: entropy"), std::string::npos);
}

TEST(Heads, LimitsAreSharedOrOwn) {
  OpenedTrace opened("heads");
  MapsModel maps(opened.workspace);
  HeadsModel heads(maps);
  heads.set_visible(true);
  ASSERT_TRUE(wait_for([&] { return heads.complete(); }));
  const HeadRow &dot = *heads.rows()[0], &umbral = *heads.rows()[2];
  EXPECT_TRUE(heads.limits(dot, 0) == heads.limits(umbral, 7));
  opened.document.edit("own", [](Session& s) { s.maps.shared_limits = false; });
  EXPECT_FALSE(heads.limits(dot, 0) == heads.limits(dot, 1));
  EXPECT_EQ(heads.limits(dot, 1).high, dot.maps[1]->summary.limits.high);
}

TEST(Heads, CanBeCancelledAndComputedAgain) {
  OpenedTrace opened("heads");
  MapsModel maps(opened.workspace);
  HeadsModel heads(maps);
  heads.set_visible(true);
  heads.cancel();
  EXPECT_FALSE(heads.busy());
  EXPECT_TRUE(heads.cancelled());
  heads.resume();
  EXPECT_TRUE(wait_for([&] { return heads.complete(); }));
  heads.set_visible(false);
  opened.document.edit("logits", [](Session& s) { s.maps.quantity = "logits"; });
  EXPECT_FALSE(heads.busy());
  heads.set_visible(true);
  EXPECT_TRUE(heads.busy());
  EXPECT_TRUE(wait_for([&] { return heads.complete(); }));
  // Scores are those of the weights, whatever is shown.
  EXPECT_GT(heads.rows()[0]->maps[0]->summary.limits.high, 1);
  EXPECT_LE(heads.rows()[0]->maps[0]->scores->special, 1);
}

TEST(Heads, AClickOpensAHeadAsALargeMap) {
  REQUIRE_DISPLAY();
  ShownLayout shown("heads");
  ASSERT_TRUE(wait_for([&] { return shown.view.heads().complete(); }));
  HeadsCanvas& canvas = shown.view.heads_canvas();
  ASSERT_EQ(canvas.grid().maps.size(), 36U);
  const figure::Box& box = canvas.grid().maps[12 + 9].cells;
  const QPointF at(box.x + box.width * 0.52, box.y + box.height * 0.31);
  move_to(canvas, at);
  EXPECT_TRUE(shown.view.readout().contains("penumbral, head 9: entropy"))
      << shown.view.readout().toStdString();
  ASSERT_TRUE(shown.document.focused());
  EXPECT_EQ(shown.document.focused()->key, 15);
  EXPECT_EQ(shown.document.focused()->query, 9);
  click(canvas, at);
  EXPECT_EQ(shown.document.session().trace.head, 9);
  EXPECT_EQ(shown.document.session().maps.layout, "maps");
  EXPECT_TRUE(shown.view.heads().complete());  // The small maps stay.
  shown.document.undo();
  EXPECT_EQ(shown.document.session().trace.head, 5);
}

TEST(Layouts, EachHasATableOfTheSameNumbers) {
  REQUIRE_DISPLAY();
  ShownLayout shown("arcs");
  ASSERT_TRUE(wait_for([&] { return shown.related(); }));
  auto* numbers = shown.view.findChild<QToolButton*>("maps-numbers");
  EXPECT_FALSE(shown.view.numbers().isVisible());
  numbers->click();
  ASSERT_TRUE(shown.view.numbers().isVisible());
  const QAbstractItemModel& table = *shown.view.numbers().model();
  const auto cell = [&](int row, int column) { return table.index(row, column).data().toString(); };
  std::size_t arcs = 0;
  for (const auto& panel : shown.view.relations().arcs_figure(500).panels) {
    arcs += panel.arcs.size();
  }
  EXPECT_EQ(static_cast<std::size_t>(table.rowCount()), arcs);
  // A row is its pair in all views.
  shown.view.numbers().selectRow(7);
  ASSERT_TRUE(shown.document.session().locked);
  const Focus pair = *shown.document.session().locked;
  EXPECT_EQ(cell(7, 1), QString::number(pair.query));
  EXPECT_EQ(cell(7, 3), QString::number(pair.key));
  EXPECT_NEAR(cell(7, 6).toDouble(), shown.source("dot", 5)->exact(pair.query, pair.key), 1e-9);

  const auto show = [&](const char* layout) {
    shown.document.edit("layout", [&](Session& s) { s.maps.layout = layout; });
  };
  show("tree");
  ASSERT_TRUE(wait_for([&] { return shown.related(); }));
  EXPECT_EQ(table.rowCount(), 3 * 29);
  const auto& merges = shown.view.relations().panels()[1]->head_tree->dendrogram.merges;
  EXPECT_EQ(cell(29 + 4, 0), "penumbral");
  EXPECT_NEAR(cell(29 + 4, 3).toDouble(), -merges[4].depth, 1e-8);
  EXPECT_EQ(cell(29 + 28, 4), "30");
  show("hasse");
  ASSERT_TRUE(wait_for([&] { return shown.related(); }));
  EXPECT_EQ(cell(0, 4), "only cone families order tokens");
  show("heads");
  ASSERT_TRUE(wait_for([&] { return shown.view.heads().complete(); }));
  EXPECT_EQ(table.rowCount(), 36);
  shown.view.numbers().selectRow(12 + 9);
  EXPECT_EQ(shown.document.session().trace.head, 9);
  numbers->click();
  EXPECT_FALSE(shown.view.numbers().isVisible());
  show("maps");
  numbers->click();
  EXPECT_EQ(shown.document.session().maps.layout, "table");
  numbers->click();
  EXPECT_EQ(shown.document.session().maps.layout, "maps");
}

TEST(Layouts, TheirFigureAndItsCommandAreOffered) {
  REQUIRE_DISPLAY();
  ShownLayout shown("tree");
  std::vector<FigureChoice> figures, commands;
  QObject::connect(&shown.view, &MapsView::figure_wanted,
                   [&](const FigureChoice& f) { figures.push_back(f); });
  QObject::connect(&shown.view, &MapsView::command_wanted,
                   [&](const FigureChoice& f) { commands.push_back(f); });
  auto* menu = shown.view.findChild<QMenu*>("maps-figure-menu");
  emit menu->aboutToShow();
  ASSERT_EQ(menu->actions().size(), 6);  // Two an operator.
  menu->actions()[4]->trigger();
  menu->actions()[1]->trigger();
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].name, "tree");
  EXPECT_EQ(figures[0].parameters.at("similarity"), "umbral");
  EXPECT_EQ(figures[0].parameters.at("head"), "5");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].parameters.at("similarity"), "dot");
}

TEST(Layouts, TheCanvasKeepsItsSizeUnderTheReadout) {
  REQUIRE_DISPLAY();
  for (const char* layout : {"maps", "arcs", "tree", "hasse", "heads"}) {
    SCOPED_TRACE(layout);
    ShownLayout shown(layout);
    auto* readout = shown.view.findChild<QWidget*>("maps-readout");
    ASSERT_TRUE(wait_for([&] { return !shown.view.relations().busy(); }));
    pump(60);
    const int before = readout->height();
    for (std::int64_t i = 0; i < 30; ++i) {
      shown.document.hover(Focus{i, 29 - i});
      pump(4);
    }
    EXPECT_EQ(readout->height(), before);
    shown.document.hover(std::nullopt);
    pump(20);
    EXPECT_EQ(readout->height(), before);
  }
}

TEST(Layouts, ShowTheirOwnControlsOnly) {
  REQUIRE_DISPLAY();
  ShownLayout shown("maps");
  auto* layout = shown.view.findChild<QComboBox*>("maps-layout");
  const auto visible = [&](const char* name) {
    return shown.view.findChild<QWidget*>(name)->isVisible();
  };
  EXPECT_TRUE(visible("maps-scale"));
  EXPECT_FALSE(visible("maps-top"));
  layout->setCurrentText("arcs");
  EXPECT_FALSE(visible("maps-scale"));
  EXPECT_TRUE(visible("maps-top"));
  EXPECT_TRUE(visible("maps-arrangement"));
  layout->setCurrentText("tree");
  EXPECT_TRUE(visible("maps-tokens"));
  EXPECT_FALSE(visible("maps-top"));
  shown.document.undo();
  shown.document.undo();
  EXPECT_TRUE(visible("maps-scale"));
}

}  // namespace
}  // namespace conelab::desktop
