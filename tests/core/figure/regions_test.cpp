#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/geometry/cone_family.h"
#include "core/geometry/cone_law.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

using geometry::Model;

DisplayList regions(const Parameters& parameters) { return drawn("regions", parameters); }

struct Letter {
  std::string name;
  Point at;
};
std::vector<Letter> letters(const DisplayList& list) {
  std::vector<Letter> found;
  for (const TextItem& item : texts(list)) {
    const std::string text = plain(item.runs);
    if (text.size() == 1 && text[0] >= 'A' && text[0] <= 'D') {
      found.push_back({text, {item.at.x, item.at.y - 0.35 * item.size}});  // Half a capital up.
    }
  }
  return found;
}

/// The region of v by the law of cone_law.h, which the figure's outlines do not use.
std::string region_of(const geometry::ConeSystem& system, const geometry::ModelPoint& u,
                      const geometry::ModelPoint& v) {
  const geometry::Lca lca =
      geometry::lca(system, geometry::element(system, u), geometry::element(system, v));
  if (lca.relation == geometry::Relation::u_is_ancestor) return "A";
  if (lca.relation == geometry::Relation::v_is_ancestor) return "B";
  return lca.place ? "C" : "D";
}

std::string region(const geometry::ConeSystem& system, const geometry::Vector& u,
                   const geometry::Vector& v) {
  return region_of(system, geometry::point(Model::halfspace, u),
                   geometry::point(Model::halfspace, v));
}

/// The page of the half-plane: u and the boundary give scale and origin.
TEST(Regions, LettersStandInTheirRegions) {
  for (const double u_height : {0.5, 0.6, 0.7}) {
    const geometry::Vector u = Eigen::Vector2d(0, u_height);
    for (const char* cone : {"penumbral", "umbral"}) {
      const DisplayList list = regions({{"cone", cone}, {"u", "0," + std::to_string(u_height)}});
      expect_good_figure(list);
      Point origin{}, place{};
      for (const PathItem& path : items_of<PathItem>(list)) {
        if (path.paint.fill == blue) {
          const auto& arc = std::get<ArcTo>(path.path.segments[1]);
          place = arc.centre;
        }
        if (path.paint.stroke.width == 1 && path.paint.stroke.colour == ink) {
          origin.y = std::get<MoveTo>(path.path.segments[0]).to.y;
        }
      }
      const double scale = (origin.y - place.y) / u_height;
      geometry::ConeSystem system = geometry::cone_system(
          cone, cone == std::string("umbral") ? std::map<std::string, double>{{"radius", 0.4}}
                                              : std::map<std::string, double>{});
      std::string seen;
      for (const Letter& letter : letters(list)) {
        const geometry::Vector v =
            Eigen::Vector2d((letter.at.x - place.x) / scale, (origin.y - letter.at.y) / scale);
        EXPECT_EQ(region(system, u, v), letter.name) << cone << " " << v.transpose();
        seen += letter.name;
      }
      EXPECT_EQ(seen, cone == std::string("umbral") ? "ABCC" : "ABCCDD");
    }
  }
}

/// The circle of the Poincaré ball on the page.
ArcTo boundary(const DisplayList& list) {
  for (const PathItem& path : items_of<PathItem>(list)) {
    if (path.paint.stroke.colour != ink) continue;
    for (const auto& segment : path.path.segments) {
      if (const auto* arc = std::get_if<ArcTo>(&segment)) return *arc;
    }
  }
  return {};
}

TEST(Regions, LettersOfTheBallStandApartInTheirRegions) {
  for (const char* cone : {"penumbral-finite", "umbral-finite", "ganea"}) {
    SCOPED_TRACE(cone);
    const DisplayList list = regions({{"cone", cone}, {"model", "ball"}});
    const ArcTo circle = boundary(list);
    ASSERT_GT(circle.rx, 50);
    const bool umbral = cone == std::string("umbral-finite");
    const geometry::ConeSystem system =
        geometry::cone_system(cone, umbral ? std::map<std::string, double>{{"object_radius", 0.3}}
                                           : std::map<std::string, double>{});
    const geometry::ModelPoint u = geometry::point(Model::halfspace, Eigen::Vector2d(0, 0.4));
    std::string seen;
    for (const Letter& letter : letters(list)) {
      const geometry::ModelPoint v = geometry::point(
          Model::ball, Eigen::Vector2d((letter.at.x - circle.centre.x) / circle.rx,
                                       (circle.centre.y - letter.at.y) / circle.rx));
      EXPECT_EQ(region_of(system, u, v), letter.name);
      seen += letter.name;
    }
    const std::vector<Letter> all = letters(list);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Point a = all[i].at, b = all[j].at;
        EXPECT_GT(std::hypot(a.x - b.x, a.y - b.y), 0.3 * circle.rx) << all[i].name << all[j].name;
      }
    }
    EXPECT_EQ(seen, "ABCCD");
  }
}

TEST(Regions, ALetterBesideItsRegionHasALeader) {
  const auto leaders = [](const char* u) {
    const DisplayList list = regions({{"u", u}});
    expect_good_figure(list);
    return std::count_if(list.items.begin(), list.items.end(), [](const Item& item) {
      const auto* path = std::get_if<PathItem>(&item);
      return path != nullptr && path->paint.stroke.width == thin_line &&
             path->paint.stroke.colour == ink;
    });
  };
  EXPECT_EQ(leaders("0,0.55"), 0);
  EXPECT_EQ(leaders("0,0.2"), 1);
}

TEST(Regions, EveryFamilyInEveryModel) {
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    for (const char* model : {"halfspace", "ball", "klein", "hyperboloid", "band"}) {
      SCOPED_TRACE(std::string(family->name) + " " + model);
      const DisplayList list = regions({{"cone", family->name}, {"model", model}});
      expect_good_figure(list);
      EXPECT_GE(letters(list).size(), 3u);  // Some lie outside the window.
    }
  }
}

}  // namespace
}  // namespace conelab::figure
