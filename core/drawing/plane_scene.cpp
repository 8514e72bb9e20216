#include "core/drawing/plane_scene.h"

#include <algorithm>
#include <cmath>

#include "core/drawing/font_metrics.h"

namespace conelab::figure {
namespace {

double shared_area(const Box& a, const Box& b) {
  const double width = std::min(a.right(), b.right()) - std::max(a.x, b.x);
  const double height = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

}  // namespace

bool clip_to(const Box& box, Point& from, Point& to) {
  double low = 0, high = 1;
  const double dx = to.x - from.x, dy = to.y - from.y;
  const auto against = [&](double slope, double room) {
    if (slope == 0) return room >= 0;
    (slope < 0 ? low : high) =
        slope < 0 ? std::max(low, room / slope) : std::min(high, room / slope);
    return low <= high;
  };
  if (!against(-dx, from.x - box.x) || !against(dx, box.right() - from.x) ||
      !against(-dy, from.y - box.y) || !against(dy, box.bottom() - from.y)) {
    return false;
  }
  const Point start = from;
  from = {start.x + low * dx, start.y + low * dy};
  to = {start.x + high * dx, start.y + high * dy};
  return true;
}

PlaneScene::PlaneScene(Window window, Point corner, double width, double most_height)
    : window_(window) {
  scale_ = width / window_.width();
  if (scale_ * window_.height() > most_height) {
    scale_ = most_height / window_.height();
    const double middle = (window_.left + window_.right) / 2, half = width / scale_ / 2;
    window_.left = middle - half, window_.right = middle + half;
  }
  box_ = {corner.x, corner.y, width, scale_ * window_.height()};
}

Point PlaneScene::page(Point world) const {
  return {box_.x + (world.x - window_.left) * scale_,
          box_.bottom() - (world.y - window_.low) * scale_};
}

Point PlaneScene::world(Point page) const {
  return {window_.left + (page.x - box_.x) / scale_,
          window_.low + (box_.bottom() - page.y) / scale_};
}

void PlaneScene::arc(Path& path, Point centre, double radius, double from, double to) const {
  path.arc(page(centre), radius * scale_, -from, from - to);
}

Path PlaneScene::circle(Point centre, double radius) const {
  return Path::circle(page(centre), radius * scale_);
}

void LabelPlacer::avoid_segment(Point from, Point to) {
  // The circles of a scene may be a billion pages wide. Only the part on the page is used.
  if (!clip_to(page_.grown(2), from, to)) return;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const int pieces = static_cast<int>(std::clamp(length / 4, 1.0, 400.0));
  for (int i = 0; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces;
    avoid(Box{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y), 0, 0}.grown(1));
  }
}

// The circles of a scene may be a billion pages wide. Only the part near the page is split.
void LabelPlacer::avoid_arc(const ArcTo& arc, double from, double to) {
  const Point a = arc.at(from), b = arc.at(to);
  const double half = std::sin((to - from) / 4), bow = 2 * std::max(arc.rx, arc.ry) * half * half;
  const Box around = {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x),
                      std::abs(a.y - b.y)};
  if (shared_area(around.grown(bow + 2), page_) == 0) return;
  constexpr double straight = 0.3;
  if (bow < straight) return avoid_segment(a, b);
  avoid_arc(arc, from, (from + to) / 2);
  avoid_arc(arc, (from + to) / 2, to);
}

void LabelPlacer::avoid_path(const Path& path) {
  Point at;
  for (const Segment& s : path.segments) {
    if (const auto* move = std::get_if<MoveTo>(&s)) at = move->to;
    if (const auto* line = std::get_if<LineTo>(&s)) {
      avoid_segment(at, line->to);
      at = line->to;
    }
    if (const auto* arc = std::get_if<ArcTo>(&s)) {
      constexpr int parts = 4;  // Each part is at most a quarter turn, so that its box bounds it.
      for (int i = 0; i < parts; ++i) {
        avoid_arc(*arc, arc->from + arc->sweep * i / parts,
                  arc->from + arc->sweep * (i + 1) / parts);
      }
      at = arc->at(arc->from + arc->sweep);
    }
    // Pieces of adaptively split curves are short compared with a label.
    if (const auto* cubic = std::get_if<CubicTo>(&s)) {
      avoid_segment(at, cubic->to);
      at = cubic->to;
    }
  }
}

double LabelPlacer::cost(const Box& box) const {
  double sum = 0;
  for (const Box& label : labels_) sum += 1000 * shared_area(box, label);
  for (const Box& obstacle : obstacles_) sum += shared_area(box, obstacle);
  const Box inside = {std::max(box.x, page_.x), std::max(box.y, page_.y), 0, 0};
  const double seen = std::max(0.0, std::min(box.right(), page_.right()) - inside.x) *
                      std::max(0.0, std::min(box.bottom(), page_.bottom()) - inside.y);
  return sum + 1e6 * std::max(0.0, box.width * box.height - seen - 1e-6);
}

Box LabelPlacer::place(DisplayList& list, Point point, const std::vector<TextRun>& runs,
                       TextStyle style, double gap) {
  style.anchor = Anchor::middle, style.align = Align::middle;
  const double width = text_width(runs, style.size), height = 0.95 * style.size;
  point = {std::clamp(point.x, page_.x, page_.right()),
           std::clamp(point.y, page_.y, page_.bottom())};
  Box best_box;
  Point best_at = point;
  double best = 1e300;
  const auto consider = [&](Point at, double away) {
    const Box box = {at.x - width / 2, at.y - height / 2, width, height};
    const double c = cost(box.grown(0.8)) + 0.4 * away;
    if (c < best - 1e-9) best = c, best_at = at, best_box = box;
  };
  if (gap == 0) consider(point, 0);
  for (double reach = gap; reach <= gap + 30; reach += 3) {
    for (int k = 0; k < 16; ++k) {
      const double angle = std::numbers::pi * (0.25 + k / 8.0);
      const double dx = std::cos(angle), dy = -std::sin(angle);
      const Point at = {point.x + dx * (reach + width / 2), point.y + dy * (reach + height / 2)};
      consider(at, reach - gap);
    }
  }
  list.text(best_at, runs, style);
  labels_.push_back(best_box);
  return best_box;
}

bool LabelPlacer::place_if_free(DisplayList& list, Point point, const std::vector<TextRun>& runs,
                                TextStyle style, double gap) {
  style.anchor = Anchor::middle, style.align = Align::middle;
  const double width = text_width(runs, style.size), height = 0.95 * style.size;
  constexpr double little = 0.25;  // Share of the label's area; thin curves are obstacles too.
  for (int k = 0; k < 16; ++k) {
    const double angle = std::numbers::pi * k / 8;
    const Point at = {point.x + std::cos(angle) * (gap + width / 2),
                      point.y - std::sin(angle) * (gap + height / 2)};
    const Box box = {at.x - width / 2, at.y - height / 2, width, height};
    if (cost(box) > little * width * height) continue;
    list.text(at, runs, style);
    labels_.push_back(box);
    return true;
  }
  return false;
}

}  // namespace conelab::figure
