#include "widgets/explorer/cone_picture.h"

#include <algorithm>
#include <cmath>

#include "core/figure/cone_curves.h"
#include "widgets/explorer/heat_field.h"
#include "widgets/explorer/space_surfaces.h"

namespace conelab::desktop {
namespace {

using figure::AxisShadow;
using figure::Box;
using figure::ConeCurves;
using figure::Curve;
using geometry::Model;
using geometry::Vector;

Vector vector_at(const std::array<double, 2>& p) { return Eigen::Vector2d(p[0], p[1]); }

AxisShadow shadow_of(const LawPoint& p) { return {p.axis, p.shadow}; }

Line rectangle(double left, double top, double right, double bottom) {
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}
Line circle(const PlanePoint& centre, double radius) {
  Line out;
  const int count = std::clamp(static_cast<int>(8 * std::sqrt(radius)), 32, 720);
  for (int i = 0; i < count; ++i) {
    const double a = 2 * M_PI * i / count;
    out.push_back({centre.x + radius * std::cos(a), centre.y + radius * std::sin(a)});
  }
  return out;
}

/// Adds the curves of one scene to a picture, one kind after the other.
class Builder {
 public:
  /// `part` is the visible part of the half-plane.
  Builder(const ConeChoice& choice, const ConeScene& scene, Projection project, const Box& box,
          const figure::PlanePart& part = usual_part)
      : choice_(choice),
        scene_(scene),
        project_(std::move(project)),
        box_(box),
        part_(part),
        curves_(scene.system),
        apart_(box.grown(4)) {}

  ConePicture picture;

  void fill_regions() {
    if (!scene_.error.empty()) return;
    if (scene_.lca && choice_.ancestors) {
      fill(Ink::ancestors, 0.26, curves_.ancestors(shadow_of(*scene_.lca)));
    }
    const bool objects = choice_.objects && !scene_.penumbral;
    if (objects) {
      fill(Ink::shadow, 0.18, curves_.shadow(vector_at(choice_.v)));
      fill(Ink::shadow, 0.18, curves_.shadow(vector_at(choice_.u)));
    }
    fill(Ink::v, 0.30, curves_.cone(shadow_of(scene_.v)));
    fill(Ink::u, 0.30, curves_.cone(shadow_of(scene_.u)));
    if (objects) {
      fill(Ink::v, 0.5, curves_.object_ball(vector_at(choice_.v)));
      fill(Ink::u, 0.5, curves_.object_ball(vector_at(choice_.u)));
    }
  }

  void fill_light(const PlaneFrame& frame) {
    if (!scene_.error.empty() || (scene_.infinite && !scene_.penumbral)) return;
    const geometry::RadialDomain domain = scene_.system.family->domain(scene_.system.values);
    const Ink ink = scene_.penumbral ? Ink::light : Ink::excluded;
    // Another similarity has values there too.
    const double opacity = other_similarity(choice_) ? 0.3 : 1;
    Line area = level(scene_.infinite ? domain.high : domain.low);
    if (scene_.infinite && frame.model() == Model::halfspace) {
      area = rectangle(box_.x, box_.y - 9, box_.right(), std::max(area[0].y, box_.y - 9));
      if (opacity == 1) light_ends_ = area.back().y;
    }
    area = clipped_area(area, box_.grown(2));
    if (area.size() >= 3) picture.fills.push_back({ink, opacity, {std::move(area)}});
  }

  void fill_outside(const PlaneFrame& frame) {
    Fill out{Ink::outside, 1, {}};
    const Box all = box_;
    const PlanePoint o = frame.origin();
    if (frame.model() == Model::halfspace) {
      out.contours = {rectangle(all.x, o.y, all.right(), all.bottom())};
      const double top = std::clamp(light_ends_.value_or(all.y), all.y, o.y);
      picture.ground = rectangle(all.x, top, all.right(), o.y);
    } else if (frame.model() == Model::band) {
      const double half = M_PI / 2 / frame.unit();
      out.contours = {rectangle(all.x, all.y, o.x - half, all.bottom()),
                      rectangle(o.x + half, all.y, all.right(), all.bottom())};
      picture.ground = rectangle(o.x - half, all.y, o.x + half, all.bottom());
    } else {
      picture.ground = circle(o, 1 / frame.unit());
      out.contours = around(picture.ground, o);
    }
    out.plain = true;
    picture.fills.push_back(std::move(out));
  }

  void draw_lines() {
    if (!scene_.error.empty()) return;
    draw_levels();
    if (scene_.lca && choice_.ancestors) draw_ancestors();
    for (const int side : {-1, 1}) stroke(Ink::v, 1.6, curves_.edge(shadow_of(scene_.v), side));
    for (const int side : {-1, 1}) stroke(Ink::u, 1.6, curves_.edge(shadow_of(scene_.u), side));
    if (choice_.objects && !scene_.penumbral) {
      stroke(Ink::v, 1, curves_.object_ball(vector_at(choice_.v)));
      stroke(Ink::u, 1, curves_.object_ball(vector_at(choice_.u)));
    }
    if (choice_.horospheres) draw_horospheres();
    if (choice_.geodesic) {
      stroke(Ink::geodesic, 1.4,
             figure::geodesic_curve(vector_at(choice_.u), vector_at(choice_.v)));
    }
    draw_border();
  }

 private:
  /// Fills the box except for a circle, in adjacent pieces. They are painted faster than an
  /// even-odd area as large as the window.
  [[nodiscard]] std::vector<Line> around(const Line& circle, const PlanePoint& centre) const {
    const double beyond = 4 * std::hypot(box_.width, box_.height);
    const auto outwards = [&](const figure::Point& p) {
      const double dx = p.x - centre.x, dy = p.y - centre.y, far = beyond / std::hypot(dx, dy);
      return figure::Point{centre.x + far * dx, centre.y + far * dy};
    };
    std::vector<Line> pieces;
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const figure::Point &a = circle[i], &b = circle[(i + 1) % circle.size()];
      Line piece = clipped_area({a, b, outwards(b), outwards(a)}, box_);
      if (piece.size() >= 3) pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  void fill(Ink ink, double opacity, const Curve& curve) {
    Line area = clipped_area(flattened(curve, project_, box_), box_.grown(2));
    if (area.size() >= 3) picture.fills.push_back({ink, opacity, {std::move(area)}});
  }

  void stroke(Ink ink, double width, const Curve& curve, bool dashes = false, double opacity = 1) {
    stroke_line(ink, width, flattened(curve, project_, box_), dashes, opacity);
  }
  void stroke_line(Ink ink, double width, const Line& line, bool dashes, double opacity) {
    InkStroke out{ink, opacity, width, dashes, clipped_line(line, box_.grown(4))};
    if (!out.pieces.empty()) picture.strokes.push_back(std::move(out));
  }

  /// Draws a complete level of the radial coordinate. On the half-plane, that of an infinite source
  /// is a horizontal line through ∞.
  [[nodiscard]] Line level(double radial) const {
    const figure::CycleArc arc = curves_.level(radial);
    if (scene_.infinite && choice_.model == "space") {  // Across its plane in space.
      const double middle = (choice_.u[0] + choice_.v[0]) / 2, reach = level_reach(choice_);
      return {project_(figure::from_half_plane(middle - reach, radial)),
              project_(figure::from_half_plane(middle + reach, radial))};
    }
    if (!horizontal_levels()) return flattened({arc}, project_, box_);
    const double y = project_(arc.via).y;
    return {{box_.x - 9, y}, {box_.right() + 9, y}};
  }
  [[nodiscard]] bool horizontal_levels() const {
    return scene_.infinite && choice_.model == "halfspace";
  }

  /// Draws level lines at the same distances as in the exported figure. If depths have no end
  /// (umbral), they cover the visible part, or the part above u if u is high.
  void draw_levels() {
    if (!choice_.level_lines) return;
    if (const auto* other = other_similarity(choice_)) return draw_levels(other->similarity);
    const AxisShadow u = shadow_of(scene_.u);
    const double own = scene_.system.family->radial(scene_.system.values, u.shadow);
    const figure::LevelLines lines =
        curves_.similarity_levels(u, level_lines, std::max(part_.top, 4 * own), scene_.measure);
    for (const Curve& line : lines.within) level_line(line, false);
    for (const Curve& line : lines.beyond) level_line(line, true);
  }

  /// Draws the level lines of another similarity at the values that the legend names.
  void draw_levels(figure::PlaneSimilarity similarity) {
    const figure::SimilarityRange range = heat_range(choice_, scene_, part_);
    const double step = figure::round_level_step(range.low, range.high, most_level_lines);
    const Eigen::Vector2d u(choice_.u[0], choice_.u[1]);
    for (const Curve& line : figure::similarity_curves(similarity, u, range, step)) {
      level_line(line, false);
    }
  }

  /// Draws a line, except where it is too close to earlier lines: many lines at the border would
  /// make a moiré pattern.
  void level_line(const Curve& curve, bool dashes) {
    InkStroke out{Ink::level, 0.55, 1, dashes, {}};
    for (const Line& piece : clipped_line(flattened(curve, project_, box_), box_.grown(4))) {
      for (Line& part : apart_.kept(piece)) out.pieces.push_back(std::move(part));
    }
    apart_.add(out.pieces);
    if (!out.pieces.empty()) picture.strokes.push_back(std::move(out));
  }

  void draw_ancestors() {
    const AxisShadow meeting = shadow_of(*scene_.lca);
    stroke(Ink::ancestors, 1.2, curves_.ancestors(meeting), true);
    for (const auto& [from, ink] : {std::pair{scene_.u, Ink::u}, {scene_.v, Ink::v}}) {
      if (meeting.shadow - from.shadow < 1e-9) continue;
      stroke(ink, 1, curves_.ascent(shadow_of(from), meeting), true);
    }
  }

  void draw_horospheres() {
    stroke_line(Ink::u, 0.8, level(scene_.u.radial), false, 0.5);
    stroke_line(Ink::v, 0.8, level(scene_.v.radial), false, 0.5);
    stroke_line(Ink::depth, 1.2, level(scene_.law.radial), true, 1);
    if (!scene_.law.place && scene_.penumbral) {
      stroke(Ink::depth, 1,
             figure::geodesic_curve(vector_at(choice_.u), vector_at(choice_.v), true), true);
    }
  }

  /// Draws the border of the light (or of the part in which objects fit).
  void draw_border() {
    if (scene_.infinite && !scene_.penumbral) return;
    const geometry::RadialDomain domain = scene_.system.family->domain(scene_.system.values);
    stroke_line(scene_.penumbral ? Ink::light : Ink::excluded, 1.4,
                level(scene_.infinite ? domain.high : domain.low), !scene_.penumbral, 1);
  }

  const ConeChoice& choice_;
  const ConeScene& scene_;
  Projection project_;
  Box box_;
  figure::PlanePart part_;
  std::optional<double> light_ends_;  ///< Half-plane: the lowest pixel of the light.
  ConeCurves curves_;
  LineSpacing apart_;
};

/// Draws the border of the model.
InkStroke boundary(const PlaneFrame& frame, const Box& box) {
  const PlanePoint o = frame.origin();
  InkStroke border{Ink::boundary, 1, 1.2, false, {}};
  if (frame.model() == Model::halfspace) {
    border.pieces = {{{box.x, o.y}, {box.right(), o.y}}};
  } else if (frame.model() == Model::band) {
    const double half = M_PI / 2 / frame.unit();
    for (const double x : {o.x - half, o.x + half}) {
      border.pieces.push_back({{x, box.y}, {x, box.bottom()}});
    }
  } else {
    border.pieces = {circle(o, 1 / frame.unit())};
    border.pieces[0].push_back(border.pieces[0].front());
  }
  return border;
}

}  // namespace

ConePicture cone_picture(const ConeChoice& choice, const ConeScene& scene,
                         const PlaneFrame& frame) {
  const Box box{frame.corner().x, frame.corner().y, frame.width(), frame.height()};
  const auto project = [&frame](const figure::HemispherePoint& p) {
    const PlanePoint q = frame.project(p);
    return figure::Point{q.x, q.y};
  };
  Builder builder(choice, scene, project, box, plane_part(frame));
  builder.fill_regions();
  builder.fill_light(frame);
  builder.fill_outside(frame);
  builder.draw_lines();
  builder.picture.strokes.push_back(boundary(frame, box));
  return std::move(builder.picture);
}

std::vector<Fill> cone_fills(const ConeChoice& choice, const ConeScene& scene,
                             const Projection& project, const Box& box) {
  Builder builder(choice, scene, project, box);
  builder.fill_regions();
  return std::move(builder.picture.fills);
}

std::vector<InkStroke> cone_strokes(const ConeChoice& choice, const ConeScene& scene,
                                    const Projection& project, const Box& box) {
  Builder builder(choice, scene, project, box);
  builder.draw_lines();
  return std::move(builder.picture.strokes);
}

}  // namespace conelab::desktop
