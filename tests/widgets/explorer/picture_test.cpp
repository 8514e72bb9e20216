// The explorer's picture as numbers, without a window.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/cone_scene.h"
#include "widgets/explorer/explorer_viewport.h"
#include "widgets/explorer/heat_field.h"

namespace conelab::desktop {
namespace {

using geometry::Model;

const char* const picture_families[] = {"penumbral", "umbral", "penumbral-finite", "umbral-finite",
                                        "ganea"};

ConeChoice choice_of(const std::string& family) {
  ConeChoice choice;
  choice.family = family;
  choice.parameters = {{"radius", 0.4}, {"object_radius", 0.3}, {"K", 0.4}};  // Wide cones.
  for (auto* p : {&choice.u, &choice.v}) {
    const PlanePoint inside = into_domain(choice, {(*p)[0], (*p)[1]});
    *p = {inside.x, inside.y};
  }
  return choice;
}

TEST(HeatField, IsTheSimilarityThatAttentionReads) {
  Random random(3);
  for (const char* family : picture_families) {
    const ConeChoice choice = choice_of(family);
    const ConeScene scene = cone_scene(choice);
    ASSERT_EQ(scene.error, "");
    const auto field = heat_field(choice, scene);
    int extended = 0;
    for (int i = 0; i < 2000; ++i) {
      ConeChoice other = choice;
      const PlanePoint x =
          into_domain(choice, {2 * random.normal(), std::exp(1.5 * random.normal() - 1)});
      other.v = {x.x, x.y};
      const ConeScene expected = cone_scene(other);
      const auto value = field.at({x.x, x.y});
      extended += value.extended ? 1 : 0;
      EXPECT_EQ(value.extended, !expected.law.place.has_value()) << family;
      EXPECT_NEAR(value.similarity, expected.law.depth, 1e-9 * (1 + std::abs(expected.law.depth)))
          << family << " at " << x.x << ", " << x.y;
    }
    EXPECT_EQ(extended > 0, std::isfinite(scene.largest_shadow)) << family;
  }
}

TEST(HeatField, ColoursOfAFiniteFamilyEndAtTheLargestValueThereIs) {
  Random random(4);
  for (const char* family : {"penumbral-finite", "umbral-finite", "ganea"}) {
    const ConeChoice choice = choice_of(family);
    const ConeScene scene = cone_scene(choice);
    const auto field = heat_field(choice, scene);
    const figure::SimilarityRange range = heat_range(choice, scene, usual_part);
    EXPECT_DOUBLE_EQ(range.high, field.at({choice.u[0], choice.u[1]}).similarity) << family;
    for (int i = 0; i < 1000; ++i) {
      const PlanePoint x =
          into_domain(choice, {2 * random.normal(), std::exp(1.5 * random.normal() - 1)});
      EXPECT_LE(field.at({x.x, x.y}).similarity, range.high * (1 + 1e-9)) << family;
    }
  }
}

/// Every line of an ink, in pixels.
std::vector<figure::Point> points_of(const ConePicture& picture, Ink ink, double width) {
  std::vector<figure::Point> out;
  for (const InkStroke& s : picture.strokes) {
    if (s.ink != ink || s.width != width) continue;
    for (const Line& piece : s.pieces) out.insert(out.end(), piece.begin(), piece.end());
  }
  return out;
}

// The edge of the penumbral cone of u is the circle of radius h about u_x − √(h² − u_y²).
TEST(ConePicture, EdgesAreExactAtAMillionfoldZoom) {
  ConeChoice choice = choice_of("penumbral");
  const ConeScene scene = cone_scene(choice);
  const long double root = std::sqrt(1.0L - static_cast<long double>(choice.u[1]) * choice.u[1]);
  const long double centre = choice.u[0] - root;
  const double foot = static_cast<double>(centre + 1);
  for (const double depth : {1.0, 1e-3, 1e-6, 1e-9}) {
    const PlaneFrame frame(Model::halfspace, {foot, std::log(depth)}, 800, 600);
    const ConePicture picture = cone_picture(choice, scene, frame);
    const std::vector<figure::Point> edge = points_of(picture, Ink::u, 1.6);
    ASSERT_GT(edge.size(), 1U) << depth;
    const long double pixel = frame.unit() * frame.lambda();
    for (const figure::Point& p : edge) {
      const long double x = frame.x0() + (p.x - frame.origin().x) * pixel - centre;
      const long double y = (frame.origin().y - p.y) * pixel;
      if (x + centre < choice.u[0]) continue;  // The other edge.
      const long double off = (x * x + y * y - 1) / (2 * pixel);
      EXPECT_LT(std::abs(static_cast<double>(off)), 0.01) << depth << " at " << p.x << ", " << p.y;
    }
  }
}

// The chords of a line stay within a tenth of a pixel of the curve: between neighbours the circle
// bows by s²/8R.
TEST(ConePicture, LinesAreAsFineAsTheEyeNeeds) {
  const ConeChoice choice = choice_of("penumbral");
  const PlaneFrame frame(Model::halfspace, {0, 0}, 1200, 800);
  const ConePicture picture = cone_picture(choice, cone_scene(choice), frame);
  const double radius = 1 / frame.unit();
  std::size_t points = 0;
  for (const InkStroke& stroke : picture.strokes) {
    if (stroke.ink != Ink::u || stroke.width != 1.6) continue;
    for (const Line& edge : stroke.pieces) {
      points += edge.size();
      for (std::size_t i = 0; i + 1 < edge.size(); ++i) {
        const double s = std::hypot(edge[i + 1].x - edge[i].x, edge[i + 1].y - edge[i].y);
        EXPECT_LT(s * s / (8 * radius), 0.11);
      }
    }
  }
  EXPECT_GT(points, 20U);
  EXPECT_LT(points, 400U);
}

bool inside(const std::vector<Line>& contours, double x, double y) {
  bool in = false;
  for (const Line& line : contours) {
    for (std::size_t i = 0, j = line.size() - 1; i < line.size(); j = i++) {
      const figure::Point &a = line[i], &b = line[j];
      if ((a.y > y) != (b.y > y) && x < (b.x - a.x) * (y - a.y) / (b.y - a.y) + a.x) in = !in;
    }
  }
  return in;
}

// What is filled is what the law says, at random pixels, for every family in every model, with a
// camera that is not the usual one.
TEST(ConePicture, FillsHoldExactlyThePointsOfTheirRegions) {
  Random random(4);
  for (const char* family : picture_families) {
    for (const Model model : {Model::halfspace, Model::ball, Model::klein, Model::band}) {
      ConeChoice choice = choice_of(family);
      choice.model = geometry::model_name(model);
      const ConeScene scene = cone_scene(choice);
      const PlaneFrame frame(model, {0.2, -0.3}, 640, 480, {30, 50});
      const ConePicture picture = cone_picture(choice, scene, frame);
      const auto field = heat_field(choice, scene);
      int wrong = 0, members = 0;
      for (int i = 0; i < 20000; ++i) {
        const double px = 30 + 640 * random.uniform(), py = 50 + 480 * random.uniform();
        const auto x = frame.plane(px, py);
        if (!x) continue;
        const auto value = field.at({x->x, x->y});
        if (value.outside) continue;
        const auto base = [&](double axis) {
          const double d = std::abs(axis - value.place.axis);
          return scene.infinite ? d : std::min(d, 2 * M_PI - d);
        };
        const double in_u = scene.u.shadow - value.place.shadow - base(scene.u.axis);
        const double in_all =
            scene.lca ? value.place.shadow - scene.lca->shadow - base(scene.lca->axis) : -1;
        for (const Fill& fill : picture.fills) {
          const double form = fill.ink == Ink::u ? in_u : in_all;
          if ((fill.ink != Ink::u && fill.ink != Ink::ancestors) || std::abs(form) < 0.004)
            continue;
          members += form > 0;
          wrong += inside(fill.contours, px, py) != (form > 0);
        }
      }
      EXPECT_EQ(wrong, 0) << family << " in " << choice.model;
      EXPECT_GT(members, 30) << family << " in " << choice.model;
    }
  }
}

// Level lines thin out where they would lie closer than the eye can tell, and only there.
TEST(ConePicture, LevelLinesKeepApart) {
  for (const Model model : {Model::halfspace, Model::ball, Model::klein, Model::band}) {
    for (const double height : {0.35, 0.02, 0.002}) {
      ConeChoice choice;
      choice.family = "umbral";
      choice.model = geometry::model_name(model);
      choice.u = {-0.35, height};
      const PlaneFrame frame(model, {0, 0}, 800, 600);
      const ConePicture picture = cone_picture(choice, cone_scene(choice), frame);
      std::vector<const InkStroke*> levels;
      for (const InkStroke& s : picture.strokes) {
        if (s.ink == Ink::level) levels.push_back(&s);
      }
      EXPECT_EQ(levels.size(), 6U) << choice.model << " " << height;
      double nearest = 1e9;
      for (std::size_t i = 0; i < levels.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          for (const Line& a : levels[i]->pieces) {
            for (const Line& b : levels[j]->pieces) {
              for (const figure::Point& p : a) {
                for (const figure::Point& q : b) {
                  nearest = std::min(nearest, std::hypot(p.x - q.x, p.y - q.y));
                }
              }
            }
          }
        }
      }
      EXPECT_GT(nearest, 2.9) << choice.model << " " << height;
    }
  }
}

double length(const Line& line) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    sum += std::hypot(line[i + 1].x - line[i].x, line[i + 1].y - line[i].y);
  }
  return sum;
}

// A dashed line has no common ancestor: no part of another line is as short as a dash.
TEST(ConePicture, LevelLinesHaveNoPartsThatLookLikeDashes) {
  for (const Model model : {Model::halfspace, Model::ball, Model::klein, Model::band}) {
    for (const double size : {140, 210, 270, 700}) {
      ConeChoice choice;
      choice.family = "umbral";
      choice.model = geometry::model_name(model);
      const PlaneFrame frame(model, {0, model == Model::halfspace ? 1.3 : 0}, size, 0.8 * size);
      for (const InkStroke& s : cone_picture(choice, cone_scene(choice), frame).strokes) {
        if (s.ink != Ink::level || s.dashed || s.pieces.size() == 1) continue;
        for (const Line& piece : s.pieces) {
          EXPECT_GT(length(piece), 45) << choice.model << " of " << size;
        }
      }
    }
  }
}

// Also where u is near the border, or small in a window that holds a far LCA.
TEST(ConePicture, UmbralLevelLinesSpanTheWindow) {
  for (const double height : {0.35, 0.02, 0.002}) {
    for (const double scale : {0.0, 1.3}) {
      ConeChoice choice;
      choice.family = "umbral";
      choice.u = {-0.35, height};
      const PlaneFrame frame(Model::halfspace, {0, scale}, 800, 600);
      const ConePicture picture = cone_picture(choice, cone_scene(choice), frame);
      double all = 0, highest = 600;
      for (const InkStroke& s : picture.strokes) {
        if (s.ink != Ink::level) continue;
        for (const Line& piece : s.pieces) {
          all += length(piece);
          for (const figure::Point& p : piece) highest = std::min(highest, p.y);
        }
      }
      EXPECT_GT(all, 2000) << height << " at " << scale;
      EXPECT_LT(highest, 150) << height << " at " << scale;
    }
  }
}

// What lies outside of the ground is under an opaque fill: the heat layer is not drawn there.
TEST(ConePicture, TheGroundIsWhereTheHeatLayerIsSeen) {
  Random random(9);
  for (const char* family : picture_families) {
    for (const Model model : {Model::halfspace, Model::ball, Model::klein, Model::band}) {
      ConeChoice choice = choice_of(family);
      choice.model = geometry::model_name(model);
      const PlaneFrame frame(model, {0.2, -0.3}, 640, 480, {30, 50});
      const ConePicture picture = cone_picture(choice, cone_scene(choice), frame);
      for (int i = 0; i < 4000; ++i) {
        const double x = 30 + 640 * random.uniform(), y = 50 + 480 * random.uniform();
        if (inside({picture.ground}, x, y)) continue;
        EXPECT_TRUE(
            std::any_of(picture.fills.begin(), picture.fills.end(),
                        [&](const Fill& f) { return f.opacity == 1 && inside(f.contours, x, y); }))
            << family << " in " << choice.model << " at " << x << ", " << y;
      }
    }
  }
}

TEST(LabelPlaces, NamesLieOverNoNameAndNoPoint) {
  Random random(12);
  const figure::Box area{10, 20, 300, 200}, taken{10, 20, 120, 20};
  int placed = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<NamedPoint> points;
    for (int k = 0; k < 4; ++k) {
      const double near = i % 2 == 0 ? 30 : 300;  // Crowded, and not.
      points.push_back({{100 + near * random.uniform(), 100 + near * random.uniform()}, 7, 30, 15});
    }
    const auto names = place_names(points, area, {taken});
    for (std::size_t k = 0; k < 4; ++k) {
      if (!names[k]) continue;
      ++placed;
      EXPECT_TRUE(disjoint(*names[k], taken));
      EXPECT_GE(names[k]->y, area.y);
      EXPECT_LE(names[k]->right(), area.right());
      for (std::size_t j = 0; j < 4; ++j) {
        const figure::Box mark{points[j].at.x - 7, points[j].at.y - 7, 14, 14};
        EXPECT_TRUE(disjoint(*names[k], mark));
        EXPECT_TRUE(j == k || !names[j] || disjoint(*names[k], *names[j]));
      }
    }
  }
  EXPECT_GT(placed, 1000);
}

TEST(PlaneFrame, TheCameraCarriesAPointToThePixelInEveryModel) {
  for (const Model model : {Model::halfspace, Model::ball, Model::klein, Model::band}) {
    const PlaneFrame frame(model, {0.1, 0.2}, 640, 480, {20, 10});
    const auto camera = frame.with_point_at({0.4, 0.3}, 300, 200);
    ASSERT_TRUE(camera);
    const PlanePoint p = PlaneFrame(model, *camera, 640, 480, {20, 10}).page(PlanePoint{0.4, 0.3});
    EXPECT_NEAR(p.x, 300, 1e-9);
    EXPECT_NEAR(p.y, 200, 1e-9);
  }
}

TEST(Snap, KeepsToOtherPointsAndRoundNumbers) {
  ConeChoice choice;
  choice.u = {-0.35, 0.35}, choice.v = {0.45, 0.2};
  const PlaneFrame frame(Model::halfspace, {0, 0}, 800, 600);
  const PlanePoint level = snapped(choice, "u", {-0.1234, 0.204}, frame);
  EXPECT_EQ(level.y, 0.2);
  EXPECT_NEAR(level.x * 50, std::round(level.x * 50), 1e-9);
  EXPECT_EQ(snapped(choice, "u", {0.4471, 0.5}, frame).x, 0.45);
}

}  // namespace
}  // namespace conelab::desktop
