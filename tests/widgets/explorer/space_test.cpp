// The views into space: projections and surfaces as numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/geometry/distance.h"
#include "widgets/explorer/space_surfaces.h"

namespace conelab::desktop {
namespace {

using Eigen::Vector3d;

TEST(SpaceFrame, PixelsAndPointsAgree) {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const SpaceCamera camera{2 * random.normal(), 0.2 + 0.8 * random.uniform(), 1.3};
    const SpaceFrame f(camera, {10, 20, 600, 500}, {0.1, 0, 1.5}, 2);
    const PlanePoint p{random.normal() * 0.5, 0.4 + random.uniform()};
    const Vector3d q = f.page(on_hyperboloid(p));
    // Another part of the surface may stand before this one.
    if (const auto back = hyperboloid_under(f, q.x(), q.y())) {
      const Vector3d again = f.page(on_hyperboloid(*back));
      EXPECT_NEAR(again.x(), q.x(), 1e-6);
      EXPECT_NEAR(again.y(), q.y(), 1e-6);
      EXPECT_LE(again.z(), q.z() + 1e-6);
    }
    const Vector3d s = f.page(in_slice(p));
    const auto back = slice_under(f, s.x(), s.y());
    if (!back) continue;  // Seen edge-on.
    EXPECT_NEAR(back->x, p.x, 1e-6);
    EXPECT_NEAR(back->y, p.y, 1e-6);
  }
}

TEST(SpaceFrame, ADraggedPointStaysUnderThePointerAndOnItsSide) {
  Random random(6);
  int others = 0;
  for (int i = 0; i < 2000; ++i) {
    const SpaceCamera camera{2 * random.normal(), 1.5 * random.uniform(), 1};
    const SpaceFrame f(camera, {10, 20, 600, 500}, {0, 0, 1.9}, 2.75);
    const PlanePoint held{random.normal() * 0.5, 0.4 + random.uniform()};
    if (on_hyperboloid(held).z() > hyperboloid_rim) continue;
    const Vector3d here = f.page(on_hyperboloid(held));
    // Where it is, it stays, whatever part of the surface stands before it.
    const Vector3d same =
        on_hyperboloid(dragged_on_hyperboloid(f, here.x(), here.y(), held)) - on_hyperboloid(held);
    EXPECT_LT(same.norm(), 1e-5);
    // Wherever the pointer goes, the point comes at least as near to it as it was.
    const double x = 600 * random.uniform(), y = 500 * random.uniform();
    const Vector3d there = f.page(on_hyperboloid(dragged_on_hyperboloid(f, x, y, held)));
    const double off = std::hypot(there.x() - x, there.y() - y);
    if (hyperboloid_under(f, x, y)) {
      EXPECT_LT(off, 1e-6);
    } else {
      EXPECT_TRUE(there.allFinite());
      ++others;
    }
  }
  EXPECT_GT(others, 300);
}

TEST(SpaceFrame, TheHyperboloidIsThatOfTheModels) {
  const Vector3d x = on_hyperboloid(PlanePoint{0.3, 0.7});
  const geometry::Vector expected =
      geometry::convert(geometry::Vector(Eigen::Vector2d(0.3, 0.7)), geometry::Model::halfspace,
                        geometry::Model::hyperboloid);
  EXPECT_LT((x - Vector3d(expected)).norm(), 1e-12);
  EXPECT_LT((on_hyperboloid(figure::from_half_plane(0.3, 0.7)) - x).norm(), 1e-12);
}

// Every point of the surface of u's cone is on the cone's border by the law in three dimensions.
TEST(SpaceScene, ConesAreTheBordersOfTheLawInThreeDimensions) {
  for (const char* family : {"penumbral", "umbral", "penumbral-finite", "umbral-finite", "ganea"}) {
    ConeChoice choice;
    choice.family = family;
    choice.source = {0.2, 1.3};
    for (auto* p : {&choice.u, &choice.v}) {
      const PlanePoint inside = into_domain(choice, {(*p)[0], (*p)[1]});
      *p = {inside.x, inside.y};
    }
    const ConeScene scene = cone_scene(choice);
    ASSERT_EQ(scene.error, "");
    const SpaceScene space = space_scene(choice, scene);
    geometry::ConeSystem system = geometry::cone_system(family);
    const auto place = [](double x, double y, double h) {
      return geometry::point(geometry::Model::halfspace, Vector3d(x, y, h));
    };
    if (!scene.infinite) system = geometry::with_source(system, place(0.2, 0, 1.3));
    const geometry::Element u = geometry::element(system, place(choice.u[0], 0, choice.u[1]));
    int checked = 0;
    for (const Surface& surface : space.surfaces) {
      if (surface.ink != Ink::u) continue;
      for (const Vector3d& p : surface.points) {
        if (p.z() < 1e-4) continue;  // On the boundary the law has no point.
        const geometry::Element x = geometry::element(system, place(p.x(), p.y(), p.z()));
        const double base = geometry::base_distance(system.family->base, u.axis, x.axis);
        EXPECT_NEAR(base, u.shadow - x.shadow, 1e-6 * (1 + u.shadow)) << family;
        ++checked;
      }
    }
    EXPECT_GT(checked, 500) << family;
  }
}

}  // namespace
}  // namespace conelab::desktop
