// Arcs, trees and orders: the relations that the attention maps view draws.
#include <gtest/gtest.h>

#include <QSpinBox>

#include "core/drawing/text.h"
#include "tests/widgets/maps/opened_layout.h"
#include "tests/widgets/maps/relation_places.h"
#include "tests/widgets/unplaced_tokens.h"

namespace conelab::desktop {
namespace {

TEST(Relations, ArcsAreTheStrongestWeights) {
  OpenedTrace opened("arcs");
  RelationsModel model(opened.workspace);
  ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
  const figure::ArcsFigure figure = model.arcs_figure(500);
  ASSERT_EQ(figure.panels.size(), 3U);
  const auto source = opened.source("umbral", 5);
  const auto& arcs = figure.panels[2].arcs;
  ASSERT_FALSE(arcs.empty());
  for (const figure::Arc& arc : arcs) {
    EXPECT_GE(arc.weight, 0.01);
    EXPECT_NEAR(
        arc.weight,
        source->exact(static_cast<std::int64_t>(arc.query), static_cast<std::int64_t>(arc.key)),
        1e-9);
  }
  opened.document.edit("fewer", [](Session& s) { s.maps.arc_top = 1; });
  EXPECT_FALSE(model.busy());  // What is there suffices.
  const auto fewer = model.arcs_figure(500).panels[2].arcs;
  EXPECT_LT(fewer.size(), arcs.size());
  EXPECT_LE(fewer.size(), 30U);
  opened.document.edit("strong", [](Session& s) { s.maps.arc_threshold = 0.9; });
  const auto strong = model.arcs_figure(500).panels[2].arcs;
  for (const figure::Arc& arc : strong) EXPECT_GE(arc.weight, 0.9);
}

// One key that is not finite: under a causal mask, only the queries from it on know nothing.
TEST(Relations, ArcsOfTokensThatAreNotFiniteAreLeftOutAndCounted) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder;
  ShownLayout shown("arcs");
  shown.document.edit("operators", [](Session& s) {
    s.maps.calls = {plain_call("penumbral"), plain_call("dot")};
    s.maps.calls.front().masks = {"causal"};
    s.maps.arc_threshold = 0;
  });
  shown.workspace.open(trace_with_unplaced_tokens(folder), "/german/layer3");
  ASSERT_TRUE(wait_for([&] {
    return shown.workspace.trace() != nullptr &&
           QString::fromStdString(shown.workspace.trace()->file).endsWith("unplaced.h5") &&
           shown.related();
  }));
  const auto& panels = shown.view.relations().panels();
  const auto queries_of = [](const RelationPanel& panel) {
    std::set<std::size_t> queries;
    for (const figure::Arc& arc : panel.arcs) {
      EXPECT_TRUE(std::isfinite(arc.weight));
      queries.insert(arc.query);
    }
    return queries;
  };
  const std::set<std::size_t> known = queries_of(*panels[0]);
  EXPECT_EQ(known, (std::set<std::size_t>{0, 1, 2, 3, 5, 6, 7}));  // 4 is the query.
  EXPECT_GT(panels[0]->unknown, 0U);
  EXPECT_TRUE(panels[1]->arcs.empty());
  EXPECT_EQ(panels[1]->unknown, 900U);
  // It is told in the picture, which draws and is pointed at all the same.
  auto& canvas = *shown.view.findChild<RelationsCanvas*>();
  std::string told;
  for (const auto& item : figure::place_arcs(shown.view.relations().arcs_figure(500)).list.items) {
    const auto* text = std::get_if<figure::TextItem>(&item);
    if (text != nullptr) told += figure::plain(text->runs) + "\n";
  }
  EXPECT_NE(told.find("\n900 of 900 weights are not finite numbers\n"), std::string::npos) << told;
  for (int y = 0; y < canvas.height(); y += 9) {
    for (int x = 0; x < canvas.width(); x += 9) move_to(canvas, {double(x), double(y)});
  }
  pump(30);
  EXPECT_FALSE(shown.view.readout().contains("nan")) << shown.view.readout().toStdString();
  shown.document.edit("lock", [](Session& s) { s.locked = Focus{3, unplaced_key}; });
  pump(60);
  EXPECT_FALSE(shown.view.readout().isEmpty());
}

TEST(Relations, TreesAreThoseOfTheTreeCommand) {
  OpenedTrace opened("tree");
  RelationsModel model(opened.workspace);
  ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
  const auto head = head_input(*opened.workspace.trace(), 0, 5);
  const Call call = call_on_head(plain_call("umbral"), *opened.workspace.trace(), 5);
  const auto expected = tree::head_trees(pair_call(call, head->exact)).front();
  const auto& panel = *model.panels()[2];
  ASSERT_TRUE(panel.head_tree);
  EXPECT_EQ(panel.head_tree->depth, expected.depth);
  EXPECT_EQ(panel.head_tree->dendrogram.leaf_order, expected.dendrogram.leaf_order);
  EXPECT_NE(model.about({3, 8}).find(fmt::format("umbral, keys 3 and 8: height of the LCA {:.6g}",
                                                 -expected.depth[3 * expected.size + 8])),
            std::string::npos)
      << model.about({3, 8});
  // The joint of two tokens is the first merge that both lie under.
  const auto up = RelationsModel::merges_above(expected, 3);
  const auto other = RelationsModel::merges_above(expected, 8);
  EXPECT_EQ(up.back(), expected.dendrogram.merges.size() - 1);
  EXPECT_EQ(other.back(), expected.dendrogram.merges.size() - 1);
  opened.document.edit("of queries", [](Session& s) { s.maps.tree_tokens = "query"; });
  EXPECT_TRUE(model.busy());
  ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
  EXPECT_NE(model.panels()[2]->head_tree->depth, expected.depth);
}

TEST(Relations, AClickOnAnArcLocksItsPair) {
  REQUIRE_DISPLAY();
  ShownLayout shown("arcs");
  ASSERT_TRUE(wait_for([&] { return shown.related(); }));
  RelationsCanvas& canvas = shown.view.relations_canvas();
  const auto figure = shown.view.relations().arcs_figure(500);
  // Any arc of the third operator that is pointed at by its middle.
  bool locked = false;
  for (const figure::Arc& arc : figure.panels[2].arcs) {
    const Focus pair{static_cast<std::int64_t>(arc.query), static_cast<std::int64_t>(arc.key)};
    const auto place = place_of_arc(shown.view, 2, pair);
    ASSERT_TRUE(place);
    if (pair.query == pair.key) continue;
    move_to(canvas, *place);
    if (shown.document.focused() != pair) continue;  // Another lies over it here.
    click(canvas, *place);
    locked = true;
    ASSERT_TRUE(shown.document.session().locked);
    EXPECT_EQ(*shown.document.session().locked, pair);
    const QString exact = QString::fromStdString(
        fmt::format("umbral: {:.12g}", shown.source("umbral", 5)->exact(pair.query, pair.key)));
    EXPECT_TRUE(shown.view.readout().contains(exact)) << shown.view.readout().toStdString();
    break;
  }
  EXPECT_TRUE(locked);
  const auto before = shown.document.session().locked;
  shown.view.move(Qt::Key_Right);
  EXPECT_EQ(shown.document.session().locked->key, before->key + 1);
  auto* top = shown.view.findChild<QSpinBox*>("maps-top");
  ASSERT_TRUE(top->isVisible());
  top->setValue(1);
  EXPECT_EQ(shown.document.session().maps.arc_top, 1);
  shown.document.undo();
  EXPECT_EQ(shown.document.session().maps.arc_top, 3);
  EXPECT_EQ(top->value(), 3);
}

TEST(Relations, TreesTellOfMergesBoundariesAndTokens) {
  REQUIRE_DISPLAY();
  ShownLayout shown("tree");
  ASSERT_TRUE(wait_for([&] { return shown.related(); }));
  RelationsCanvas& canvas = shown.view.relations_canvas();
  const tree::HeadTree& tree = *shown.view.relations().panels()[1]->head_tree;
  const std::size_t last = tree.dendrogram.merges.size() - 1;
  const auto root = place_of_merge(canvas, 1, last);
  ASSERT_TRUE(root);
  move_to(canvas, *root);
  EXPECT_TRUE(
      shown.view.readout().contains(QString("penumbral: 30 tokens join at height %1")
                                        .arg(-tree.dendrogram.merges[last].depth, 0, 'g', 6)))
      << shown.view.readout().toStdString();
  const auto boundary = place_of_boundary(canvas, 1, 12);
  ASSERT_TRUE(boundary);
  move_to(canvas, *boundary);
  EXPECT_TRUE(shown.view.readout().contains(QString::fromStdString(
      fmt::format("{:.6g} of what uniform does", tree.segmentation->relative[12]))))
      << shown.view.readout().toStdString();
  const auto token = place_of_token(canvas, 1, 7);
  ASSERT_TRUE(token);
  click(canvas, *token);
  ASSERT_TRUE(shown.document.session().locked);
  EXPECT_EQ(shown.document.session().locked->key, 7);
  // Everything of the tall canvas can be reached.
  EXPECT_GT(canvas.height(), shown.view.height());
}

TEST(Relations, OrdersAreOfConeFamiliesOnly) {
  REQUIRE_DISPLAY();
  ShownLayout shown("hasse");
  ASSERT_TRUE(wait_for([&] { return shown.related(); }));
  RelationsCanvas& canvas = shown.view.relations_canvas();
  EXPECT_FALSE(place_of_token(canvas, 0, 3));
  EXPECT_TRUE(canvas.accessibleDescription().contains("dot: only cone families order tokens"));
  ASSERT_TRUE(place_of_token(canvas, 2, 3));
  EXPECT_FALSE(place_of_merge(canvas, 2, 3));
  EXPECT_TRUE(canvas.accessibleDescription().contains("umbral: No token is an ancestor"));
}

TEST(Relations, TreesOfMovedTokensAreThoseOfTheTreeCommand) {
  OpenedTrace opened("tree");
  const Call moved = call_from_text("dot:position=rope");
  opened.document.edit("operators", [&](Session& s) { s.maps.calls = {moved}; });
  RelationsModel model(opened.workspace);
  ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
  const auto head = head_input(*opened.workspace.trace(), 0, 5);
  const Call call = call_on_head(moved, *opened.workspace.trace(), 5);
  ASSERT_TRUE(model.panels()[0]->head_tree) << model.panels()[0]->error;
  EXPECT_EQ(model.panels()[0]->head_tree->depth,
            tree::head_trees(pair_call(call, head->exact)).front().depth);
}

/// No operator ends the program: one that has no similarity, or no pairs, says so. Tensors that are
/// drawn are drawn for trees and for arcs.
TEST(Relations, EveryOperatorIsDrawnOrSaysWhyNot) {
  for (const char* layout : {"tree", "arcs"}) {
    OpenedTrace opened(layout);
    int drawn = 0;
    for (const std::string& name : operator_names()) {
      SCOPED_TRACE(name);
      const Call call = with_random_tensors(call_from_text(name));
      opened.document.edit("operator", [&](Session& s) { s.maps.calls = {call}; });
      RelationsModel model(opened.workspace);
      ASSERT_TRUE(wait_for([&] { return !model.busy(); }));
      ASSERT_EQ(model.panels().size(), 1U);
      const RelationPanel& panel = *model.panels()[0];
      const bool is_drawn = panel.head_tree || !panel.arcs.empty();
      drawn += is_drawn ? 1 : 0;
      const std::string expected = name + " has no ";
      EXPECT_EQ(panel.error.substr(0, expected.size()), is_drawn ? "" : expected) << panel.error;
      EXPECT_TRUE(is_drawn || !is_attention(call)) << panel.error;
    }
    EXPECT_GE(drawn, 10) << layout;
  }
}

}  // namespace
}  // namespace conelab::desktop
