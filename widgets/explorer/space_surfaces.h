// Surfaces of a cone scene in space: the hyperboloid with the colours of the plane; and in H³ the
// cones, the common ancestors, the light and the level of the LCA as bodies of revolution.
//
// The cone of u in H³ is that of the plane, rotated about the geodesic from the source through u:
// its edge a ± p = const holds for every azimuth, because the law depends only on the distance of
// the axes.
#pragma once

#include <vector>

#include "core/drawing/colour_map.h"
#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/plane_frame.h"

namespace conelab::desktop {

/// A grid of quadrilaterals, [rows × columns] points.
struct Surface {
  Ink ink = Ink::u;
  double opacity = 1;
  std::size_t rows = 0, columns = 0;
  std::vector<Eigen::Vector3d> points;
  std::vector<figure::Colour> colours;  ///< [points]; empty: the colour of the ink.
  /// Horizontal planes separate the surfaces of different levels. Seen from above, surfaces of
  /// lower levels are drawn first, whatever the depth of their triangles.
  int layer = 0;
};

/// Returns how far from the middle of u and v the ground and the levels of an infinite source are
/// drawn.
[[nodiscard]] double level_reach(const ConeChoice& choice);

/// The bodies of a scene without error in H³, and the shadows of u and v on the boundary as lines.
struct SpaceScene {
  std::vector<Surface> surfaces;
  std::vector<std::pair<Ink, std::vector<Eigen::Vector3d>>> lines;
};
[[nodiscard]] SpaceScene space_scene(const ConeChoice& choice, const ConeScene& scene);

/// Colours of the points of the plane, by what is drawn there.
struct PlaneColours {
  figure::ColourMap map = figure::ColourMap::sequential;
  figure::Colour ground, u, v, ancestors, light;
  bool regions = true;  ///< Whether cones and common ancestors are coloured; as coarse as the mesh.
};
[[nodiscard]] Surface hyperboloid_surface(const ConeChoice& choice, const ConeScene& scene,
                                          const PlaneColours& colours);

/// Returns a frame that shows the scene.
[[nodiscard]] SpaceFrame space_frame(const ConeChoice& choice, const ConeScene& scene,
                                     SpaceCamera camera, const figure::Box& box);

}  // namespace conelab::desktop
