#include "core/statistics/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"

namespace conelab {
namespace {

/// [case][position] how often.
std::vector<std::vector<int>> position_counts(const std::vector<std::vector<int>>& orders,
                                              int cases) {
  std::vector<std::vector<int>> count(static_cast<std::size_t>(cases),
                                      std::vector<int>(static_cast<std::size_t>(cases)));
  for (const auto& order : orders) {
    for (std::size_t p = 0; p < order.size(); ++p) ++count[static_cast<std::size_t>(order[p])][p];
  }
  return count;
}

TEST(BalancedOrders, EveryRoundHoldsEveryCaseOnce) {
  for (const int cases : {1, 2, 3, 7, 8, 50}) {
    for (const auto& order : balanced_orders(cases, 9, 1)) {
      EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), static_cast<std::size_t>(cases));
      EXPECT_EQ(order.size(), static_cast<std::size_t>(cases));
      EXPECT_EQ(*std::max_element(order.begin(), order.end()), cases - 1);
    }
  }
  EXPECT_EQ(balanced_orders(0, 3, 1).size(), 3u);
  EXPECT_TRUE(balanced_orders(4, 0, 1).empty());
  EXPECT_THROW((void)balanced_orders(-1, 3, 1), Error);
  EXPECT_THROW((void)balanced_orders(3, -1, 1), Error);
}

TEST(BalancedOrders, EachCaseStandsInEachPositionEquallyOften) {
  for (const int cases : {1, 2, 5, 6, 8, 13}) {
    for (const int rounds : {1, 5, 8, 9, 12, 30}) {
      const auto counts = position_counts(balanced_orders(cases, rounds, 7), cases);
      for (const auto& row : counts) {
        for (const int c : row) {
          EXPECT_GE(c, rounds / cases);
          EXPECT_LE(c, (rounds + cases - 1) / cases);
        }
      }
    }
  }
}

TEST(BalancedOrders, EachCaseFollowsEachOtherOnceInAnEvenSquare) {
  std::map<std::pair<int, int>, int> followed;
  for (const auto& order : balanced_orders(8, 8, 3)) {
    for (std::size_t p = 1; p < order.size(); ++p) ++followed[{order[p - 1], order[p]}];
  }
  EXPECT_EQ(followed.size(), 56u);
  for (const auto& [pair, count] : followed) EXPECT_EQ(count, 1);
}

TEST(BalancedOrders, MeanPositionsStayNearTheMiddle) {
  constexpr int cases = 60, rounds = 9;
  const auto counts = position_counts(balanced_orders(cases, rounds, 5), cases);
  for (const auto& row : counts) {
    double mean = 0;
    for (int p = 0; p < cases; ++p)
      mean += static_cast<double>(p) * row[static_cast<std::size_t>(p)] / rounds;
    EXPECT_NEAR(mean, (cases - 1) / 2.0, 0.12 * cases);
  }
}

TEST(BalancedOrders, SeedsDecideAndRepeat) {
  EXPECT_EQ(balanced_orders(20, 9, 1), balanced_orders(20, 9, 1));
  EXPECT_NE(balanced_orders(20, 9, 1), balanced_orders(20, 9, 2));
}

}  // namespace
}  // namespace conelab
