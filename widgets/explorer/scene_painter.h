// What the explorer draws with OpenGL: the heat layer as a picture, fills by the stencil buffer,
// surfaces in space as lit triangles. Lines and marks are ImGui's, over these.
#pragma once

#include <QColor>
#include <QPalette>
#include <QSizeF>
#include <map>
#include <memory>
#include <vector>

#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/heat_field.h"
#include "widgets/explorer/space_surfaces.h"

namespace conelab::desktop {

/// A corner of a triangle, in pixels.
struct Corner {
  float x, y;
  float r, g, b, a;
};

/// The surfaces as triangles in pixels, lit from above the viewer's shoulder, far ones first.
[[nodiscard]] std::vector<Corner> triangles_of(const std::vector<Surface>& surfaces,
                                               const SpaceFrame& frame, const QPalette& palette);

class ScenePainter {
 public:
  ScenePainter();
  ~ScenePainter();
  ScenePainter(const ScenePainter&) = delete;
  ScenePainter& operator=(const ScenePainter&) = delete;

  // With an OpenGL context current.
  void create();
  void destroy();
  /// Before the others, once a frame: the window's size in units and pixels per unit.
  void begin(const QSizeF& size, double density);
  /// The raster stretched over the frame's rectangle, inside `ground` (closed, convex) alone;
  /// `slot` keeps its texture, and what is already there (by `version`) is not sent again.
  void heat(int slot, long version, const HeatRaster& raster, const PlaneFrame& frame,
            const Line& ground);
  void fills(const std::vector<Fill>& fills, const QPalette& palette, const figure::Box& box);
  /// Triangles blended in their order.
  void triangles(const std::vector<Corner>& corners);
  void end();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace conelab::desktop
