#include <gtest/gtest.h>

#include "core/geometry/cone_family.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

DisplayList families_figure(double width) { return drawn("families", {}, width); }

TEST(Families, ShowsEveryFamilyOfTheTableWithItsLight) {
  for (const double width : {single_column, double_column}) {
    const DisplayList list = families_figure(width);
    expect_good_figure(list);
    const std::string all = all_text(list);
    for (const geometry::ConeFamily* family : geometry::cone_families()) {
      EXPECT_EQ(count(all, std::string("|") + family->name + "|"), 1u) << family->name;
    }
    EXPECT_EQ(count(all, "|LCA|"), geometry::cone_families().size()) << all;
    EXPECT_EQ(count(all, "light|") + count(all, "light at infinity|"),
              geometry::cone_families().size())
        << all;
  }
}

TEST(Families, IsWiderThanHighInTwoColumns) {
  EXPECT_LT(families_figure(double_column).height, double_column);
  EXPECT_GT(families_figure(single_column).height, single_column);
}

}  // namespace
}  // namespace conelab::figure
