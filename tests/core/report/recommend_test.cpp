#include "core/report/recommend.h"

#include <gmock/gmock.h>

#include "core/base/error.h"

namespace conelab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A table by similarity and dim with the values of three seeds in each row.
struct Made {
  Table table{{"quality", {"similarity", "dim"}, {"loss", "mass"}}, {}, ""};
  std::vector<Number> numbers;

  void add(const std::string& similarity, const std::string& dim,
           const std::vector<double>& values) {
    Number loss, mass;
    loss.name = number_name("loss", {similarity, dim});
    mass.name = number_name("mass", {similarity, dim});
    for (std::size_t i = 0; i < values.size(); ++i) {
      mass.origins.push_back({0, i, {{"seeds", std::to_string(i)}}, values[i]});
    }
    mass.interval = t_interval(values);
    mass.text = number_text(mass.interval);
    table.rows.push_back({{similarity, dim}, {numbers.size(), numbers.size() + 1}});
    numbers.push_back(loss);
    numbers.push_back(mass);
  }

  [[nodiscard]] std::string text(double margin, bool lowest = false, const char* cost = "") const {
    const RecommendEntry entry{
        {"quality", {"similarity", "dim"}, {"mass"}}, lowest, margin, "dim", cost};
    std::string text;
    for (const TextPiece& piece : recommendation(entry, table, numbers)) {
      text += piece.number ? "{" + numbers[*piece.number].name + "}" : piece.text;
    }
    return text;
  }
};

/// Differences of 0.01 between dim 8 and 4 for every seed; dim 2 is far below.
Made steady() {
  Made made;
  made.add("umbral", "2", {.5, .52, .48});
  made.add("umbral", "4", {.98, .97, .99});
  made.add("umbral", "8", {.99, .98, 1});
  return made;
}

TEST(Recommend, TakesTheLeastThatIsShownToBeAsGood) {
  EXPECT_THAT(steady().text(.02), HasSubstr("least dim that is shown to lie within 0.02 of it: "
                                            "similarity umbral, dim 4 ({mass-umbral-4})"));
  EXPECT_THAT(steady().text(.02),
              HasSubstr("The best mass has similarity umbral, dim 8 ({mass-umbral-8})"));
  EXPECT_THAT(steady().text(.6), HasSubstr("dim 2 ({mass-umbral-2})"));
  EXPECT_THAT(steady().text(.005), HasSubstr("no row of less dim is shown to lie within 0.005"));
}

// Of the differences 0, .08, .02 the mean is .0333 and its standard error .02404; with two other
// rows the one-sided bound is at the level 97.5 %, where t is 4.303 for two degrees of freedom:
// .13676.
TEST(Recommend, BoundsAreCorrectedForTheRows) {
  Made made;
  made.add("dot", "2", {0, 0, 0});
  made.add("dot", "4", {.99, .9, .98});
  made.add("dot", "8", {.99, .98, 1});
  EXPECT_THAT(made.text(.1367), HasSubstr("no row of less dim"));
  EXPECT_THAT(made.text(.1368), HasSubstr(": similarity dot, dim 4"));
}

TEST(Recommend, NamesOthersOfTheSameKey) {
  Made made = steady();
  made.add("dot", "4", {.1, .09, .11});
  made.add("penumbral", "4", {.97, .99, .975});
  EXPECT_THAT(made.text(.02), HasSubstr("With dim 4, dot are worse. With dim 4, penumbral cannot"));
}

TEST(Recommend, SmallNumbersMayBeBetter) {
  EXPECT_THAT(steady().text(.02, true), HasSubstr("The best mass has similarity umbral, dim 2"));
}

TEST(Recommend, NamesTheCostOfAnotherTable) {
  Made made = steady();
  Number time;
  time.name = "time-umbral";
  made.numbers.push_back(time);
  EXPECT_THAT(made.text(.02, false, "time"), HasSubstr("; its time [s] is {time-umbral}"));
  EXPECT_THAT(made.text(.02, false, "flops"), Not(HasSubstr("its")));
}

TEST(Recommend, NeedsIntervals) {
  EXPECT_THAT(Made().text(.1), HasSubstr("no job has finished"));
  Made one;
  one.add("dot", "2", {.5});
  EXPECT_THAT(one.text(.1), HasSubstr("run at least two seeds"));
  Made failed = steady();  // A seed without a number shows nothing.
  failed.table.rows.clear();
  failed.add("dot", "4", {.99, NAN, .99});
  failed.add("dot", "8", {1, .99, 1});
  EXPECT_THAT(failed.text(.05), HasSubstr("no row of less dim"));
}

}  // namespace
}  // namespace conelab
