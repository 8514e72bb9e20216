#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "core/geometry/lca_query.h"
#include "tests/widgets/explorer/shown_explorer.h"
#include "widgets/explorer/token_plane.h"

namespace conelab::desktop {
namespace {

const char* const families[] = {"penumbral", "umbral", "penumbral-finite", "umbral-finite",
                                "ganea"};

TEST(PlaneFrame, PixelsAndPointsAgreeInEveryModel) {
  Random random(1);
  for (const geometry::Model model : {geometry::Model::halfspace, geometry::Model::ball,
                                      geometry::Model::klein, geometry::Model::band}) {
    const PlaneFrame frame(model, {0.3, -2}, 640, 480);
    for (int i = 0; i < 1000; ++i) {
      const PlanePoint p{4 * random.uniform() - 2, std::exp(4 * random.uniform() - 3)};
      const PlanePoint q = frame.page(p);
      const auto back = frame.plane(q.x, q.y);
      ASSERT_TRUE(back);
      EXPECT_NEAR(back->x, p.x, 1e-7);
      EXPECT_NEAR(back->y, p.y, 1e-7 * (1 + p.y));
    }
  }
}

TEST(PlaneFrame, DeepZoomKeepsDifferencesExact) {
  const PlaneFrame frame(geometry::Model::halfspace, {1.0, std::log(1e-12)}, 640, 480);
  const PlanePoint a = frame.page({1.0 + 2e-13, 5e-13}), b = frame.page({1.0 + 4e-13, 5e-13});
  EXPECT_GT(b.x - a.x, 20);
}

TEST(ConeScene, ReadsOutWhatTheLcaCommandComputes) {
  for (const char* family : {"penumbral", "umbral"}) {
    ConeChoice choice;
    choice.family = family;
    const ConeScene scene = cone_scene(choice);
    const geometry::LcaResult expected =
        geometry::lca_query(family, {}, Eigen::Vector2d(-0.35, 0.35), Eigen::Vector2d(0.45, 0.2));
    EXPECT_NEAR(scene.law.depth, expected.depth, 1e-15);
    EXPECT_EQ(scene.lca.has_value(), expected.has_common_ancestor);
    const auto rows = cone_readout(choice, scene);
    const auto k = std::find_if(rows.begin(), rows.end(),
                                [](const auto& row) { return row.first == "log K(u, v)"; });
    ASSERT_NE(k, rows.end());
    EXPECT_EQ(k->second, fmt::format("{:.12g}", expected.depth));
  }
}

TEST(ConeScene, PointsAreKeptInsideEveryFamilysDomain) {
  Random random(2);
  for (const char* family : families) {
    ConeChoice choice;
    choice.family = family;
    for (int i = 0; i < 500; ++i) {
      const PlanePoint p =
          into_domain(choice, {3 * random.normal(), std::exp(2 * random.normal()) - 0.2});
      choice.u = {p.x, p.y};
      choice.v = choice.u;
      EXPECT_EQ(cone_scene(choice).error, "") << family << " " << p.x << " " << p.y;
    }
  }
}

TEST(ConeScene, OutsideTheDomainIsToldInOneLine) {
  ConeChoice choice;
  choice.u = {0, 1.5};
  EXPECT_NE(cone_scene(choice).error.find("u"), std::string::npos);
}

TEST(ConeScene, TokensStandInTheirPlaneWithTheirLogitAsDepth) {
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  const auto head = head_input(*trace, 0, 5);
  for (const char* similarity : {"penumbral", "umbral"}) {
    const Call call = call_of_head(plain_call(similarity), trace->extents(), 5);
    const auto tokens = head_tokens(*head, call);
    ASSERT_TRUE(tokens);
    const ConeScene scene = cone_scene(plane_of_pair({}, *tokens, {3, 8}).choice);
    ASSERT_EQ(scene.error, "");
    const auto plan = resolve(call, check_extents(head->exact));
    double logit = 0;
    PairMap<double>(*plan, head->exact).tile(Map2d::logits, nullptr, {0, 0, 3, 4, 8, 9}, &logit);
    EXPECT_NEAR(scene.law.depth, logit, 1e-9 * std::abs(logit)) << similarity;
  }
}

TEST(Explorer, DraggingAPointMovesItAndIsOneStep) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  const auto before = shown.document.session().cones;
  const double k = shown.viewport.scene().law.depth;
  drag(shown.viewport, shown.viewport.handle("u"), shown.viewport.handle("u") + QPointF(60, 25));
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.u != before.u; }));
  pump(120);
  EXPECT_GT(shown.document.session().cones.u[0], before.u[0]);
  EXPECT_LT(shown.document.session().cones.u[1], before.u[1]);
  EXPECT_NE(shown.viewport.scene().law.depth, k);
  EXPECT_TRUE(shown.view.readout().contains("K(u, v)"));
  shown.document.undo();
  EXPECT_EQ(shown.document.session().cones.u, before.u);
}

TEST(Explorer, TypedCoordinatesAreTakenExactly) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto* field = shown.view.findChild<QLineEdit*>("explorer-u");
  field->setText("-0.3,0.2");
  emit field->editingFinished();
  EXPECT_EQ(shown.document.session().cones.u, (std::array<double, 2>{-0.3, 0.2}));
}

TEST(Explorer, EveryFamilyInEveryModelIsDrawn) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto* family = shown.view.findChild<QComboBox*>("explorer-family");
  auto* model = shown.view.findChild<QComboBox*>("explorer-model");
  for (int f = 0; f < family->count(); ++f) {
    family->setCurrentIndex(f);
    for (int m = 0; m < model->count(); ++m) {
      model->setCurrentIndex(m);
      const long before = shown.viewport.frames_painted();
      shown.viewport.wake();
      ASSERT_TRUE(wait_for([&] { return shown.viewport.frames_painted() > before; }));
      EXPECT_EQ(shown.viewport.scene().error, "");
      const QImage image = shown.viewport.picture();
      // Just below u lies its cone: the colour differs from the ground's.
      const QPointF u = shown.viewport.handle("u");
      const double density = shown.viewport.devicePixelRatioF();
      EXPECT_NE(image.pixelColor((u * density).toPoint()), image.pixelColor(2, image.height() - 3));
    }
  }
}

TEST(Explorer, TheGroundFollowsThePointerInEveryModel) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  for (const char* model : {"halfspace", "ball", "klein", "band"}) {
    shown.document.edit("look", [&](Session& s) { s.cones.model = model; });
    shown.document.close_step();
    const ConeChoice before = shown.document.session().cones;
    const QPointF from(shown.viewport.width() * 0.5 + 20, shown.viewport.height() * 0.5),
        by(37, -23);
    const auto taken = shown.viewport.frame().plane(from.x(), from.y());
    ASSERT_TRUE(taken);
    drag(shown.viewport, from, from + by);
    ASSERT_TRUE(wait_for([&] { return shown.viewport.choice().camera.has_value(); })) << model;
    EXPECT_TRUE(wait_for([&] {
      const PlanePoint now = shown.viewport.frame().page(*taken);
      return std::hypot(now.x - from.x() - by.x(), now.y - from.y() - by.y()) < 2;
    })) << model;
    turn_wheel(shown.viewport, from, 1);
    pump(60);
    EXPECT_TRUE(shown.document.session().cones.camera == shown.viewport.choice().camera);
    // However often one looks elsewhere, it is one step.
    shown.document.undo();
    EXPECT_TRUE(shown.document.session().cones == before) << model;
    EXPECT_TRUE(shown.viewport.choice() == before) << model;
  }
}

TEST(Explorer, TheHeatLayerIsRefinedAtRestAndSaysSo) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  ASSERT_TRUE(wait_for([&] { return shown.viewport.heat_step() == 2; }));
  shown.document.edit("move", [](Session& s) { s.cones.u[0] += 0.1; });
  ASSERT_TRUE(wait_for([&] { return shown.viewport.heat_step() == 8; }));
  ASSERT_TRUE(wait_for([&] { return shown.viewport.heat_step() == 2; }));
  const long painted = shown.viewport.frames_painted();
  pump(300);
  EXPECT_LE(shown.viewport.frames_painted(), painted + 3) << "no frames at rest";
}

TEST(Explorer, SpaceIsTurnedByDraggingItsGroundAndPointsAreDraggedInIt) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  for (const char* model : {"hyperboloid", "space"}) {
    shown.document.edit("look", [&](Session& s) { s.cones.model = model; });
    pump(60);
    const SpaceCamera before = shown.viewport.view();
    drag(shown.viewport, QPointF(30, shown.viewport.height() - 30.0),
         QPointF(80, shown.viewport.height() - 50.0));
    ASSERT_TRUE(wait_for([&] { return !(shown.viewport.view() == before); })) << model;
    for (const QPointF by : {QPointF(12, 8), QPointF(-25, 5)}) {
      const auto u = shown.document.session().cones.u;
      const QPointF from = shown.viewport.handle("u"), there = from + by;
      drag(shown.viewport, from, there);
      ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.u != u; })) << model;
      const auto away = [&] { return shown.viewport.handle("u") - there; };
      EXPECT_TRUE(wait_for([&] { return std::hypot(away().x(), away().y()) < 3; }))
          << model << " " << away().x() << " " << away().y();
    }
  }
}

// Seen from the side, the hyperboloid ends at its silhouette: u goes along it while the pointer is
// beside it, and comes back with the pointer.
TEST(Explorer, APointerBesideTheHyperboloidTakesThePointAlongItsSilhouette) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.document.edit("look from the side", [](Session& s) {
    s.cones.model = "hyperboloid";
    s.cones.camera = ConeCamera{0, 0, 0.9, 0.28, 1};
  });
  pump(60);
  const QPointF from = shown.viewport.handle("u"), there = from + QPointF(-25, 5);
  const SpaceFrame frame = shown.viewport.turned_frame();
  ASSERT_FALSE(hyperboloid_under(frame, there.x(), there.y())) << "beside the hyperboloid";
  drag(shown.viewport, from, there);
  const auto away = [](const QPointF& a, const QPointF& b) {
    return std::hypot(a.x() - b.x(), a.y() - b.y());
  };
  EXPECT_TRUE(wait_for([&] { return away(shown.viewport.handle("u"), from) > 3; }));
  const QPointF at = shown.viewport.handle("u"), further = at + 3 * (there - at) / away(there, at);
  EXPECT_FALSE(hyperboloid_under(frame, further.x(), further.y()));
  drag(shown.viewport, at, from);
  EXPECT_TRUE(wait_for([&] { return away(shown.viewport.handle("u"), from) < 3; }));
}

TEST(Explorer, ItsSceneBecomesTheSessionsFigure) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("umbral");
  shown.view.findChild<QAbstractButton*>("explorer-figure")->click();
  const FigureChoice figure = shown.document.session().figure;
  EXPECT_EQ(figure.name, "cones");
  EXPECT_EQ(figure.parameters.at("cone"), "umbral");
  EXPECT_EQ(figure.parameters.at("radius"), "0.1");
  shown.document.undo();
  EXPECT_EQ(shown.document.session().figure.name, "heatmap");
}

// The timer that refines may find a scene that has no heat layer any more, before it was painted.
TEST(Explorer, RefiningSurvivesAChangeThatWasNotPaintedYet) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  for (const char* model : {"space", "halfspace", "hyperboloid", "ball", "space"}) {
    shown.document.edit("look", [&](Session& s) { s.cones.model = model; });
    shown.view.hide();  // Nothing is painted while the timer runs out.
    pump(200);
    shown.view.show();
    pump(60);
  }
  EXPECT_EQ(shown.viewport.scene().error, "");
}

TEST(Explorer, FamiliesStandSideBySideWithTheSamePoints) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.document.edit("compare", [](Session& s) {
    s.cones.beside = {"umbral", "penumbral-finite", "umbral-finite", "ganea"};
  });
  ASSERT_EQ(shown.viewport.pane_count(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    ConeChoice alone = shown.document.session().cones;
    alone.family = families[i];
    EXPECT_EQ(shown.viewport.scene(i).law.depth, cone_scene(alone).law.depth);
  }
  const auto before = shown.document.session().cones.u;
  drag(shown.viewport, shown.viewport.handle("u", 1),
       shown.viewport.handle("u", 1) + QPointF(15, 4));
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.u != before; }));
}

TEST(Explorer, TheListSaysWhichFamiliesStandSideBySide) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto& list = *shown.view.findChild<QComboBox*>("explorer-beside");
  const auto beside = [&](std::vector<std::string> names) {
    shown.document.edit("compare", [&](Session& s) { s.cones.beside = std::move(names); });
    return list.currentIndex() < 0 ? list.placeholderText() : list.currentText();
  };
  EXPECT_EQ(beside({}), "alone");
  EXPECT_EQ(beside({"ganea"}), "beside ganea");
  EXPECT_EQ(beside({"umbral", "ganea"}), "beside umbral, ganea");
  EXPECT_EQ(list.palette().color(QPalette::PlaceholderText),
            list.palette().color(QPalette::ButtonText));
  EXPECT_EQ(beside({"umbral", "ganea", "penumbral-finite"}),
            "beside umbral, ganea, penumbral-finite");
  pump(60);
  const QString longest = list.placeholderText();
  EXPECT_GE(list.width(), list.fontMetrics().horizontalAdvance(longest) + 20);
  shown.view.resize(280, 640);
  pump(60);
  EXPECT_TRUE(list.placeholderText().endsWith(u'…')) << list.placeholderText().toStdString();
  EXPECT_GE(list.width(), list.fontMetrics().horizontalAdvance(list.placeholderText()) + 20);
  EXPECT_EQ(beside({"umbral", "penumbral-finite", "umbral-finite", "ganea"}), "all five");
  // Another family changes places with the first one.
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("ganea");
  EXPECT_EQ(list.currentText(), "all five");
  EXPECT_EQ(shown.document.session().cones.beside.back(), "penumbral");
}

TEST(Explorer, TheSettingsMakeRoomForTheSceneWhereThereIsLittle) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  ASSERT_TRUE(wait_for([&] { return shown.viewport.control("hide settings").isValid(); }));
  shown.view.resize(420, 520);
  ASSERT_TRUE(wait_for([&] { return shown.viewport.control("settings").isValid(); }));
  EXPECT_FALSE(shown.viewport.control("geodesic").isValid());
  pump(80);  // It shrinks to its button.
  click(shown.viewport, shown.viewport.control("settings").center());
  EXPECT_TRUE(wait_for([&] { return shown.viewport.control("geodesic").isValid(); }));
}

TEST(Explorer, TheSettingsComeBackToTheirCornerWhereTheViewShrinks) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  const auto at_the_right = [&] {
    settle(shown.viewport);
    return shown.viewport.settings_place().right() > shown.viewport.width() - 20;
  };
  EXPECT_TRUE(at_the_right());
  const QPointF middle = shown.viewport.settings_place().center();
  const auto under = shown.viewport.frame().plane(middle.x(), middle.y());
  ASSERT_TRUE(under);
  shown.document.edit("move", [&](Session& s) {
    s.cones.v = {under->x, under->y};
    s.cones.camera = ConeCamera{shown.viewport.camera().x0, shown.viewport.camera().log_scale};
  });
  EXPECT_FALSE(at_the_right());
  shown.document.edit("move", [](Session& s) { s.cones.v = {0.1, 0.1}; });
  for (const QSize size : {QSize(560, 560), QSize(430, 520), QSize(340, 480)}) {
    shown.view.resize(size);
    EXPECT_TRUE(at_the_right()) << size.width();
  }
}

TEST(Explorer, ItsFieldsShowTheirPointsWhereItIsNarrowest) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.document.edit("move", [](Session& s) {
    s.cones.u = {-0.35, 0.35}, s.cones.v = {0.45, 0.2};
  });
  for (const int width : {0, 320, 419, 420, 500}) {
    shown.view.resize(width, 640);
    pump(60);
    for (const char* name : {"explorer-u", "explorer-v", "explorer-source"}) {
      const auto* field = shown.view.findChild<QLineEdit*>(name);
      const int text = field->fontMetrics().horizontalAdvance(field->text());
      EXPECT_GE(field->contentsRect().width(), text + 10) << name << " at " << shown.view.width();
    }
  }
  shown.view.resize(0, 640);
  EXPECT_LE(shown.view.width(), 280);
}

TEST(Explorer, TheSettingsHideNoPoint) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  Random random(5);
  for (const QSize size : {QSize(700, 640), QSize(590, 480), QSize(420, 420), QSize(1100, 700)}) {
    shown.view.resize(size);
    for (const char* model : {"halfspace", "ball", "space"}) {
      for (int i = 0; i < 3; ++i) {
        shown.document.edit("move", [&](Session& s) {
          s.cones.model = model;
          s.cones.family = i == 1 ? "umbral" : "penumbral-finite";
          s.cones.source = {2 * random.uniform() - 1, 3};
          for (auto* p : {&s.cones.u, &s.cones.v}) {
            const PlanePoint x =
                into_domain(s.cones, {3 * random.uniform() - 1.5, random.uniform()});
            *p = {x.x, x.y};
          }
        });
        settle(shown.viewport);
        EXPECT_TRUE(wait_for([&] { return !shown.viewport.settings_cover_points(); }));
        const QRectF card = shown.viewport.settings_place();
        ASSERT_FALSE(card.isEmpty());
        for (const char* name : {"u", "v", "source"}) {
          if (i == 1 && *name == 's') continue;
          EXPECT_FALSE(card.contains(shown.viewport.handle(name)))
              << name << " in " << model << " at " << size.width() << " x " << size.height();
        }
      }
    }
  }
}

TEST(SceneTable, HasEveryNumberOfEveryFamilyShown) {
  ConeChoice choice;
  std::vector<ConeChoice> choices;
  std::vector<ConeScene> scenes;
  for (const char* family : families) {
    choices.push_back(choice);
    choices.back().family = family;
    scenes.push_back(cone_scene(choices.back()));
  }
  std::vector<ShownScene> panes;
  for (std::size_t i = 0; i < choices.size(); ++i) panes.push_back({choices[i], scenes[i]});
  const TextTable table = scene_table(panes);
  ASSERT_EQ(table.header.size(), 6U);
  const auto cell = [&](const std::string& name, std::size_t family) {
    for (const auto& row : table.rows) {
      if (row.front() == name) return row[family + 1];
    }
    return "no row " + name;
  };
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const ConeScene& s = scenes[i];
    if (!s.error.empty()) {
      EXPECT_EQ(cell("outside", i), s.error);
      continue;
    }
    EXPECT_EQ(cell("u", i), "-0.35, 0.35");
    EXPECT_EQ(cell("distance", i), exact_text(s.distance));
    EXPECT_EQ(cell("potential v", i), exact_text(s.potential_v));
    EXPECT_EQ(cell("log K(u, v)", i), exact_text(s.law.depth));
    EXPECT_EQ(cell("source", i), s.infinite ? "" : "0, 1");
    EXPECT_EQ(cell("depth u", i), exact_text(s.infinite ? -s.u.radial : s.u.radial));
    EXPECT_EQ(cell("LCA", i) == "none exists", !s.lca);
    EXPECT_EQ(cell("depth LCA", i), s.lca ? exact_text(s.law.depth) : "");
  }
}

TEST(Explorer, ItsNumbersTakeThePlaceOfThePictureAndFollowIt) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.document.edit("compare", [](Session& s) { s.cones.beside = {"umbral"}; });
  shown.view.findChild<QAbstractButton*>("explorer-numbers")->click();
  EXPECT_TRUE(shown.document.session().cones.numbers);
  auto* table = shown.view.findChild<TextTableView*>("explorer-scene-table");
  ASSERT_TRUE(wait_for([&] { return table->isVisible() && table->model()->rowCount() > 9; }));
  EXPECT_FALSE(shown.viewport.isVisible());
  EXPECT_FALSE(shown.view.findChild<QWidget*>("explorer-token-table")->isVisible());
  EXPECT_EQ(table->model()->columnCount(), 3);
  const auto k = [&](int column) {
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      if (table->model()->index(row, 0).data() == "log K(u, v)") {
        return table->model()->index(row, column).data().toString().toStdString();
      }
    }
    return std::string("none");
  };
  shown.document.edit("move", [](Session& s) { s.cones.u = {0.1, 0.25}; });
  EXPECT_TRUE(wait_for([&] { return k(1) == exact_text(shown.viewport.scene(0).law.depth); }));
  EXPECT_EQ(k(2), exact_text(shown.viewport.scene(1).law.depth));
  EXPECT_TRUE(shown.viewport.accessibleDescription().contains("log K(u, v)"));
  shown.document.undo();
  shown.document.undo();
  EXPECT_TRUE(wait_for([&] { return shown.viewport.isVisible(); }));
}

// The stencil that fills are drawn with is not cleared between pictures.
TEST(Explorer, NoPictureLeavesTracesInTheNext) {
  REQUIRE_DISPLAY();
  const auto last = [](Session& s) {
    s.cones = {};
    s.cones.family = "umbral";
    s.cones.beside = {"ganea"};
    s.cones.objects = true;
  };
  const auto picture = [](ShownExplorer& shown) { return shown.viewport.grab().toImage(); };
  ShownExplorer fresh, used;
  for (const char* model : {"halfspace", "ball", "klein", "band"}) {
    for (const char* family : families) {
      used.document.edit("other", [&](Session& s) {
        s.cones = {};
        s.cones.model = model;
        s.cones.family = family;
        s.cones.beside = {"penumbral-finite", "umbral"};
        s.cones.objects = true;
      });
      const long before = used.view.viewport().frames_painted();
      ASSERT_TRUE(wait_for([&] { return used.view.viewport().frames_painted() > before; }));
    }
  }
  for (ShownExplorer* shown : {&fresh, &used}) {
    shown->document.edit("last", last);
    ASSERT_TRUE(wait_for([&] { return shown->view.viewport().pane_count() == 2; }));
  }
  const auto pictures_agree = [&] {
    QImage expected = picture(fresh), found = picture(used);
    // Settings stay closed where they had no room before.
    const QRectF settings =
        fresh.view.viewport().settings_place() | used.view.viewport().settings_place();
    for (QImage* each : {&expected, &found}) {
      QPainter(each).fillRect(settings.adjusted(-1, -1, 1, 1), Qt::black);
    }
    return expected == found;
  };
  // Both come to rest at the same picture, however long a busy machine takes; a trace would stay.
  EXPECT_TRUE(wait_for([&] {
    pump(50);
    return pictures_agree();
  }));
}

// Each family has its own depths, so each pane says what its colours mean.
TEST(Explorer, EveryPaneHasItsLegend) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.resize(1400, 800);
  shown.document.edit("beside", [](Session& s) {
    s.cones.beside = {"umbral", "penumbral-finite", "umbral-finite", "ganea"};
  });
  const ExplorerViewport& viewport = shown.viewport;
  ASSERT_TRUE(wait_for([&] { return viewport.legends().size() == 5; }));
  for (std::size_t i = 0; i < 5; ++i) {
    const figure::Box& box = viewport.legends()[i];
    const PlaneFrame pane = viewport.frame(i);
    EXPECT_GE(box.x, pane.corner().x) << i;
    EXPECT_LE(box.right(), pane.corner().x + pane.width()) << i;
    EXPECT_LE(box.bottom(), pane.corner().y + pane.height()) << i;
  }
  // Also where panes are as small as four of them in a narrow dock.
  shown.document.edit("four", [](Session& s) { s.cones.beside.pop_back(); });
  shown.view.resize(278, 640);
  EXPECT_TRUE(wait_for([&] { return viewport.legends().size() == 4; }));
  shown.document.edit("heat", [](Session& s) { s.cones.heat = false; });
  EXPECT_TRUE(wait_for([&] { return viewport.legends().empty(); }));
}

TEST(Explorer, ItsReadoutHasAsManyColumnsAsThereIsRoom) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  const auto* readout = shown.view.findChild<QLabel*>("explorer-readout");
  shown.view.resize(420, 640);
  ASSERT_TRUE(wait_for([&] { return readout->text().count("<tr>") == 9; }));
  pump(30);
  const int narrow = readout->height();
  shown.view.resize(1300, 640);
  EXPECT_TRUE(wait_for([&] { return readout->text().count("<tr>") == 5; }));
  EXPECT_TRUE(wait_for([&] { return readout->height() < 0.75 * narrow; }))
      << readout->height() << " of " << narrow;
  shown.view.resize(420, 640);
  EXPECT_TRUE(wait_for([&] { return readout->height() == narrow; })) << readout->height();
}

// With tokens: one row each, the K(u, ·) that attention has, and a row chooses its token.
TEST(Explorer, TokensAreRowsOfATable) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.workspace.open(QString::fromStdString(shipped_trace()), "/german/layer3");
  ASSERT_TRUE(wait_for([&] { return shown.workspace.head() != nullptr; }));
  shown.document.edit("follow", [](Session& s) {
    s.trace.head = 5;
    s.maps.calls = {plain_call("penumbral")};
    s.cones.follow_tokens = s.cones.numbers = true;
    s.locked = Focus{3, 8};
  });
  auto* table = shown.view.findChild<TextTableView*>("explorer-token-table");
  ASSERT_TRUE(wait_for([&] { return table->isVisible() && table->model()->rowCount() == 30; }));
  const auto head = head_input(*shown.workspace.trace(), 0, 5);
  const Call call = call_of_head(plain_call("penumbral"), shown.workspace.trace()->extents(), 5);
  std::vector<double> logits(30);
  PairMap<double>(*resolve(call, check_extents(head->exact)), head->exact)
      .tile(Map2d::logits, nullptr, {0, 0, 3, 4, 0, 30}, logits.data());
  ASSERT_TRUE(wait_for(
      [&] { return std::abs(table->model()->index(8, 6).data().toDouble() - logits[8]) < 1e-6; }));
  for (int key = 0; key < 30; ++key) {
    EXPECT_NEAR(table->model()->index(key, 6).data().toDouble(),
                logits[static_cast<std::size_t>(key)], 1e-6)
        << key;
  }
  table->selectRow(12);
  EXPECT_TRUE(wait_for([&] { return shown.document.session().locked == Focus{3, 12}; }));
}

TEST(Explorer, AFiniteSourceRecedesInOneStep) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("umbral-finite");
  const ConeChoice before = shown.document.session().cones;
  shown.viewport.recede();
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.source[1] > 300; }));
  shown.document.undo();
  EXPECT_TRUE(shown.document.session().cones == before);
}

}  // namespace
}  // namespace conelab::desktop
