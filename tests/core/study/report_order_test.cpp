#include "core/study/report_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/helpers/errors.h"

namespace conelab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<ReportBlock> blocks = {{"points", "embed"}, {"fig1", "figure"}};

ReportEntry parsed(const std::string& text) { return parse_report_entry(text, blocks); }

std::string refusal(const std::string& text) {
  return fixtures::misuse_of([&] { return parsed(text); });
}

TEST(ReportOrder, HasTextsFiguresTablesAndClaims) {
  EXPECT_EQ(std::get<TextEntry>(parsed("text: We see: {map-dot}.")).text, "We see: {map-dot}.");
  EXPECT_EQ(std::get<FigureEntry>(parsed("fig1")).block, "fig1");
  const auto table =
      std::get<TableEntry>(parsed("table: points by similarity, dim: map, mean_rank"));
  EXPECT_EQ(table.block, "points");
  EXPECT_THAT(table.keys, ElementsAre("similarity", "dim"));
  EXPECT_THAT(table.measures, ElementsAre("map", "mean_rank"));
  const auto whole = std::get<TableEntry>(parsed("table:points:map"));
  EXPECT_THAT(whole.keys, IsEmpty());
  EXPECT_THAT(whole.measures, ElementsAre("map"));
  const auto claim = std::get<ClaimEntry>(parsed("claim: Table 2: it wins | {a} > {b} | luck"));
  EXPECT_EQ(claim.says, "Table 2: it wins");
  EXPECT_EQ(claim.relation, "{a} > {b}");
  EXPECT_EQ(claim.why, "luck");
  EXPECT_EQ(std::get<ClaimEntry>(parsed("claim: x | {a} > 1")).why, "");
  const auto take = std::get<RecommendEntry>(
      parsed("recommend: points by similarity, dim: lowest map within .5 | dim | time"));
  EXPECT_EQ(take.table.keys, (std::vector<std::string>{"similarity", "dim"}));
  EXPECT_EQ(take.table.measures, std::vector<std::string>{"map"});
  EXPECT_TRUE(take.lowest);
  EXPECT_EQ(take.margin, .5);
  EXPECT_EQ(take.fewest, "dim");
  EXPECT_EQ(take.cost, "time");
}

TEST(ReportOrder, NamesWhatIsWrong) {
  EXPECT_THAT(refusal("fig2"), HasSubstr("did you mean 'fig1'"));
  EXPECT_THAT(refusal("points"), HasSubstr("of the kind embed"));
  EXPECT_THAT(refusal("figure: fig1"), HasSubstr("expected 'text: ...'"));
  EXPECT_THAT(refusal("table: point by dim: map"), HasSubstr("did you mean 'points'"));
  EXPECT_THAT(refusal("table: points by dim"), HasSubstr("measures are missing"));
  EXPECT_THAT(refusal("table: points by dim,: map"), HasSubstr("is empty"));
  EXPECT_THAT(refusal("table: fig1: map"), HasSubstr("has no numbers"));
  EXPECT_THAT(refusal("claim: only a text"), HasSubstr("RELATION"));
  EXPECT_THAT(refusal("claim: it wins | {a}"), HasSubstr("LEFT < RIGHT"));
  EXPECT_THAT(refusal("claim: it wins | {a} > 1/0"), HasSubstr("divides by 0"));
  EXPECT_THAT(refusal("claim: it wins | {a} > b"), HasSubstr("'b' is neither a number"));
  for (const char* wrong : {"recommend: points by dim: map", "recommend: points by dim: map | dim",
                            "recommend: points by dim: map within x | dim",
                            "recommend: points by dim: map, mean_rank within 1 | dim"}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("MEASURE within NUMBER"));
  }
  EXPECT_THAT(refusal("recommend: points by dim: map within 1 | similarity"), HasSubstr("dim"));
}

TEST(ReportOrder, SaysWhereTheLabelsOfABenchmarkStand) {
  const std::vector<ReportBlock> all = {{"cost", "bench", {nlohmann::ordered_json::object()}}};
  ReportNumbers numbers;
  numbers.add(parse_report_entry("table: cost by operator, seq_len: time", all), all);
  EXPECT_THAT(fixtures::message_of([&] { numbers.check(TextEntry{"{nothing}"}); }),
              HasSubstr("(known: time-operator-seq_len,"));
}

}  // namespace
}  // namespace conelab
