// Surfaces of a cone scene in space: the hyperboloid coloured by what lies on it, and in H³ the
// cones, the common ancestors, the light and the level of the LCA as bodies of revolution.
//
// In H³ the cone of u is the plane's turned about the geodesic from the source through u: its edge
// a ± p = const holds for every azimuth, because the law depends on the angle (distance) of the
// axes alone.
#pragma once

#include <vector>

#include "core/figure/colour_map.h"
#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/space_frame.h"

namespace conelab::desktop {

/// A patch of quads, [rows × columns] points.
struct Surface {
  Ink ink = Ink::u;
  double opacity = 1;
  std::size_t rows = 0, columns = 0;
  std::vector<Eigen::Vector3d> points;
  std::vector<figure::Colour> colours;  ///< Of each point; empty: the ink's.
  /// Horizontal planes part the surfaces of different storeys: seen from above, the lower ones are
  /// behind, whichever triangle's middle is nearer.
  int storey = 0;
};

/// How far from the middle of u and v the levels of an infinite source and the ground are drawn.
[[nodiscard]] double level_reach(const ConeChoice& choice);

/// The bodies of a valid scene in H³, and the shadows of u and v on the boundary as lines.
struct SpaceScene {
  std::vector<Surface> surfaces;
  std::vector<std::pair<Ink, std::vector<Eigen::Vector3d>>> lines;
};
[[nodiscard]] SpaceScene space_scene(const ConeChoice& choice, const ConeScene& scene);

/// Colours of the plane's points: of a point's place, what is drawn there.
struct PlaneColours {
  figure::ColourMap map = figure::ColourMap::sequential;
  figure::Colour ground, u, v, ancestors, light;
  bool regions =
      true;  ///< Cones and common ancestors too; their borders are as coarse as the mesh.
};
[[nodiscard]] Surface hyperboloid_surface(const ConeChoice& choice, const ConeScene& scene,
                                          const PlaneColours& colours);

/// A frame that shows the scene.
[[nodiscard]] SpaceFrame space_frame(const ConeChoice& choice, const ConeScene& scene,
                                     SpaceCamera camera, const figure::Box& box);

}  // namespace conelab::desktop
