#include <gtest/gtest.h>

#include <cmath>

#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

DisplayList construction(const Parameters& parameters) { return drawn("construction", parameters); }

/// The circles of the group of a figure, of the radius on the page that a height of 1 has.
std::vector<ArcTo> arcs_of(const DisplayList& list, const std::string& group) {
  std::vector<ArcTo> arcs;
  bool inside = false;
  for (const Item& item : list.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) inside = begin->id == group;
    const auto* path = std::get_if<PathItem>(&item);
    if (path == nullptr || !inside) continue;
    for (const Segment& segment : path->path.segments) {
      if (const auto* arc = std::get_if<ArcTo>(&segment)) arcs.push_back(*arc);
    }
  }
  return arcs;
}

/// Coneheads, section 4: the cone of x is bounded by arcs of radius h about x_1 -+ sqrt(h^2 -
/// x_2^2) on the boundary. That through u has its centre to the right, that through v to the left,
/// and the two meet above the middle of their centres, at the height sqrt(h^2 - m^2).
TEST(Construction, DrawsTheTwoGeodesicsOfRadiusH) {
  const double h = 1.25, u[] = {-0.4, 0.5}, v[] = {0.5, 0.3};
  const DisplayList list = construction({{"height", "1.25"}, {"u", "-0.4,0.5"}, {"v", "0.5,0.3"}});
  expect_good_figure(list);
  const std::vector<ArcTo> arcs = arcs_of(list, "curves-p1");
  ASSERT_EQ(arcs.size(), 2u);
  const double scale = arcs[0].rx / h;  // Points on the page for a unit.
  EXPECT_NEAR(arcs[1].rx, arcs[0].rx, 1e-9);
  const double centre_u = u[0] + std::sqrt(h * h - u[1] * u[1]);
  const double centre_v = v[0] - std::sqrt(h * h - v[1] * v[1]);
  EXPECT_NEAR((arcs[0].centre.x - arcs[1].centre.x) / scale, centre_u - centre_v, 1e-9);
  const double half = (centre_u - centre_v) / 2;
  std::string all;
  for (const TextItem& item : texts(list)) all += plain(item.runs) + "|";
  const double height = std::sqrt(h * h - half * half);
  EXPECT_NE(all.find("height of the LCA " + std::to_string(height).substr(0, 5)), std::string::npos)
      << all << height;
}

TEST(Construction, SaysWhatTheCrossingIs) {
  const auto says = [](const Parameters& p, const char* words) {
    const DisplayList list = construction(p);
    expect_good_figure(list);
    EXPECT_NE(list.metadata.description.find(words), std::string::npos)
        << list.metadata.description;
  };
  says({}, "bound the cone of their crossing, the LCA");
  says({{"cone", "umbral"}}, "constant distance from a geodesic");
  says({{"u", "-1.5,0.4"}, {"v", "1.2,0.2"}}, "no common ancestor");
  says({{"u", "0,0.9"}, {"v", "0.1,0.2"}}, "u itself is the LCA");
  says({{"v", "0,0.9"}, {"u", "0.1,0.2"}}, "v itself is the LCA");
  says({{"v", "0,0.9"}, {"u", "0,0.9"}}, "u = v is the LCA");
}

}  // namespace
}  // namespace conelab::figure
