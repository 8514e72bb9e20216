#include "core/source/figure_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/figure/scaling.h"
#include "core/jobs/job_table.h"
#include "core/source/trials_figure.h"
#include "core/source/winners_figure.h"
#include "tests/core/figure/figure_checks.h"
#include "tests/helpers/errors.h"

namespace conelab::figure {
namespace {

TEST(FigureTable, NamesAndKeysAreDistinctAndDescribed) {
  std::set<std::string> names;
  for (const FigureInfo& info : figure_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(&figure_named(info.name), &info);
    EXPECT_NO_THROW((void)width_in_points(info.width));
    for (const std::string& job : info.source.results) {
      EXPECT_EQ(job_named(job).name, job);
      EXPECT_NE(figure_of_results(job), nullptr);
    }
    std::set<std::string> keys;
    for (const FigureKey& key : info.keys) {
      EXPECT_TRUE(keys.insert(key.key).second) << key.key;
      EXPECT_NE(std::string(key.about), "");
    }
  }
  EXPECT_THROW((void)figure_named("heatmaps"), Error);
}

TEST(FigureTable, UnknownKeysAreNamedWithTheKnown) {
  const Error error = fixtures::error_of([] {
    check_keys(figure_named("cones"), {{"hight", "1"}});
  });
  EXPECT_NE(std::string(error.what()).find("height"), std::string::npos) << error.what();
  EXPECT_EQ(error.exit_status(), 2);
}

MeasuredCase measured(const char* operation, std::int64_t length) {
  MeasuredCase c;
  c.labels = {{"operator", operation}, {"seq_len", std::to_string(length)}};
  const auto n = static_cast<double>(length);
  c.flops = 4e3 * n, c.bytes = 1e3 * n, c.peak_flops = 1e11, c.bandwidth = 1e10;
  c.time = 1e-9 * n * n, c.time_low = 0.9 * c.time, c.time_high = 1.1 * c.time;
  c.samples.assign(9, c.time);
  return c;
}

HeatmapPanel map_of(const char* title, double first) {
  HeatmapPanel panel;
  panel.title = title;
  panel.rows = panel.cols = 2;
  panel.values = {first, 1 - first, 0.25, 0.75};
  return panel;
}

/// A tree of three tokens: the first two join below the third, which is above both.
std::shared_ptr<const tree::HeadTree> small_tree() {
  auto head = std::make_shared<tree::HeadTree>();
  head->size = 3;
  head->heights = true;
  head->depth = {-1, -2, -4, -2, -1, -4, -4, -4, -3};
  head->common.assign(9, 1);
  head->order =
      tree::AncestorOrder{3, {0, 0, 0, 0, 0, 0, 1, 1, 0}, {0, 0, 0, 0, 0, 0, 1, 1, 0}, {0, 1, 2}};
  head->dendrogram = tree::merge_by_depth(head->depth, 3);
  head->segmentation = tree::segmentation(std::vector<double>(9, 1.0 / 3), 3);
  head->placed = tree::HeadElements{geometry::cone_system("penumbral"), {}};
  for (const auto& [axis, height] : {std::pair(0.3, 0.2), {-0.4, 0.25}, {0.0, 0.7}}) {
    head->placed->elements.push_back(
        geometry::element_at(head->placed->system, geometry::Vector::Constant(1, axis), height));
  }
  head->ancestors = tree::merge_ancestors(*head->placed, head->dendrogram);
  return head;
}

/// An example of what the sources hold.
FigureInput example(const FigureInfo& info) {
  FigureInput input;
  input.info = &info;
  input.panels = {map_of("dot", 0.5), map_of("penumbral", 0.25)};
  input.head_rows = {"layer0", "layer1"};
  for (std::size_t i = 0; i < 4; ++i) {
    input.heads.push_back({i / 2, i % 2, map_of("dot", 0.1 + 0.2 * static_cast<double>(i)), {}});
    input.heads.back().scores.entropy = 0.5 + static_cast<double>(i);
  }
  for (const char* name : {"dot", "umbral"}) {
    for (const std::int64_t n : {64, 128, 256}) input.cases.push_back(measured(name, n));
  }
  input.caption = "layer0, head 0";
  input.tree = small_tree();
  input.tokens = {"fir", "oak", "tree"};
  input.cone = "penumbral";
  if (info.name == std::string("trials")) {
    input.own = std::vector<TrialValues>{{"dot", "map", false, {0.3, 0.5, 0.4}},
                                         {"umbral", "map", false, {0.2, 0.7, 0.6}}};
  }
  if (info.name == std::string("training")) {
    ScalingSeries curve;
    curve.name = "umbral/seed1", curve.x = {10, 20, 40}, curve.y = {4, 3, 2.5};
    input.own = std::vector<ScalingSeries>{curve};
  }
  if (info.name == std::string("winners")) {
    input.own = HeadsByHierarchy{
        "mass",
        {"15 nodes"},
        {"d = 2"},
        {"dot", "umbral"},
        {{{"15 nodes", "d = 2"},
          {{"dot", {{"1", 0.5}, {"2", 0.6}}}, {"umbral", {{"1", 0.7}, {"2", 0.8}}}}}}};
  }
  return input;
}

/// Every figure of the table, on an example of its source: a new one is tested on arrival.
TEST(FigureTable, EveryFigureIsDrawnWithItsDefaults) {
  for (const FigureInfo& info : figure_table()) {
    SCOPED_TRACE(info.name);
    FigureInput input = example(info);
    const auto draw = [&] {
      try {
        return info.make(input);
      } catch (const std::bad_any_cast&) {
        throw std::logic_error("`example` above has nothing for this figure's source: add a line");
      }
    };
    const DisplayList plain = draw();
    EXPECT_FALSE(plain.items.empty());
    EXPECT_EQ(plain.width, width_in_points(info.width)) << "the width that the table names";
    EXPECT_NE(plain.metadata.description, "");
    expect_good_figure(plain);
    for (const FigureKey& key : info.keys) {
      if (*key.initial != '\0') input.parameters[key.key] = key.initial;
    }
    check_keys(info, input.parameters);
    // A default that is written out may choose among the cases, but draws the same.
    EXPECT_EQ(dump(info.make(input)), dump(plain));
  }
}

TEST(FigureTable, EveryChoiceOfAKeyIsDrawn) {
  for (const FigureInfo& info : figure_table()) {
    for (const FigureKey& key : info.keys) {
      if (key.data || key.key == std::string("points")) continue;  // Both speak of other values.
      std::string word;
      for (std::istringstream words(key.choices); std::getline(words, word, '|');) {
        SCOPED_TRACE(std::string(info.name) + " -p " + key.key + "=" + word);
        FigureInput input = example(info);
        input.parameters[key.key] = word;
        EXPECT_NO_THROW(EXPECT_FALSE(info.make(input).items.empty()));
      }
    }
  }
}

/// A figure names the key of a number that is too large or too small to be drawn, or the unknown
/// word.
TEST(FigureTable, ExtremeNumbersAreDrawnOrRefusedByName) {
  for (const FigureInfo& info : figure_table()) {
    for (const FigureKey& key : info.keys) {
      const std::string name = key.key;
      if (!key.choices.empty() || name == "caption") continue;
      for (const char* number : {"0", "1e-300", "1e300", "-1e300", "1e308", "4000000000", "inf"}) {
        for (const char* form : {"{}", "{},0.2", "0,{}", "{},0.2=w", "0,{}=w"}) {
          FigureInput input = example(info);
          input.parameters[name] = fmt::format(fmt::runtime(form), number);
          SCOPED_TRACE(std::string(info.name) + " -p " + name + "=" + input.parameters[name]);
          const std::string said = fixtures::misuse_of([&] { validate(info.make(input)); });
          EXPECT_TRUE(said.empty() || said.starts_with("unknown") || said.find(name) != said.npos)
              << said;
        }
      }
    }
  }
}

TEST(FigureTable, EveryKeyHasItsEffectOnTheFrame) {
  for (const FigureInfo& info : figure_table()) {
    FigureInput input = example(info);
    input.width = 300;
    input.metadata.spec = "the command";
    input.parameters["caption"] = "as it was asked for";
    const DisplayList list = info.make(input);
    EXPECT_EQ(list.width, 300) << info.name;
    EXPECT_EQ(list.metadata.spec, "the command") << info.name;
    EXPECT_NE(list.metadata.description.find("as it was asked for"), std::string::npos)
        << info.name << ": " << list.metadata.description;
  }
}

TEST(FigureTable, ValuesOfWholeNumbersAreChecked) {
  for (const FigureInfo& info : figure_table()) {
    for (const FigureKey& key : info.keys) {
      for (const char* wrong : {"-1", "1.5", "x", ""}) {
        if (!key.whole) continue;
        EXPECT_THROW(check_keys(info, {{key.key, wrong}}), Error) << info.name << " " << key.key;
      }
    }
  }
}

TEST(FigureTable, OnlyTheChoicesOfAKeyAreTaken) {
  for (const FigureInfo& info : figure_table()) {
    for (const FigureKey& key : info.keys) {
      if (key.choices.empty()) continue;
      for (const std::string& wrong : {std::string("maybe"), key.choices, std::string()}) {
        if (wrong == key.initial) continue;
        EXPECT_THROW(check_keys(info, {{key.key, wrong}}), Error) << info.name << " " << key.key;
      }
      EXPECT_NO_THROW(check_keys(info, {{key.key, key.initial}})) << info.name << " " << key.key;
      const std::string last = key.choices.substr(key.choices.rfind('|') + 1);
      EXPECT_NO_THROW(check_keys(info, {{key.key, last}})) << info.name << " " << key.key;
    }
  }
}

TEST(FigureTable, ValuesAreRead) {
  ConesFigure cones;
  set_parameters({{"cone", "umbral"}, {"u", "-0.3,0.2"}, {"radius", "0.25"}, {"ancestors", "no"}},
                 cones);
  EXPECT_EQ(cones.cone, "umbral");
  EXPECT_EQ(*cones.u, geometry::Vector(Eigen::Vector2d(-0.3, 0.2)));
  EXPECT_EQ(cones.parameters.at("radius"), 0.25);
  EXPECT_FALSE(cones.ancestors);
  set_parameters({{"cone", "ganea"},
                  {"K", "0.2"},
                  {"v", "0,0"},
                  {"points", "ball"},
                  {"model", "klein"},
                  {"levels", "3"},
                  {"source", "0.1,0.2"}},
                 cones = {});
  EXPECT_EQ(*cones.v, geometry::Vector(Eigen::Vector2d(0, 1)));
  EXPECT_EQ(cones.model, geometry::Model::klein);
  EXPECT_EQ(cones.levels, 3);
  HeatmapFigure heat;
  set_parameters(
      {{"scale", "log"}, {"limits", "own"}, {"low", "1e-3"}, {"high", "1"}, {"head", "3"}}, heat);
  EXPECT_EQ(heat.scale, HeatScale::log);
  EXPECT_FALSE(heat.shared_limits);
  EXPECT_EQ(heat.limits.low, 1e-3);
  ScalingFigure scaling;
  set_parameters({{"guide", "none"}, {"ratio", "yes"}}, scaling);
  EXPECT_TRUE(scaling.guides.empty());
  EXPECT_TRUE(scaling.ratio_panel);
}

TEST(FigureTable, AModelOfPointsThatAreNotGivenIsMisuse) {
  ConesFigure cones;
  EXPECT_THROW(set_parameters({{"points", "ball"}}, cones), Error);
  EXPECT_NO_THROW(set_parameters({{"points", "halfspace"}}, cones));  // the default, written out
  for (const char* point : {"u", "v", "source"}) {
    cones = {};
    EXPECT_NO_THROW(set_parameters({{"points", "ball"}, {point, "0,0"}}, cones)) << point;
  }
}

TEST(FigureTable, ValuesThatDoNotReadAreMisuse) {
  ConesFigure cones;
  for (const Parameters& bad : std::vector<Parameters>{{{"u", "1"}},
                                                       {{"u", "1,"}},
                                                       {{"u", "a,b"}},
                                                       {{"cone", "conical"}},
                                                       {{"levels", "1.5"}},
                                                       {{"model", "disk"}},
                                                       {{"radius", "1"}},
                                                       {{"u", "1,2,3"}},
                                                       {{"height", "1x"}}}) {
    EXPECT_THROW(set_parameters(bad, cones), Error) << bad.begin()->second;
  }
  HeatmapFigure heat;
  EXPECT_THROW(set_parameters({{"low", "1"}}, heat), Error);
  EXPECT_THROW(set_parameters({{"low", "1"}, {"high", "0"}}, heat), Error);
  EXPECT_THROW(set_parameters({{"scale", "sqrt"}}, heat), Error);
}

RooflineFigure roof() {
  RooflineFigure f;
  f.peaks = {{"FMA", 1e11}, {"exp", 1.2e10}};
  f.bandwidths = {{"DRAM", 2e10}, {"L2", 1.5e11}};
  f.points = {{"dot", 16, 6e10, 5.5e10, 6.2e10},
              {"penumbral", 16, 4.4e10},
              {"umbral", 15, 4.6e10},
              {"laplacian", 15, 4.5e10},
              {"agglomerative", 0.9, 8e9}};
  return f;
}

TEST(Roofline, LabelsKeepApart) {
  expect_good_figure(draw_roofline(roof()));
  RooflineFigure wide = roof();
  wide.width = double_column;
  expect_good_figure(draw_roofline(wide));
}

TEST(Roofline, NamesItsRoofInFullInAColumn) {
  RooflineFigure f;
  f.peaks = {{"multiply-add", 1.02e11}};
  f.points = {{"penumbral, n = 16384", 4000, 7e10}, {"laplacian, n = 8192", 2000, 8e10}};
  for (const double width : {single_column, double_column}) {
    f.width = width;
    bool named = false;
    for (const TextItem& item : texts(draw_roofline(f))) {
      named = named || plain(item.runs) == "multiply-add: 102 GFLOP/s";
    }
    EXPECT_TRUE(named) << width;
  }
}

TEST(Roofline, NumbersWithoutRoomStandInTheCaption) {
  RooflineFigure f;
  f.peaks = {{"multiply-add", 1.16e11}}, f.bandwidths = {{"memory", 2.12e10}};
  f.points = {{"penumbral, gamma = 2, window = 64, causal", 60, 7e10, 6e10, 7.2e10},
              {"penumbral, gamma = 2, window = 128, causal", 15, 2e10}};
  const DisplayList narrow = draw_roofline(f);
  expect_good_figure(narrow);
  std::string all;
  for (const TextItem& item : texts(narrow)) all += plain(item.runs) + "|";
  EXPECT_EQ(all.find("…"), std::string::npos) << all;
  EXPECT_NE(all.find("|multiply-add|"), std::string::npos) << all;
  EXPECT_NE(narrow.metadata.description.find("multiply-add: 116 GFLOP/s"), std::string::npos);
  f.width = double_column;
  EXPECT_EQ(draw_roofline(f).metadata.description.find("multiply-add"), std::string::npos);
}

TEST(Roofline, SaysWhatItsBarsAre) {
  RooflineFigure f;
  f.points = {{"dot", 16, 6e10, 5e10, 7e10}};
  f.coverage = 0.9;
  EXPECT_EQ(draw_roofline(f).metadata.description, "Medians; vertical bars: 90 % intervals");
  f.points = {{"dot", 16, 6e10}};
  EXPECT_EQ(draw_roofline(f).metadata.description, "");
}

TEST(Roofline, SaysWhereItsSlopeIsMissing) {
  const auto says = [](const RooflineFigure& f) {
    return draw_roofline(f).metadata.description.find("the roof has no slope") != std::string::npos;
  };
  RooflineFigure f;
  f.points = {{"dot", 16, 6e10}};
  EXPECT_FALSE(says(f));
  f.peaks = {{"multiply-add", 1e11}};
  EXPECT_TRUE(says(f));
  f.bandwidths = {{"DRAM", 2e10}};
  EXPECT_FALSE(says(f));
}

TEST(Roofline, NamesOfCeilingsLieOverNoPoint) {
  RooflineFigure f;
  f.peaks = {{"multiply-add", 7.6e10, false}};
  f.points = {{"dot", 1000, 8.1e10}, {"umbral", 1000, 7e10}};
  const DisplayList list = draw_roofline(f);
  bool told = false;
  for (const TextItem& item : texts(list)) {
    const bool name = plain(item.runs).find("multiply-add: 76 GFLOP/s") != std::string::npos;
    told = told || name;
    for (const PlacedPoint& p : roofline_places(f)) {
      EXPECT_FALSE(name && bounds(text_quad(item)).contains(p.at));
    }
  }
  EXPECT_TRUE(told);
}

TEST(Roofline, OnlyATrustedPeakIsARoof) {
  RooflineFigure f;
  f.points = {{"dot", 16, 6e10}};
  const auto roofs = [&](bool trusted) {
    f.peaks = {{"FMA", 5e10, trusted}};
    std::size_t solid = 0;
    for (const Item& item : draw_roofline(f).items) {
      const auto* path = std::get_if<PathItem>(&item);
      solid += path != nullptr && path->paint.stroke.width == 1.2 ? 1 : 0;
    }
    return solid;
  };
  EXPECT_EQ(roofs(true), 1u);
  EXPECT_EQ(roofs(false), 0u);
}

TEST(Roofline, RoofBendsAtTheRidge) {
  RooflineFigure f;
  f.peaks = {{"FMA", 1e11}}, f.bandwidths = {{"DRAM", 1e10}};
  std::vector<Point> corners;
  for (const Item& item : draw_roofline(f).items) {
    const auto* path = std::get_if<PathItem>(&item);
    if (path != nullptr && path->paint.stroke.width == 1.2) {
      const bool peak = corners.empty();  // The peak begins at the ridge, the memory ends there.
      corners.push_back(peak ? std::get<MoveTo>(path->path.segments.front()).to
                             : std::get<LineTo>(path->path.segments.back()).to);
    }
  }
  ASSERT_EQ(corners.size(), 2u);
  EXPECT_NEAR(corners[0].x, corners[1].x, 1e-9);
  EXPECT_NEAR(corners[0].y, corners[1].y, 1e-9);
}

TEST(Roofline, NamesItsRidgeWhereTheRoofIsTrusted) {
  const auto names = [](const RooflineFigure& f, const std::string& name) {
    const std::vector<TextItem> all = texts(draw_roofline(f));
    return std::any_of(all.begin(), all.end(),
                       [&](const TextItem& item) { return plain(item.runs) == name; });
  };
  const auto names_ridge = [&](const RooflineFigure& f) { return names(f, "ridge: 10 FLOP/byte"); };
  for (const double width : {single_column, double_column}) {
    RooflineFigure f;
    f.width = width;
    f.points = {{"dot", 1024, 6e10}, {"umbral", 1024, 4e10}};
    f.peaks = {{"FMA", 1e11}}, f.bandwidths = {{"DRAM", 1e10}};
    expect_good_figure(draw_roofline(f));
    EXPECT_TRUE(names_ridge(f));
    EXPECT_TRUE(names(f, "DRAM: 10 GB/s"));
    f.peaks.front().trusted = false;
    EXPECT_FALSE(names_ridge(f));
    f.peaks.clear();
    EXPECT_FALSE(names_ridge(f));
  }
}

TEST(Roofline, ExtremeInputsAreDrawn) {
  expect_good_figure(draw_roofline({}));
  RooflineFigure f;
  f.points = {
      {"zero", 0, 1}, {"nan", NAN, 1}, {"tiny", 1e-12, 1e-12}, {"huge", 1e12, 1e12, NAN, INFINITY}};
  expect_good_figure(draw_roofline(f));
  f.peaks = {{"", INFINITY}, {"中😀", 1e300}, {std::string(300, 'p'), 5}};
  expect_good_figure(draw_roofline(f));
}

}  // namespace
}  // namespace conelab::figure
