// The pictures of the explorer in space: H³ with bodies of revolution, and the hyperboloid.
#include <algorithm>
#include <cmath>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

figure::Point bounded(const Eigen::Vector3d& page) {
  constexpr double far_away = 1e7;  // Pixels.
  return {std::clamp(page.x(), -far_away, far_away), std::clamp(page.y(), -far_away, far_away)};
}

PlaneColours plane_colours(const ConeScene& scene, const QPalette& palette, bool regions) {
  const auto colour = [&](Ink ink) { return figure_colour(fill_colour(ink, palette)); };
  return {is_dark(palette) ? figure::ColourMap::dark : figure::ColourMap::sequential,
          figure_colour(palette.color(QPalette::Base)),
          colour(Ink::u),
          colour(Ink::v),
          colour(Ink::ancestors),
          colour(scene.penumbral ? Ink::light : Ink::excluded),
          regions};
}

/// Returns the rim of the hyperboloid on the page, an ellipse. Lines that leave the surface are
/// mapped to the rim and hidden there.
class Rim {
 public:
  explicit Rim(const SpaceFrame& frame) {
    for (int i = 0; i <= turns; ++i) {
      const double a = 2 * M_PI * i / turns, radius = std::sqrt(top * top - 1);
      const Eigen::Vector3d p = frame.page({radius * std::cos(a), radius * std::sin(a), top});
      line.push_back(bounded(p));
    }
    const Eigen::Vector3d middle = frame.page({0, 0, top});
    middle_ = {middle.x(), middle.y()};
    for (const figure::Point& p : line) {
      across_ = std::max(across_, std::abs(p.x - middle_.x));
      up_ = std::max(up_, std::abs(p.y - middle_.y));
    }
  }

  Line line;

  [[nodiscard]] std::vector<Line> without(const Line& piece) const {
    std::vector<Line> out;
    bool on = false;
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      const bool along = holds(piece[i]) && holds(piece[i + 1]);
      if (!along && !on) out.push_back({piece[i]});
      if (!along) out.back().push_back(piece[i + 1]);
      on = !along;
    }
    return out;
  }

 private:
  static constexpr int turns = 240;
  static constexpr double top = hyperboloid_rim;

  [[nodiscard]] bool holds(const figure::Point& p) const {
    const double x = (p.x - middle_.x) / std::max(1.0, across_);
    const double y = (p.y - middle_.y) / std::max(1.0, up_);
    return std::abs(std::hypot(x, y) - 1) < 0.004;
  }

  figure::Point middle_;
  double across_ = 0, up_ = 0;
};

}  // namespace

void ExplorerViewport::update_space(std::size_t i) {
  Pane& pane = panes_[i];
  pane.picture = {};
  if (!pane.scene.error.empty()) return;
  const SpaceFrame f = turned_frame(i);
  shown_.model == "space" ? show_half_space(pane, f, palette())
                          : show_hyperboloid(pane, f, palette());
}

void ExplorerViewport::show_half_space(Pane& pane, const SpaceFrame& frame,
                                       const QPalette& palette) {
  const SpaceScene scene = space_scene(pane.choice, pane.scene);
  pane.triangles = triangles_of(scene.surfaces, frame, palette);
  for (const auto& [ink, line] : scene.lines) {
    Line flat;
    for (const Eigen::Vector3d& p : line) flat.push_back(bounded(frame.page(p)));
    const bool ground = ink == Ink::boundary;
    pane.picture.strokes.push_back({ink, ground ? 0.45 : 0.8, ground ? 0.8 : 1.2, false, {flat}});
  }
  const auto project = [&](const figure::HemispherePoint& p) {
    const Eigen::Vector2d z = figure::to_half_plane(p);
    constexpr double zenith = 1e6;
    return bounded(
        frame.page(z.allFinite() ? in_slice({z.x(), z.y()}) : Eigen::Vector3d(0, 0, zenith)));
  };
  ConeChoice lines = pane.choice;
  lines.level_lines = false;  // The heat layer is not shown in space.
  for (InkStroke& stroke : cone_strokes(lines, pane.scene, project, pane.box)) {
    pane.picture.strokes.push_back(std::move(stroke));
  }
}

/// If no part of the surface hides another, cones are filled up to their exact borders.
void ExplorerViewport::show_hyperboloid(Pane& pane, const SpaceFrame& frame,
                                        const QPalette& palette) {
  const bool unhidden = -frame.away().z() >= std::sin(unhidden_pitch);
  pane.triangles = triangles_of(
      {hyperboloid_surface(pane.choice, pane.scene, plane_colours(pane.scene, palette, !unhidden))},
      frame, palette);
  const auto project = [&](const figure::HemispherePoint& p) {
    return bounded(frame.page(on_hyperboloid(p)));
  };
  if (unhidden) pane.picture.fills = cone_fills(pane.choice, pane.scene, project, pane.box);
  const Rim rim(frame);
  for (InkStroke& stroke : cone_strokes(pane.choice, pane.scene, project, pane.box)) {
    std::vector<Line> pieces;
    for (const Line& piece : stroke.pieces) {
      for (Line& part : rim.without(piece)) pieces.push_back(std::move(part));
    }
    stroke.pieces = std::move(pieces);
    pane.picture.strokes.push_back(std::move(stroke));
  }
  pane.picture.strokes.push_back({Ink::boundary, 1, 1.2, false, {rim.line}});
}

}  // namespace conelab::desktop
