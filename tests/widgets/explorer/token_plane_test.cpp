#include "widgets/explorer/token_plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/operators/operator.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/explorer/shown_explorer.h"
#include "tests/widgets/unplaced_tokens.h"
#include "widgets/explorer/cone_scene.h"
#include "widgets/explorer/explorer_view.h"

namespace conelab::desktop {
namespace {

/// A head whose directions lie outside the finite families' balls.
std::shared_ptr<const HeadInput> shipped_head(const Trace& trace) {
  return head_input(trace, 0, 5);
}

Call call_of(const char* similarity, const Trace& trace) {
  return call_of_head(plain_call(similarity), trace.extents(), 5);
}

TEST(TokenPlane, TheAncestorsOfTheFocusedTokenAreFoundInAnyOrderOfEdges) {
  TokenMarks tokens;
  tokens.edges = {{1, 0}, {3, 2}, {2, 1}, {4, 1}};
  EXPECT_TRUE(focused_and_ancestors(tokens).empty());
  tokens.focused = 3;
  EXPECT_EQ(focused_and_ancestors(tokens), (std::set<std::int64_t>{0, 1, 2, 3}));
}

TEST(TokenPlane, EveryKeyKeepsItsLogitWithTheQuery) {
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  const auto head = shipped_head(*trace);
  for (const char* similarity : {"penumbral", "umbral", "penumbral-finite", "umbral-finite"}) {
    const Call call = call_of(similarity, *trace);
    const auto tokens = head_tokens(*head, call);
    ASSERT_TRUE(tokens) << similarity;
    const TokenPlane plane = plane_of_pair({}, *tokens, {3, 8});
    const auto n = static_cast<std::int64_t>(plane.keys.size());
    ASSERT_EQ(n, trace->extents().key);
    std::vector<double> logits(static_cast<std::size_t>(n));
    const auto plan = resolve(call, check_extents(head->exact));
    PairMap<double>(*plan, head->exact)
        .tile(Map2d::logits, nullptr, {0, 0, 3, 4, 0, n}, logits.data());
    for (std::int64_t k = 0; k < n; ++k) {
      // The scene of u and this key alone, as the picture has it.
      ConeChoice pair = plane.choice;
      const PlanePoint at = plane.keys[static_cast<std::size_t>(k)];
      pair.v = {at.x, at.y};
      const ConeScene scene = cone_scene(pair);
      ASSERT_EQ(scene.error, "") << similarity << " " << k;
      const double logit = logits[static_cast<std::size_t>(k)];
      EXPECT_NEAR(scene.law.depth, logit, 1e-6 * (1 + std::abs(logit))) << similarity << " " << k;
    }
  }
}

TEST(TokenPlane, ThePairStandsAsTheSceneHasIt) {
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  const auto tokens = head_tokens(*shipped_head(*trace), call_of("umbral", *trace));
  ASSERT_TRUE(tokens);
  const TokenPlane plane = plane_of_pair({}, *tokens, {7, 2});
  EXPECT_EQ(plane.keys[2].x, plane.choice.v[0]);
  EXPECT_EQ(plane.keys[2].y, plane.choice.v[1]);
  EXPECT_LE(plane.choice.u[0], plane.choice.v[0]);
  const bool beyond = std::any_of(plane.keys.begin(), plane.keys.end(),
                                  [&](const PlanePoint& p) { return p.x < plane.choice.u[0]; });
  EXPECT_TRUE(beyond);  // Keys on both sides of the query.
}

TEST(TokenPlane, OnlyConeFamiliesHaveOne) {
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  EXPECT_FALSE(head_tokens(*shipped_head(*trace), call_of("dot", *trace)));
}

TEST(TokenPlane, APointUnderThePointerIsTheKeyOfAllViewsAndAClickLocksIt) {
  REQUIRE_DISPLAY();
  ShownExplorer opened;
  opened.open();
  Document& document = opened.document;
  ExplorerView& view = opened.view;
  document.edit("follow", [](Session& s) {
    s.trace.head = 5;
    s.cones.follow_tokens = true;
    s.locked = Focus{3, 8};
  });
  ExplorerViewport& viewport = view.viewport();
  ASSERT_TRUE(wait_for([&] { return viewport.frames_painted() >= 3; }));
  ASSERT_EQ(viewport.tokens().places.size(), 30U);
  EXPECT_EQ(viewport.tokens().focused, 8U);
  EXPECT_TRUE(view.readout().contains("u is query 3")) << view.readout().toStdString();
  // A point that is seen, and that no handle lies over.
  const auto far_from_handles = [&](std::size_t k) {
    const QPointF p = viewport.token_place(k);
    const QPointF u = p - viewport.handle("u"), v = p - viewport.handle("v");
    const bool under_settings = p.x() > viewport.width() - 240 && p.y() < viewport.height() * 0.8;
    return viewport.rect().adjusted(10, 10, -10, -10).contains(p.toPoint()) && !under_settings &&
           std::hypot(u.x(), u.y()) > 18 && std::hypot(v.x(), v.y()) > 18;
  };
  std::size_t token = 0;
  while (token < 30 && !far_from_handles(token)) ++token;
  ASSERT_LT(token, 30U);
  const ConeChoice shown = viewport.choice();
  move_to(viewport, viewport.token_place(token));
  ASSERT_TRUE(wait_for([&] { return document.hovered().has_value(); }));
  const auto key = document.hovered()->key;
  EXPECT_EQ(document.hovered()->query, 3);
  EXPECT_TRUE(viewport.choice() == shown);  // The plane stays while the pointer is in it.
  EXPECT_TRUE(view.readout().contains("Under the pointer: key " + QString::number(key)));
  pump(250);  // The readout may have taken a line from the scene.
  click(viewport, viewport.token_place(static_cast<std::size_t>(key)));
  ASSERT_TRUE(wait_for([&] {
    return document.session().locked == Focus{3, key};
  })) << document.session().locked->key;
  EXPECT_EQ(viewport.tokens().focused, static_cast<std::size_t>(key));
  document.undo();
  EXPECT_TRUE(document.session().locked == (Focus{3, 8}) || !document.session().locked);
  // The other way round: a pair pointed at elsewhere is the one whose plane is shown.
  move_to(viewport, {5, 5});
  ASSERT_TRUE(wait_for([&] { return !document.hovered(); }));
  document.hover(Focus{4, 2});
  pump(60);
  EXPECT_TRUE(view.readout().contains("u is query 4")) << view.readout().toStdString();
}

TEST(TokenPlane, TokensThatAreNotFiniteHaveNoPlaceAndItIsTold) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder;
  ShownExplorer opened;
  opened.open(trace_with_unplaced_tokens(folder).toStdString());
  Document& document = opened.document;
  ExplorerView& view = opened.view;
  const auto choose = [&](const Focus& pair) {
    document.edit("follow", [&](Session& s) {
      s.trace.head = 5;
      s.maps.calls = {plain_call("penumbral")};
      s.cones.follow_tokens = true;
      s.locked = pair;
    });
    const long painted = view.viewport().frames_painted();
    view.viewport().wake();
    EXPECT_TRUE(wait_for([&] { return view.viewport().frames_painted() > painted; }));
  };
  choose({3, 2});
  EXPECT_TRUE(wait_for([&] { return view.readout().contains("u is query 3"); }));
  const ExplorerViewport& viewport = view.viewport();
  const auto& places = viewport.tokens().places;
  ASSERT_EQ(places.size(), 30U);
  for (std::size_t key = 0; key < places.size(); ++key) {
    EXPECT_EQ(std::isfinite(places[key].x) && std::isfinite(places[key].y), key != unplaced_key);
  }
  // It is nowhere, so nothing points at it, and it moves neither the camera nor the scene.
  const PlaneFrame frame = viewport.frame();
  EXPECT_TRUE(std::isfinite(frame.unit()) && std::isfinite(frame.origin().x));
  for (int y = 0; y < viewport.height(); y += 4) {
    for (int x = 0; x < viewport.width(); x += 4) {
      EXPECT_NE(viewport.token_under(QPointF(x, y)), std::size_t{unplaced_key});
    }
  }
  const std::string before = view.readout().toStdString();
  EXPECT_EQ(before.find("nan"), std::string::npos) << before;
  // A pair that it is of has no plane: the scene is the session's.
  for (const Focus& pair : {Focus{3, unplaced_key}, Focus{unplaced_query, 2}}) {
    choose(pair);
    EXPECT_TRUE(viewport.tokens().places.empty());
    EXPECT_EQ(viewport.choice().u, document.session().cones.u);
    EXPECT_EQ(viewport.choice().v, document.session().cones.v);
    const std::string token = pair.key == unplaced_key ? "key 8" : "query 4";
    const std::string text = view.readout().toStdString();
    EXPECT_NE(text.find(token), std::string::npos) << text;
    EXPECT_NE(text.find("not finite"), std::string::npos) << text;
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  }
  choose({3, 2});
  EXPECT_EQ(view.readout().toStdString().find("not finite"), std::string::npos);
}

TEST(TokenPlane, AHeadWithoutAnyPlaceSaysSo) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder;
  ShownExplorer shown;
  shown.document.edit("head", [](Session& s) { s.trace.head = 5; });
  shown.workspace.open(trace_with_unplaced_tokens(folder, true), "/german/layer3");
  ASSERT_TRUE(wait_for([&] { return shown.workspace.head() != nullptr; }));
  EXPECT_FALSE(shown.viewport.shows_tokens());
  EXPECT_TRUE(shown.view.readout().contains("No query and key of the head have a plane"))
      << shown.view.readout().toStdString();
}

TEST(TokenPlane, TheTableSaysThatATokenHasNoPlace) {
  const ConeChoice choice;
  const TextTable table =
      token_table(choice, {{{0.1, 0.2}, {0.1, std::nan("")}}, {"here", "nowhere"}});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_NE(table.rows[0][5], "unknown");
  EXPECT_EQ(table.rows[1][5], "unknown");
  EXPECT_EQ(table.rows[1][6], "");
}

}  // namespace
}  // namespace conelab::desktop
