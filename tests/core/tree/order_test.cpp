#include "core/tree/order.h"

#include <gtest/gtest.h>

#include "tests/core/geometry/sampling.h"

namespace conelab::tree {
namespace {

using geometry::cone_system;
using geometry::ConeSystem;
using geometry::Element;
using geometry::test::Sampler;
using geometry::test::vec;

std::vector<Element> random_tokens(const ConeSystem& system, std::size_t n, unsigned seed) {
  Sampler sampler(seed);
  std::vector<Element> tokens;
  for (std::size_t i = 0; i < n; ++i) {
    tokens.push_back(
        geometry::element_at(system, vec({sampler.uniform(-1, 1)}), sampler.uniform(0.01, 2)));
  }
  return tokens;
}

TEST(AncestorOrder, OfAChainIsAPath) {
  const ConeSystem system = cone_system("umbral", {{"radius", 1}});
  std::vector<Element> tokens;
  for (const double height : {0.5, 4.0, 1.0, 2.0}) {
    tokens.push_back(geometry::element_at(system, vec({0.1}), height));
  }
  const AncestorOrder order = ancestor_order(system.family->base, tokens);
  EXPECT_TRUE(order.is_ancestor(1, 0));
  EXPECT_FALSE(order.is_ancestor(0, 1));
  EXPECT_TRUE(order.covers(1, 3));
  EXPECT_TRUE(order.covers(3, 2));
  EXPECT_TRUE(order.covers(2, 0));
  EXPECT_EQ(std::count(order.cover.begin(), order.cover.end(), 1), 3);
  EXPECT_EQ(levels(order), (std::vector<std::int64_t>{3, 0, 2, 1}));
}

TEST(AncestorOrder, KeepsOneOfEqualTokensInTheDiagram) {
  const ConeSystem system = cone_system("umbral", {{"radius", 1}});
  const Element top = geometry::element_at(system, vec({0}), 3),
                low = geometry::element_at(system, vec({0}), 1);
  const AncestorOrder order = ancestor_order(system.family->base, {low, top, low, top});
  EXPECT_EQ(order.representative, (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_TRUE(order.covers(1, 0));
  EXPECT_EQ(std::count(order.cover.begin(), order.cover.end(), 1), 1);
  EXPECT_TRUE(order.is_ancestor(3, 2));
  EXPECT_FALSE(order.is_ancestor(1, 3));
}

TEST(AncestorOrder, ReductionHasTheOrderAsItsClosure) {
  const ConeSystem system = cone_system("umbral", {{"radius", 0.8}});
  for (const std::size_t n : {0u, 1u, 2u, 63u, 64u, 65u, 129u}) {
    const AncestorOrder order = ancestor_order(system.family->base, random_tokens(system, n, 3));
    std::vector<std::uint8_t> closure = order.cover;
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
          closure[i * n + j] |= closure[i * n + k] & closure[k * n + j];
      }
    }
    EXPECT_EQ(closure, order.ancestor) << n;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) {
          EXPECT_FALSE(order.covers(i, j) && order.is_ancestor(i, k) && order.is_ancestor(k, j));
        }
      }
    }
  }
}

}  // namespace
}  // namespace conelab::tree
