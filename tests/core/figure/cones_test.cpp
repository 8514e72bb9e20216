#include "core/figure/cones.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/drawing/display_list.h"
#include "core/drawing/plane_scene.h"
#include "core/figure/similarity_field.h"
#include "tests/core/figure/figure_checks.h"
#include "tests/helpers/errors.h"

namespace conelab::figure {
namespace {

using fixtures::message_of;
using geometry::Model;
using geometry::Vector;

Vector at(double x, double height) { return Eigen::Vector2d(x, height); }

const char* const families[] = {"penumbral", "umbral", "penumbral-finite", "umbral-finite",
                                "ganea"};

TEST(Cones, PenumbralEdgesAreArcsOfTheLightsRadius) {
  const DisplayList list = draw_cones({});
  expect_good_figure(list);
  std::size_t arcs = 0;
  double radius = 0;
  for (const PathItem& path : items_of<PathItem>(list)) {
    for (const Segment& s : path.path.segments) {
      const auto* arc = std::get_if<ArcTo>(&s);
      if (arc == nullptr || std::abs(arc->sweep) > 3) continue;  // Points are whole circles.
      if (radius == 0) radius = arc->rx;
      EXPECT_NEAR(arc->rx, radius, 1e-9 * radius);
      ++arcs;
    }
  }
  EXPECT_GE(arcs, 10u);  // Two cones, their ways up, the ancestors' fill and edge.
}

TEST(Cones, CirclesAreArcsInEveryConformalModelAndEllipsesInKlein) {
  for (const char* family : families) {
    for (const Model model : {Model::halfspace, Model::ball, Model::klein}) {
      ConesFigure f;
      f.cone = family;
      f.model = model;
      f.levels = 4;
      for (const PathItem& path : items_of<PathItem>(draw_cones(f))) {
        for (const Segment& s : path.path.segments) {
          EXPECT_FALSE(std::holds_alternative<CubicTo>(s));
          const auto* arc = std::get_if<ArcTo>(&s);
          EXPECT_TRUE(arc == nullptr || model == Model::klein || arc->rx == arc->ry);
        }
      }
    }
  }
}

TEST(Cones, FiguresAreTheirGoldenTexts) {
  ConesFigure f;
  expect_golden(draw_cones(f), "cones_penumbral");
  f.cone = "umbral";
  expect_golden(draw_cones(f), "cones_umbral");
  f.cone = "umbral-finite";
  f.model = Model::klein;
  expect_golden(draw_cones(f), "cones_umbral_finite_klein");
}

TEST(Cones, CurvesOfTheBandStayNearTheirPanel) {
  for (const char* family : families) {
    ConesFigure f;
    f.cone = family;
    f.model = Model::band;
    const DisplayList list = draw_cones(f);
    for (const PathItem& path : items_of<PathItem>(list)) {
      for (const Segment& s : path.path.segments) {
        const auto* c = std::get_if<CubicTo>(&s);
        if (c == nullptr) continue;
        for (const Point& p : {c->control1, c->control2, c->to}) {
          EXPECT_TRUE(std::abs(p.x) < 2 * list.width && std::abs(p.y) < 2 * list.height) << family;
        }
      }
    }
  }
}

TEST(Cones, ATallBandEndsAtItsBorders) {
  ConesFigure f;
  f.cone = "ganea";
  f.model = Model::band;
  const ModelView view(Model::band, {-1.5707963267948966, 1.5707963267948966, -4, 4}, {0, 0}, 100,
                       100);
  EXPECT_NEAR(view.page(from_half_plane(1, 0)).x, view.field().right(), 1e-9);
  EXPECT_LT(view.field().width, view.box().width);
}

TEST(Cones, FarPointsShowTheWholeGeodesicBetweenThem) {
  for (const auto& [u, v] : {std::pair{at(-3, 0.5), at(3, 0.4)},
                             {at(-30, 0.5), at(30, 0.4)},
                             {at(0, 0.5), at(1.9, 0.4)},
                             {at(5, 0.01), at(9, 0.9)}}) {
    PanelScene scene;
    scene.system = geometry::cone_system("penumbral", {});
    scene.u = u, scene.v = v;
    const Window w = fitted_window(scene, Model::halfspace);
    const double centre = (v.squaredNorm() - u.squaredNorm()) / (2 * (v[0] - u[0]));
    const double radius = std::hypot(u[0] - centre, u[1]);
    EXPECT_GT(w.high, radius);
    EXPECT_LT(w.left, centre - radius);
    EXPECT_GT(w.right, centre + radius);
    ConesFigure f;
    f.u = u, f.v = v;
    expect_good_figure(draw_cones(f));
  }
}

/// Left and right of the strip: its two long upright lines.
std::pair<double, double> strip_of(const DisplayList& list) {
  std::pair<double, double> strip = {HUGE_VAL, -HUGE_VAL};
  for (const PathItem& path : items_of<PathItem>(list)) {
    if (path.path.segments.size() != 2) continue;
    const auto* from = std::get_if<MoveTo>(&path.path.segments[0]);
    const auto* to = std::get_if<LineTo>(&path.path.segments[1]);
    if (from == nullptr || to == nullptr || from->to.x != to->to.x) continue;
    if (path.paint.stroke.width != 1) continue;
    strip = {std::min(strip.first, to->to.x), std::max(strip.second, to->to.x)};
  }
  return strip;
}

TEST(Cones, NamesStayInsideTheBandAndOffItsBorders) {
  for (const char* family : families) {
    ConesFigure f;
    f.cone = family;
    f.model = Model::band;
    const DisplayList list = draw_cones(f);
    const auto [left, right] = strip_of(list);
    ASSERT_LT(left, right);
    for (const TextItem& item : texts(list)) {
      const std::string text = plain(item.runs);
      if (text != "common ancestors" && text != "LCA" && text != "u" && text != "v") continue;
      const Box box = bounds(text_quad(item));
      EXPECT_GT(box.x, left + 2) << family << " " << text;
      EXPECT_LT(box.right(), right - 2) << family << " " << text;
    }
  }
}

TEST(Cones, CaptionSpeaksOfTheModelDrawn) {
  ConesFigure f;
  f.cone = "ganea";
  f.model = Model::ball;
  f.u = at(0, 0.5);  // e^-d = 0.5: at (0, -1/3) in the ball.
  EXPECT_NE(draw_cones(f).metadata.description.find("u = (0, −0.3333)"), std::string::npos);
}

TEST(Cones, EveryFamilyInEveryModelIsAGoodFigure) {
  for (const char* family : families) {
    for (const double width : {single_column, double_column}) {
      ConesFigure f;
      f.cone = family;
      f.width = width;
      SCOPED_TRACE(family);
      expect_good_figure(draw_models(f));
      f.levels = 5;
      for (const Model model : geometry::all_models) {
        f.model = model;
        expect_good_figure(draw_cones(f));
      }
    }
  }
}

TEST(Cones, RandomPointsGiveGoodFigures) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> x(-2, 2), y(0.02, 0.98), r(0.05, 1.5);
  for (int i = 0; i < 60; ++i) {
    ConesFigure f;
    f.cone = i % 2 ? "umbral" : "penumbral";
    f.u = at(x(random), y(random)), f.v = at(x(random), y(random));
    if (i % 2) f.parameters["radius"] = r(random);
    f.width = i % 3 ? single_column : double_column;
    SCOPED_TRACE(i);
    expect_good_figure(draw_cones(f));
  }
}

TEST(Cones, ExtremePointsAreDrawn) {
  for (const char* cone : {"penumbral", "umbral"}) {
    for (const Model model : geometry::all_models) {
      ConesFigure f;
      f.cone = cone;
      f.model = model;
      f.u = f.v = at(0, 0.5);
      EXPECT_NO_THROW((void)to_svg(draw_cones(f)));
      f.u = at(-1e6, 1e-12), f.v = at(1e6, 0.999999999);
      EXPECT_NO_THROW((void)to_svg(draw_cones(f)));
      f.u = at(0, 1e-300);  // beyond what a page can show: drawn, or refused in one line
      const std::string said = message_of([&] { return to_svg(draw_cones(f)); });
      EXPECT_TRUE(said.empty() || said == "figure: a path's point is not finite") << said;
    }
  }
}

TEST(Cones, PointsOutsideTheDomainAreMisuse) {
  ConesFigure f;
  for (const double height : {1.0, 0.0, std::nan("")}) {
    f.u = at(0, height);
    EXPECT_THROW((void)draw_cones(f), Error);
  }
  f = {};
  f.parameters["height"] = -1;
  EXPECT_THROW((void)draw_cones(f), Error);
  f = {};
  f.cone = "umbral-finite";
  f.u = at(0, 1);  // The light itself.
  EXPECT_THROW((void)draw_cones(f), Error);
  f.cone = "conical";
  EXPECT_THROW((void)draw_cones(f), Error);
}

TEST(Cones, AWrongPointIsNamed) {
  const auto message = [](const ConesFigure& f) {
    return message_of([&] { return draw_cones(f); });
  };
  ConesFigure f;
  f.u = at(0, 2);
  EXPECT_TRUE(message(f).starts_with("u: ")) << message(f);
  f = {};
  f.v = at(0, 2);
  EXPECT_TRUE(message(f).starts_with("v: ")) << message(f);
}

TEST(Cones, FamiliesStandSideBySideWithTheirOwnParameters) {
  ConesFigure f;
  f.width = double_column;
  f.parameters = {{"height", 1}, {"radius", 0.2}, {"K", 0.2}};
  f.u = at(-0.5, 0.3), f.v = at(0.4, 0.25);
  f.beside = {"umbral", "ganea"};
  f.geodesic = true;
  const DisplayList list = draw_cones(f);
  expect_good_figure(list);
  const std::string& text = list.metadata.description;
  for (const char* part :
       {"penumbral cones, height = 1", "umbral cones, radius = 0.2", "ganea cones, K = 0.2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Cones, TokensAreDrawnWithTheNamesThatFit) {
  ConesFigure f;
  f.width = double_column;
  for (int i = 0; i < 40; ++i) {
    f.tokens.push_back({at(-0.2 + 0.002 * i, 0.4 + 0.004 * (i % 7)), "token " + std::to_string(i)});
  }
  const DisplayList list = draw_cones(f);
  expect_good_figure(list);
  int named = 0;
  for (const TextItem& item : texts(list)) named += plain(item.runs).starts_with("token ");
  EXPECT_GT(named, 5);
  EXPECT_LT(named, 40);
  EXPECT_EQ(count(to_svg(list), ">token 0<"), 1U);
}

TEST(Cones, WithoutACommonAncestorTheCaptionTellsKAndNoDepth) {
  ConesFigure f;
  f.u = at(-2, 0.3), f.v = at(2, 0.3);
  const std::string text = draw_cones(f).metadata.description;
  EXPECT_NE(text.find("no common ancestor, log K(u, v) = −2.0"), std::string::npos) << text;
  EXPECT_EQ(text.find("depth"), std::string::npos) << text;
}

TEST(Cones, OtherDepthsMoveTheLevelLines) {
  ConesFigure f;
  f.levels = 4;
  const std::string by_height = dump(draw_cones(f));
  f.depth = geometry::DepthMeasure::distance;
  const DisplayList list = draw_cones(f);
  expect_good_figure(list);
  EXPECT_NE(dump(list), by_height);
  EXPECT_NE(list.metadata.description.find("distance 0."), std::string::npos);
}

TEST(PlaneScene, TallWindowsAreWidened) {
  const PlaneScene scene({-1, 1, 0, 10}, {5, 5}, 100, 200);
  EXPECT_DOUBLE_EQ(scene.box().height, 200);
  EXPECT_DOUBLE_EQ(scene.page({0, 0}).x, 55);
  EXPECT_DOUBLE_EQ(scene.page({0, 10}).y, 5);
}

TEST(ArcCurves, StayWithinTheToleranceOfTheArc) {
  for (const double radius : {1.0, 100.0, 20000.0}) {
    const ArcTo arc{{3, 4}, radius, radius, 0.3, 2.5, 0};
    Point from = arc.start();
    for (const CubicTo& c : arc_curves(arc)) {
      for (const double t : {0.2, 0.5, 0.8}) {
        const double s = 1 - t;
        const double x = s * s * s * from.x + 3 * s * s * t * c.control1.x +
                         3 * s * t * t * c.control2.x + t * t * t * c.to.x;
        const double y = s * s * s * from.y + 3 * s * s * t * c.control1.y +
                         3 * s * t * t * c.control2.y + t * t * t * c.to.y;
        EXPECT_NEAR(std::hypot(x - 3, y - 4), radius, 0.0021);
      }
      from = c.to;
    }
    EXPECT_NEAR(from.x, arc.end().x, 1e-9 * radius);
  }
}

/// The image of the heat, and its colour at a point of the page.
Colour heat_at(const DisplayList& list, Point at) {
  for (const ImageItem& image : items_of<ImageItem>(list)) {
    if (image.rows < 2) continue;
    const auto cell = [](double part, std::size_t count) {
      return static_cast<std::size_t>(part * static_cast<double>(count));
    };
    const std::size_t column = cell((at.x - image.box.x) / image.box.width, image.columns);
    const std::size_t row = cell((at.y - image.box.y) / image.box.height, image.rows);
    const std::uint8_t* c = image.rgba.data() + 4 * (row * image.columns + column);
    return {c[0], c[1], c[2], c[3]};
  }
  ADD_FAILURE() << "no heat";
  return {};
}

TEST(ConesFigure, HeatHasTheColourOfTheSimilarity) {
  for (const char* other : {"cone", "laplacian", "hyperbolic"}) {
    for (const Model model : {Model::halfspace, Model::ball, Model::klein, Model::band}) {
      SCOPED_TRACE(std::string(other) + " in " + geometry::model_name(model));
      ConesFigure f;
      f.model = model, f.similarity = other;
      const DisplayList plain = draw_cones(f);
      EXPECT_TRUE(std::none_of(plain.items.begin(), plain.items.end(), [](const Item& item) {
        return std::holds_alternative<ImageItem>(item);
      }));
      f.heat = true;
      const DisplayList list = draw_cones(f);
      expect_good_figure(list);
      const PanelScene scene = panel_scene(f);
      const Eigen::Vector2d u = scene.u, v = *scene.v;
      const PlaneSimilarityInfo* info = plane_similarity(other);
      const double value =
          info == nullptr ? -scene_lca(scene).radial : similarity_of(info->similarity, u, v);
      const Window part = fitted_window(scene, Model::halfspace);
      const SimilarityRange range =
          info == nullptr
              ? SimilarityRange{-1, 0, true}  // The light is at the height 1.
              : similarity_range(info->similarity, u, {part.left, part.right, part.high});
      const Window window = fitted_window(scene, model);
      const ModelView view(model, window, {5, 5 + text_size + 4}, f.width - 10,
                           1.15 * (f.width - 10));
      const Point at = view.page(from_half_plane(v.x(), v.y()));
      const auto place = static_cast<std::size_t>(
          255 * std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0));
      const Colour wanted = heat_colours(ColourMap::sequential, {250, 250, 250, 255}, false)[place];
      const Colour found = heat_at(list, at);
      EXPECT_NEAR(found.r, wanted.r, 6);
      EXPECT_NEAR(found.g, wanted.g, 6);
      EXPECT_NEAR(found.b, wanted.b, 6);
    }
  }
}

}  // namespace
}  // namespace conelab::figure
