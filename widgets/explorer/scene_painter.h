// Drawing of the explorer with OpenGL: the heat layer as a texture, fills by the stencil buffer,
// and surfaces in space as lit triangles. Lines and marks are drawn over these by ImGui.
#pragma once

#include <QColor>
#include <QPalette>
#include <QSizeF>
#include <memory>
#include <vector>

#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/heat_field.h"
#include "widgets/explorer/space_surfaces.h"

namespace conelab::desktop {

/// Return the colour of a line, or of a fill at full opacity, in the light or the dark theme.
[[nodiscard]] QColor line_colour(Ink ink, const QPalette& palette);
[[nodiscard]] QColor fill_colour(Ink ink, const QPalette& palette);

/// A corner of a triangle, in pixels, with its colour.
struct Corner {
  float x, y;
  float r, g, b, a;
};

/// Returns the surfaces as triangles in pixels, ordered from far to near. The light comes from
/// above and behind the viewer.
[[nodiscard]] std::vector<Corner> triangles_of(const std::vector<Surface>& surfaces,
                                               const SpaceFrame& frame, const QPalette& palette);

class ScenePainter {
 public:
  ScenePainter();
  ~ScenePainter();
  ScenePainter(const ScenePainter&) = delete;
  ScenePainter& operator=(const ScenePainter&) = delete;

  // All of the following need a current OpenGL context.
  void create();
  void destroy();
  /// Begins a frame. `size` is that of the window in units, `density` the pixels per unit.
  void begin(const QSizeF& size, double density);
  /// Draws the raster over the rectangle of the frame, but only inside `ground` (closed, convex).
  /// The texture is stored under `index` and is uploaded again only if `version`
  /// differs.
  void heat(int index, long version, const HeatRaster& raster, const PlaneFrame& frame,
            const Line& ground);
  void fills(const std::vector<Fill>& fills, const QPalette& palette, const figure::Box& box);
  /// Draws triangles, blended in their order.
  void triangles(const std::vector<Corner>& corners);
  void end();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace conelab::desktop
