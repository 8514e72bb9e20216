// What one file sets is not there for the next one, in whatever order files and layers are opened.
#include "widgets/session/brought.h"

#include <gtest/gtest.h>

#include <QFile>

#include "tests/widgets/model_file.h"
#include "tests/widgets/work.h"

namespace conelab::desktop {
namespace {

/// Traces of one size: without an operator of their own, and trained under several.
struct Traces {
  QTemporaryDir folder;
  std::vector<std::string> files;

  Traces() {
    using All = std::vector<Attributes>;
    const auto of = [](const char* similarity, Attributes values) {
      values.emplace_back("similarity", std::string(similarity));
      return values;
    };
    write("plain.h5", {});
    write("other.h5", {});
    write("umbral.h5",
          All{of("umbral", {{"radius", 1.25}, {"gamma", 10.15}}), of("umbral", {{"radius", 2.5}})});
    write("dot.h5", All{of("dot", {{"scale", 3.0}}), of("penumbral", {{"gamma", 40.0}})});
  }
  void write(const char* name, const std::vector<Attributes>& attributes) {
    const ModelShape shape{.layers = 2, .heads = 1, .tokens = 6, .features = 4};
    files.push_back(write_model(folder, shape, name, files.size() + 1, attributes));
  }
};

/// What the session would compute with, whatever was open before.
struct Shown {
  std::vector<Call> calls;
  int reference;
  std::string family, scale;
  bool operator==(const Shown&) const = default;
};
Shown shown(const Work& work) {
  const Session& s = work.document.session();
  return {s.maps.calls, s.maps.reference, s.cones.family, s.maps.scale};
}

std::vector<std::pair<std::string, std::string>> layers(const Traces& traces) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& file : traces.files) {
    for (const char* group : {"/layer0", "/layer1"}) all.emplace_back(file, group);
  }
  return all;
}

void open(Work& work, const std::pair<std::string, std::string>& layer) {
  const bool same = work.workspace.trace() && work.workspace.trace()->file == layer.first;
  same ? work.workspace.open_group(layer.second)
       : work.workspace.open(QString::fromStdString(layer.first),
                             QString::fromStdString(layer.second));
  EXPECT_TRUE(wait_for([&] {
    const auto& trace = work.workspace.trace();
    return trace && trace->file == layer.first && trace->group == layer.second &&
           !work.workspace.loading();
  }));
}

Value value_of(const Work& work, const std::string& key) {
  const auto& values = work.document.session().maps.calls.front().parameters;
  const auto found = values.find(key);
  return found == values.end() ? Value("default") : found->second;
}

void type(Work& work, const char* key, const char* value) {
  work.document.edit("type", [&](Session& s) { s.maps.calls.front().parameters[key] = value; });
}

TEST(Brought, EveryOrderOfLayersShowsEachAsIfItWereTheFirst) {
  const Traces traces;
  const auto all = layers(traces);
  std::vector<Shown> alone;
  for (const auto& layer : all) {
    Work work;
    open(work, layer);
    alone.push_back(shown(work));
  }
  EXPECT_EQ(alone[0].calls, MapChoice().calls);
  EXPECT_EQ(call_text(alone[4].calls.front()), "umbral:gamma=10.15:radius=1.25");
  EXPECT_EQ(alone[4].scale, "row");
  for (std::size_t first = 0; first < all.size(); ++first) {
    Work work;
    open(work, all[first]);
    for (std::size_t next = 0; next < all.size(); ++next) {
      for (const std::size_t at : {next, first, next}) {
        open(work, all[at]);
        EXPECT_EQ(shown(work), alone[at]) << first << " " << next << " " << at;
      }
    }
  }
}

TEST(Brought, WhatTheUserTypedStays) {
  const Traces traces;
  Work work;
  open(work, {traces.files[2], "/layer0"});
  type(work, "gamma", "0.5");
  open(work, {traces.files[2], "/layer1"});
  EXPECT_EQ(value_of(work, "radius").text(), "2.5");
  EXPECT_EQ(value_of(work, "gamma").text(), "0.5");
  open(work, {traces.files[0], "/layer0"});
  EXPECT_EQ(work.document.session().maps.calls.front().similarity, "umbral");
  EXPECT_EQ(value_of(work, "radius").text(), "default");
  EXPECT_EQ(value_of(work, "gamma").text(), "0.5");
  EXPECT_TRUE(work.document.session().maps.brought.empty());
}

TEST(Brought, OperatorsAndTheReferenceOfTheUserReturn) {
  const Traces traces;
  Work work;
  open(work, {traces.files[0], "/layer0"});
  const Shown before{{call_from_text("ganea:K=0.2"), call_from_text("dot")}, 1, "ganea", "log"};
  work.document.edit("choose", [&](Session& s) {
    s.maps.calls = before.calls, s.maps.reference = 1, s.cones.family = "ganea";
    s.maps.scale = "log";
  });
  open(work, {traces.files[2], "/layer0"});
  EXPECT_EQ(shown(work).family, "umbral");
  open(work, {traces.files[3], "/layer1"});
  open(work, {traces.files[1], "/layer0"});
  EXPECT_EQ(shown(work), before);
}

TEST(Brought, UndoLeadsBackToTheValuesOfTheFileWithTheirOrigin) {
  const Traces traces;
  Work work;
  open(work, {traces.files[2], "/layer0"});
  const Session trained = work.document.session();
  open(work, {traces.files[0], "/layer0"});
  work.document.undo();
  EXPECT_EQ(work.document.session(), trained);
  EXPECT_TRUE(wait_for([&] { return work.workspace.trace()->file == traces.files[2]; }));
  EXPECT_EQ(work.document.session(), trained);
  work.document.redo();
  EXPECT_TRUE(wait_for([&] { return work.workspace.trace()->file == traces.files[0]; }));
  EXPECT_EQ(shown(work).calls, MapChoice().calls);
}

TEST(Brought, AFileThatTrainingWritesAgainBringsItsNewValues) {
  Traces traces;
  Work work;
  open(work, {traces.files[2], "/layer0"});
  traces.write("umbral.h5", {{{"similarity", std::string("umbral")}, {"gamma", 12.5}}});
  EXPECT_TRUE(wait_for([&] { return value_of(work, "gamma").text() == "12.5"; }));
  EXPECT_EQ(value_of(work, "radius").text(), "default");
}

TEST(Brought, ALayerThatIsNamedWithoutBeingOpenedBringsItsOperatorInTheSameStep) {
  const Traces traces;
  Work work;
  open(work, {traces.files[3], "/layer0"});
  const Session before = work.document.session();
  work.document.edit(
      "click among all heads", [](Session& s) { s.trace.group = "/layer1"; }, open_layer_step);
  EXPECT_TRUE(wait_for([&] { return shown(work).calls.front().similarity == "penumbral"; }));
  work.document.undo();
  EXPECT_EQ(work.document.session(), before);
}

TEST(Brought, AValueInThePlaneOfTheTokensGoesToo) {
  const Traces traces;
  Work work;
  open(work, {traces.files[2], "/layer0"});
  work.document.edit("drag a point", [](Session& s) {
    s.cones.parameters = {{"radius", 1.25}, {"height", 3}};
  });
  open(work, {traces.files[0], "/layer0"});
  EXPECT_EQ(work.document.session().cones.parameters,
            (std::map<std::string, double>{{"height", 3}}));
}

TEST(Brought, TheSessionKnowsWhereAValueComesFrom) {
  const Traces traces;
  Work work;
  open(work, {traces.files[2], "/layer0"});
  const MapChoice brought = work.document.session().maps;
  EXPECT_EQ(origin_of(brought, brought.calls.front()),
            (Origin{traces.files[2], {"gamma", "radius"}, true}));
  type(work, "gamma", "7");
  const MapChoice typed = work.document.session().maps;
  EXPECT_EQ(origin_of(typed, typed.calls.front()), (Origin{traces.files[2], {"radius"}, false}));
  EXPECT_EQ(call_text(without_brought(typed, typed.calls.front())), "umbral:gamma=7");
  EXPECT_EQ(origin_of(typed, call_from_text("dot")), Origin());
}

TEST(Brought, AMatchedValueIsOfItsFile) {
  const Traces traces;
  Work work;
  open(work, {traces.files[0], "/layer0"});
  work.document.edit("match",
                     [](Session& s) { bring_instead(s, 1, call_from_text("penumbral:gamma=77")); });
  open(work, {traces.files[0], "/layer1"});
  EXPECT_EQ(call_text(shown(work).calls[1]), "penumbral:gamma=77");
  open(work, {traces.files[1], "/layer0"});
  EXPECT_EQ(shown(work).calls, MapChoice().calls);
}

}  // namespace
}  // namespace conelab::desktop
