// Plane geometry on the page: a window of the plane at equal scale, and exact arcs of circles.
//
// World coordinates have y up and counterclockwise angles; the page has y down. Everything here
// takes world coordinates and world angles. Curves of hyperbolic models (geodesics, horospheres,
// balls, edges of cones) are circles or lines; pass these, never sampled points.
#pragma once

#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// A rectangle of the plane, [left, right] x [low, high].
struct Window {
  double left = 0, right = 1, low = 0, high = 1;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return high - low; }
};

/// Clips a segment to the box and returns false if nothing is left (Liang and Barsky).
[[nodiscard]] bool clip_to(const Box& box, Point& from, Point& to);

/// Maps a window of the plane to a box of the page, with the same scale for both axes.
class PlaneScene {
 public:
  /// The box has its top left at `corner` and this width; its height follows from the window. If it
  /// would exceed `most_height`, the window is widened about its middle instead.
  PlaneScene(Window window, Point corner, double width, double most_height);

  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] const Box& box() const { return box_; }
  /// Returns the length on the page, in points, of one unit of the world.
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] Point page(Point world) const;
  /// Returns the point of the world at a point of the page.
  [[nodiscard]] Point world(Point page) const;

  // Functions that build outlines on the page.
  /// Adds the arc of the circle from one world angle to another, counterclockwise if `to` > `from`,
  /// otherwise clockwise.
  void arc(Path& path, Point centre, double radius, double from, double to) const;
  [[nodiscard]] Path circle(Point centre, double radius) const;

 private:
  Window window_;
  Box box_;
  double scale_ = 1;
};

/// Places labels between drawn objects. It tries positions around a point, nearest first, and takes
/// the first that overlaps no obstacle and no earlier label and lies inside the page.
class LabelPlacer {
 public:
  explicit LabelPlacer(Box page) : page_(page) {}

  void avoid(const Box& box) { obstacles_.push_back(box); }
  /// Adds a thin curve as obstacles: small boxes along its points on the page.
  void avoid_segment(Point from, Point to);
  void avoid_path(const Path& path);

  /// Draws the label near `point`, at a distance of at least `gap` (0: over the point if that is
  /// free). If no position is free, it takes the one with the least overlap with labels. Returns
  /// the box of the label.
  Box place(DisplayList& list, Point point, const std::vector<TextRun>& runs, TextStyle style,
            double gap = 4);
  /// Draws the label next to `point` if there is a position that overlaps no label and little else,
  /// and returns whether it did.
  bool place_if_free(DisplayList& list, Point point, const std::vector<TextRun>& runs,
                     TextStyle style, double gap);

 private:
  void avoid_arc(const ArcTo& arc, double from, double to);
  [[nodiscard]] double cost(const Box& box) const;

  Box page_;
  std::vector<Box> obstacles_, labels_;
};

}  // namespace conelab::figure
