#include "core/files/bench_file.h"

#include <cmath>

#include "core/files/hdf5.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using fixtures::FilesTest;
using fixtures::message_of;
using fixtures::slurp;
using ::testing::HasSubstr;

class BenchFile : public FilesTest {};

TEST(Hdf5, PrefixesOfAPathAreItsGroups) {
  EXPECT_EQ(hdf5::prefixes("a/b/c"), (std::vector<std::string>{"/a", "/a/b", "/a/b/c"}));
  EXPECT_EQ(hdf5::prefixes("ab/c"), (std::vector<std::string>{"/ab", "/ab/c"}));
  EXPECT_EQ(hdf5::prefixes(""), std::vector<std::string>());
}

LabelledFile example() {
  LabelledArray runtime;
  runtime.axes = {{"operator", std::vector<std::string>{"penumbral", "dot", "größe"}, ""},
                  {"seq_len", std::vector<std::int64_t>{256, 512}, ""},
                  {"scale", std::vector<double>{0.5, 1.5}, "1"}};
  runtime.variables = {
      {"time", {"operator", "seq_len"}, std::vector<double>{1, 2, 3, NAN, 5, 6}, "s", {}},
      {"status", {"operator", "seq_len"}, std::vector<std::int64_t>{0, 0, 0, 1, 0, 0}, "", {}},
      {"status_reason",
       {"operator", "seq_len"},
       std::vector<std::string>{"", "", "", "no GPU", "", ""},
       "",
       {}},
      {"scaled", {"scale"}, std::vector<float>{0.25f, 0.75f}, "", {{"note", std::string("f32")}}},
      {"flags", {"seq_len"}, std::vector<std::uint8_t>{0, 255}, "", {}},
      {"rounds", {}, std::vector<std::int64_t>{30}, "", {}}};
  runtime.signal = "time";
  runtime.attributes = {{"batch", std::int64_t{1}},
                        {"list", std::vector<double>{1, 2}},
                        {"names", std::vector<std::string>{"a", ""}}};
  LabelledArray environment;
  environment.variables = {{"cpu", {}, std::vector<std::string>{"a \xff CPU"}, "", {}},
                           {"threads", {}, std::vector<std::int64_t>{2}, "", {}}};
  return {"conelab test",
          {{"bench/runtime", runtime}, {"bench/environment", environment}},
          {{"call", std::string("umbral")}, {"size", 0.5}}};
}

TEST_F(BenchFile, ReadsBackWhatItWrote) {
  write_labelled(path("a.h5"), example());
  const LabelledArray read = read_labelled(path("a.h5"), "bench/runtime");
  const LabelledArray written = example().groups[0].second;
  ASSERT_EQ(read.axes.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.axes[i].name, written.axes[i].name);
    EXPECT_EQ(read.axes[i].labels, written.axes[i].labels);
    EXPECT_EQ(read.axes[i].units, written.axes[i].units);
  }
  ASSERT_EQ(read.variables.size(), written.variables.size());
  for (std::size_t i = 1; i < written.variables.size(); ++i) {
    EXPECT_EQ(read.variables[i].name, written.variables[i].name);
    EXPECT_EQ(read.variables[i].axes, written.variables[i].axes);
    EXPECT_EQ(read.variables[i].data, written.variables[i].data);
  }
  const auto& time = std::get<std::vector<double>>(read.variable("time")->data);
  EXPECT_EQ(time[2], 3);
  EXPECT_TRUE(std::isnan(time[3]));
  EXPECT_EQ(read.variable("time")->units, "s");
  EXPECT_EQ(read.signal, "time");
  EXPECT_EQ(read.variable("scaled")->attributes, written.variables[3].attributes);
}

TEST_F(BenchFile, ListsEveryGroupWithVariables) {
  write_labelled(path("a.h5"), example());
  const LabelledFile read = read_labelled_file(path("a.h5"));
  EXPECT_EQ(read.creator, "conelab test");
  EXPECT_EQ(read.attributes, example().attributes);
  ASSERT_EQ(read.groups.size(), 2u);
  EXPECT_EQ(read.groups[0].first, "bench/runtime");
  const LabelledArray* environment = read.group("bench/environment");
  ASSERT_NE(environment, nullptr);
  EXPECT_EQ(std::get<std::vector<std::string>>(environment->variable("cpu")->data)[0],
            "a \\xff CPU");
}

TEST_F(BenchFile, EqualContentGivesEqualBytes) {
  write_labelled(path("a.h5"), example());
  write_labelled(path("b.h5"), example());
  EXPECT_TRUE(slurp(path("a.h5")) == slurp(path("b.h5")));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(BenchFile, TakesMoreVariablesOnAnAxisThanAttributesAreCompact) {
  LabelledArray many;
  many.axes = {{"x", std::vector<std::int64_t>{1, 2}, ""}};
  for (int i = 0; i < 40; ++i) {
    many.variables.push_back({fmt::format("v{}", i),
                              {"x"},
                              std::vector<double>{1. * i, 2},
                              "s",
                              {{"a", 1.0},
                               {"b", 2.0},
                               {"c", 3.0},
                               {"d", 4.0},
                               {"e", 5.0},
                               {"f", 6.0},
                               {"g", 7.0},
                               {"h", 8.0},
                               {"i", 9.0}}});
  }
  write_labelled(path("many.h5"), {"t", {{"many", many}}, {}});
  const LabelledArray read = read_labelled(path("many.h5"), "/many");
  ASSERT_EQ(read.variables.size(), 40u);
  EXPECT_EQ(read.variables[39].data, many.variables[39].data);
  EXPECT_EQ(read.variables[39].axes, many.variables[39].axes);
}

TEST_F(BenchFile, RefusesWhatDoesNotFitTogether) {
  LabelledFile file = example();
  file.groups[0].second.variables[0].axes = {"operator", "length"};
  EXPECT_THAT(message_of([&] { write_labelled(path("a.h5"), file); }),
              HasSubstr("/bench/runtime/time: unknown axis 'length'"));
  file = example();
  file.groups[0].second.variables[0].axes = {"operator"};
  EXPECT_THAT(message_of([&] { write_labelled(path("a.h5"), file); }),
              HasSubstr("wrong size (expected 3 for [operator], found 6)"));
  file = example();
  file.groups[0].second.variables[0].name = "a/b";
  EXPECT_THAT(message_of([&] { write_labelled(path("a.h5"), file); }),
              HasSubstr("'a/b' is no name"));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(BenchFile, NamesTheNearestGroup) {
  write_labelled(path("a.h5"), example());
  EXPECT_EQ(
      message_of([&] { (void)read_labelled(path("a.h5"), "bench/runtim"); }),
      path("a.h5") +
          ": /bench: no 'runtim' here; did you mean 'runtime'? (found: runtime, environment)");
}

}  // namespace
}  // namespace conelab
