#include "core/figure/bias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/pair/bias.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

DisplayList biases(const Parameters& parameters, double width = 0) {
  return drawn("bias", parameters, width);
}

/// Columns are finite while mu i <= ln(largest) - ln(|tau| sqrt(d)/2).
TEST(HypeColumns, OverflowWhereTheTypeEnds) {
  const double mu = 0.25, reach[] = {87.3, 9.70, 87.3, 708.4};
  const auto errors = columns_errors(mu, 1, 64, 3000);
  const char* types[] = {"bf16", "fp16", "fp32", "fp64"};
  ASSERT_EQ(errors.size(), 4u);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_STREQ(errors[t].type, types[t]);
    EXPECT_EQ(errors[t].positions, 1 + static_cast<std::int64_t>(reach[t] / mu)) << types[t];
  }
}

TEST(HypeColumns, LoseWhatTheTypeRounds) {
  const std::int64_t n = 64;
  const double mu = 1.0 / 64, units[] = {0x1p-8, 0x1p-11, 0x1p-24, 0x1p-53};
  const auto errors = columns_errors(mu, -1, 64, n);
  for (std::size_t t = 0; t < 4; ++t) {
    ASSERT_EQ(errors[t].largest.size(), 127u);
    EXPECT_EQ(errors[t].positions, n);
    for (std::int64_t k = 0; k < 127; ++k) {
      const double offset = mu * static_cast<double>(k + 1 - n);
      // Four roundings of columns, three of products and sums, of two terms of half the cosh each.
      const double bound = 8 * units[t] * std::cosh(offset);
      EXPECT_LE(errors[t].largest[static_cast<std::size_t>(k)], bound)
          << errors[t].type << " " << k;
    }
    // Somewhere it loses about a unit, or the columns were not rounded at all.
    EXPECT_GE(*std::max_element(errors[t].largest.begin(), errors[t].largest.end()),
              0.2 * units[t]);
  }
}

TEST(HypeColumns, OffsetsWithoutFinitePairsHaveNoError) {
  const auto errors = columns_errors(0.5, -1, 64, 64);
  const ColumnsError& half = errors[1];
  EXPECT_LT(half.positions, 21);
  EXPECT_TRUE(std::isnan(half.largest.front()));
  EXPECT_TRUE(std::isfinite(half.largest[63]));
}

TEST(BiasFigure, ShowsEveryBiasThatIsACurve) {
  for (const double width : {single_column, double_column}) {
    const DisplayList list = biases({}, width);
    expect_good_figure(list);
    for (const BiasRow& row : bias_table()) {
      if (row.parameters.empty() || row.of_queries || row.of_pairs) continue;
      EXPECT_NE(all_text(list).find(std::string("|") + row.name + "|"), std::string::npos)
          << row.name;
    }
    for (const char* type : {"|bf16|", "|fp16|", "|fp32|", "|fp64|"}) {
      EXPECT_NE(all_text(list).find(type), std::string::npos) << type;
    }
  }
}

TEST(BiasFigure, ParametersAreThoseOfTheHead) {
  const DisplayList list = biases({{"head", "1"}});
  EXPECT_NE(list.metadata.description.find("alibi_slope = 0.25"), std::string::npos)
      << list.metadata.description;
  const DisplayList given = biases({{"alibi_slope", "0.5"}, {"t5_bias", "1,2,3,4"}});
  EXPECT_NE(given.metadata.description.find("alibi_slope = 0.5"), std::string::npos);
  EXPECT_NE(given.metadata.description.find("t5_bias of 4 buckets"), std::string::npos);
}

TEST(BiasFigure, OverflowIsSaid) {
  const DisplayList list = biases({{"hype_mu", "0.5"}, {"biases", "hype"}});
  expect_good_figure(list);
  EXPECT_NE(list.metadata.description.find("fp16 overflows from position"), std::string::npos)
      << list.metadata.description;
  EXPECT_NE(all_text(list).find("overflows"), std::string::npos);
  const DisplayList without = biases({{"biases", "alibi"}});
  EXPECT_EQ(all_text(without).find("fp16"), std::string::npos);
}

TEST(BiasFigure, WrongValuesAreMisuse) {
  for (const Parameters& bad : std::vector<Parameters>{{{"biases", "alibis"}},
                                                       {{"n", "1"}},
                                                       {{"n", "100000"}},
                                                       {{"head", "8"}},
                                                       {{"heads", "0"}},
                                                       {{"t5_bias", "1,x"}},
                                                       {{"t5_direction", "backward"}},
                                                       {{"hype_mu", "steep"}},
                                                       {{"grid", "8x8"}},
                                                       {{"alibi_slope", "1,2"}}}) {
    EXPECT_THROW((void)biases(bad), Error) << bad.begin()->second;
  }
}

}  // namespace
}  // namespace conelab::figure
