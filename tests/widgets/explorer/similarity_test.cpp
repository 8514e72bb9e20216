// Which similarity the explorer shows: its heat, its level lines and its numbers.
#include <gtest/gtest.h>

#include <QComboBox>
#include <cmath>

#include "core/base/random.h"
#include "core/operators/operator.h"
#include "tests/widgets/explorer/shown_explorer.h"
#include "widgets/explorer/heat_field.h"

namespace conelab::desktop {
namespace {

/// The logits of the engine for one query and several keys that are points of the half-plane.
std::vector<double> logits_of(Call call, const std::array<double, 2>& u,
                              const std::vector<PlanePoint>& keys) {
  const auto n = static_cast<std::int64_t>(keys.size());
  AttentionInput<double> input;
  Tensor4<double> points({1, 1, n, 2});
  for (std::int64_t i = 0; i < n; ++i) {
    points.at(0, 0, i, 0) = keys[static_cast<std::size_t>(i)].x;
    points.at(0, 0, i, 1) = keys[static_cast<std::size_t>(i)].y;
  }
  input.query = {u.data(), {1, 1, 1, 2}, {}};
  input.key = input.value = std::move(points);
  call.map = "none";
  const auto plan = resolve(call, check_extents(input));
  std::vector<double> logits(keys.size());
  PairMap<double>(*plan, input).tile(Map2d::logits, nullptr, {0, 0, 0, 1, 0, n}, logits.data());
  return logits;
}

/// Points below a light of height 1, near the boundary too.
std::vector<PlanePoint> random_points() {
  Random random(7);
  std::vector<PlanePoint> points;
  for (int i = 0; i < 500; ++i) {
    points.push_back({2 * random.normal(), std::pow(random.uniform(), 3) * 0.999 + 1e-6});
  }
  return points;
}

TEST(HeatField, OtherSimilaritiesAreTheLogitsOfTheEngine) {
  const std::vector<PlanePoint> points = random_points();
  for (const char* name : {"dot", "laplacian", "hyperbolic"}) {
    ConeChoice choice;
    choice.similarity = name;
    Call call = plain_call(name);
    if (choice.similarity == "hyperbolic") call.parameters["model"] = "halfspace";
    const std::vector<double> logits = logits_of(call, choice.u, points);
    const auto field = heat_field(choice, cone_scene(choice));
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(field.at({points[i].x, points[i].y}).similarity, logits[i],
                  1e-12 * (1 + std::abs(logits[i])))
          << name << " at " << points[i].x << ", " << points[i].y;
    }
    // The readout of u and v.
    choice.v = {points[3].x, points[3].y};
    EXPECT_NEAR(cone_scene(choice).other.value(), logits[3], 1e-12 * (1 + std::abs(logits[3])));
  }
}

TEST(HeatField, BothDepthsAreTheLogitsOfTheEngine) {
  const std::vector<PlanePoint> points = random_points();
  for (const char* family : {"penumbral", "umbral"}) {
    for (const char* depth : cone_depths) {
      ConeChoice choice;
      choice.family = family;
      choice.depth = depth;
      Call call = plain_call(family);
      call.parameters["depth"] = depth;
      const std::vector<double> logits = logits_of(call, choice.u, points);
      const auto field = heat_field(choice, cone_scene(choice));
      for (std::size_t i = 0; i < points.size(); ++i) {
        choice.v = {points[i].x, points[i].y};
        const double tolerance = 1e-9 * (1 + std::abs(logits[i]));
        EXPECT_NEAR(field.at({points[i].x, points[i].y}).similarity, logits[i], tolerance)
            << family << depth;
        EXPECT_NEAR(cone_scene(choice).similarity, logits[i], tolerance) << family << depth;
      }
    }
  }
}

// Every pixel of a level line has the value of its line, in every flat model.
TEST(ConePicture, LevelLinesOfOtherSimilaritiesAreAtRoundValues) {
  for (const char* name : {"dot", "laplacian", "hyperbolic"}) {
    for (const geometry::Model model : {geometry::Model::halfspace, geometry::Model::ball,
                                        geometry::Model::klein, geometry::Model::band}) {
      ConeChoice choice;
      choice.similarity = name;
      choice.model = geometry::model_name(model);
      const ConeScene scene = cone_scene(choice);
      const PlaneFrame frame(model, {0.2, -0.3}, 640, 480);
      const figure::SimilarityRange range = heat_range(choice, scene, plane_part(frame));
      const double step = figure::round_level_step(range.low, range.high, most_level_lines);
      const auto field = heat_field(choice, scene);
      int lines = 0;
      for (const InkStroke& stroke : cone_picture(choice, scene, frame).strokes) {
        if (stroke.ink != Ink::level) continue;
        ++lines;
        for (const Line& piece : stroke.pieces) {
          for (const figure::Point& p : piece) {
            const auto here = frame.plane(p.x, p.y), beside = frame.plane(p.x + 0.3, p.y + 0.3);
            if (!here || !beside || here->y < 1e-3) continue;
            const double value = field.at({here->x, here->y}).similarity;
            const double pixel = std::abs(field.at({beside->x, beside->y}).similarity - value);
            EXPECT_NEAR(value, std::round(value / step) * step, 1e-3 * step + 2 * pixel)
                << name << " in " << choice.model;
          }
        }
      }
      EXPECT_GE(lines, 4) << name << " in " << choice.model;
    }
  }
}

QString row_of(const ExplorerView& view, const QString& name) {
  for (const QString& line : view.readout().split('\n')) {
    if (line.startsWith(name + ": ")) return line.mid(name.size() + 2);
  }
  return {};
}

TEST(Explorer, TheSimilarityOfTheHeatIsChosenReadAndUndone) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto* box = shown.view.findChild<QComboBox*>("explorer-heat");
  const auto colour = [&] {
    EXPECT_TRUE(wait_for([&] { return shown.viewport.heat_step() == 2; }));
    const QImage picture = shown.viewport.picture();
    return picture.pixelColor(picture.width() - 30, picture.height() - 60).name().toStdString();
  };
  const ConeChoice before = shown.document.session().cones;
  const std::string cones = colour();
  EXPECT_EQ(row_of(shown.view, "dot(u, v)"), "");
  box->setFocus();
  press_key(*box, Qt::Key_Down);
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.similarity == "dot"; }));
  pump(100);
  EXPECT_NEAR(row_of(shown.view, "dot(u, v)").toDouble(),
              (-0.35 * 0.45 + 0.35 * 0.2) / std::sqrt(2), 1e-12);
  const std::string dot = colour();
  EXPECT_NE(dot, cones);
  press_key(*box, Qt::Key_Down);
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.similarity == "laplacian"; }));
  pump(100);
  EXPECT_NEAR(row_of(shown.view, "laplacian(u, v)").toDouble(), -std::hypot(0.8, 0.15), 1e-12);
  EXPECT_NE(colour(), dot);
  shown.document.undo();
  shown.document.undo();
  EXPECT_TRUE(shown.document.session().cones == before);
  EXPECT_EQ(box->currentIndex(), 0);
}

TEST(Explorer, NoHeatIsChosenWhereNoneIsDrawn) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  const auto* box = shown.view.findChild<QComboBox*>("explorer-heat");
  for (const char* model : cone_models) {
    shown.document.edit("look", [&](Session& s) { s.cones.model = model; });
    const bool drawn = std::string(model) != "space";
    EXPECT_EQ(box->isEnabled(), drawn) << model;
    EXPECT_EQ(box->toolTip().startsWith("No heat is drawn in H³"), !drawn) << model;
  }
}

TEST(Explorer, TheDepthIsChosenReadAndUndone) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto* box = shown.view.findChild<QComboBox*>("explorer-depth");
  const double height = -shown.viewport.scene().similarity;
  box->setFocus();
  press_key(*box, Qt::Key_Down);
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.depth == "distance"; }));
  pump(100);
  EXPECT_NEAR(row_of(shown.view, "log K(u, v) by distance").toDouble(), -std::log(height), 1e-11);
  EXPECT_NE(cone_command(shown.viewport.choice()).at(5).find("depth=distance"), std::string::npos);
  EXPECT_EQ(cone_figure(shown.viewport.choice()).parameters.at("depth"), "distance");
  shown.document.undo();
  pump(100);
  EXPECT_NEAR(row_of(shown.view, "log K(u, v)").toDouble(), -height, 1e-11);
  // Finite families have a distance already.
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("ganea");
  EXPECT_FALSE(box->isEnabled());
}

}  // namespace
}  // namespace conelab::desktop
