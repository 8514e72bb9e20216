// Plane geometry on the page: a window of the plane at equal scale, circles as exact arcs.
//
// World coordinates have y up and angles counterclockwise, the page y down; everything here takes
// world coordinates and world angles. Curves of hyperbolic models (geodesics, horospheres, balls,
// cones' edges) are circles or lines: pass those, never sampled points.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// A rectangle of the plane, [left, right] x [low, high].
struct Window {
  double left = 0, right = 1, low = 0, high = 1;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return high - low; }
};

/// Maps a window of the world onto a box of the page at one scale for both axes.
class PlaneScene {
 public:
  /// The box is `width` wide from `corner` (its top left) and as high as the window asks; where
  /// that exceeds `most_height`, the window is widened about its middle instead.
  PlaneScene(Window window, Point corner, double width, double most_height);

  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] const Box& box() const { return box_; }
  /// Points of the page for one unit of the world.
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] Point page(Point world) const;

  // Builders of outlines on the page.
  void move(Path& path, Point world) const { path.move(page(world)); }
  void line(Path& path, Point world) const { path.line(page(world)); }
  /// The circle's arc from one world angle to another, the short way their difference says
  /// (counterclockwise where `to` > `from`).
  void arc(Path& path, Point centre, double radius, double from, double to) const;
  /// The arc of the circle about `centre` from one point to another over less than a half turn;
  /// the points' distances to the centre may differ by rounding only.
  void arc_between(Path& path, Point centre, Point from, Point to) const;
  [[nodiscard]] Path circle(Point centre, double radius) const;
  [[nodiscard]] Path segment(Point from, Point to) const;

  /// The geodesic of the half-plane y > 0 through two points, between them or extended to the
  /// boundary: an arc centred on the boundary, a vertical line where x agrees.
  [[nodiscard]] Path half_plane_geodesic(Point a, Point b, bool extended = false) const;

 private:
  Window window_;
  Box box_;
  double scale_ = 1;
};

/// Finds room for labels among what is drawn: tries places around a point, nearest first, and takes
/// the first that overlaps neither an obstacle nor an earlier label and stays inside the page.
class LabelPlacer {
 public:
  explicit LabelPlacer(Box page) : page_(page) {}

  void avoid(const Box& box) { obstacles_.push_back(box); }
  /// A thin curve as small boxes along its points on the page.
  void avoid_segment(Point from, Point to);
  void avoid_path(const Path& path);

  /// Draws the label near `point` (its distance at least `gap`; 0: over it if free); where every
  /// place is taken, the one with the least overlap of labels. Returns the label's box.
  Box place(DisplayList& list, Point point, const std::vector<TextRun>& runs, TextStyle style,
            double gap = 4);

 private:
  void avoid_arc(const ArcTo& arc, double from, double to);
  [[nodiscard]] double cost(const Box& box) const;

  Box page_;
  std::vector<Box> obstacles_, labels_;
};

}  // namespace conelab::figure
