#include "core/figure/cone_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/drawing/axes.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"
#include "core/figure/heat_values.h"
#include "core/figure/similarity_field.h"
#include "core/geometry/isometry.h"

namespace conelab::figure {
namespace {

using geometry::Lca;
using geometry::Model;
using geometry::Vector;

constexpr Colour light_fill{255, 243, 205, 255}, shadow_fill{120, 120, 120, 70},
    nearly_white{250, 250, 250, 255};

Colour darker(Colour c) {
  const auto part = [](std::uint8_t v) { return static_cast<std::uint8_t>(0.72 * v); };
  return {part(c.r), part(c.g), part(c.b), c.a};
}

/// Returns the part of the half-plane that shows the scene, whose values determine the colours and
/// the level lines in every model.
PlanePart part_of(const PanelScene& scene) {
  const Window part = fitted_window(scene, Model::halfspace);
  return {part.left, part.right, part.high};
}

SimilarityField field_of(const PanelScene& scene) {
  return {scene.system, scene.u.head<2>(), scene.measure, plane_similarity(scene.similarity)};
}

/// On the hyperboloid, parts of which hide others, there is no heat.
bool has_heat(const PanelScene& scene, Model model) {
  return scene.heat && model != Model::hyperboloid;
}

double draw_heat_bar(DisplayList& list, const PanelScene& scene, const Box& panel) {
  const PlaneSimilarityInfo* other = plane_similarity(scene.similarity);
  const SimilarityRange range = field_of(scene).range(part_of(scene));
  std::string title = scene.system.family->name + std::string(" log K(u, x)");
  if (other != nullptr) title = std::string(other->name) + " " + other->formula;
  if (range.lower) title += "; lower values have the first colour";
  const double width = std::min(170.0, 0.8 * panel.width), top = panel.bottom() + 4;
  draw_colour_bar(list,
                  {ColourMap::sequential,
                   HeatScale::linear,
                   {range.low, range.high},
                   title,
                   heat_colours(ColourMap::sequential, nearly_white, false)},
                  {panel.x + (panel.width - width) / 2, top, width, colour_bar_height});
  return top + colour_bar_height;
}

/// Draws one scene. Derived quantities are computed once.
class PanelPainter {
 public:
  PanelPainter(DisplayList& list, const PanelScene& scene, const ModelView& view, std::string id)
      : list_(list),
        scene_(scene),
        view_(view),
        id_(std::move(id)),
        labels_(view.field().grown(-1)),
        curves_(scene.system),
        u_(curves_.locate(scene.u, "u")) {
    if (!scene.v) return;
    v_ = curves_.locate(*scene.v, "v");
    lca_ = scene_lca(scene);
    if (lca_->place) meeting_ = curves_.locate(*lca_->place);
  }

  void draw() {
    const Path domain = view_.domain();
    list_.path(domain, Paint::filled(nearly_white));
    if (scene_.ground) {
      const bool cut = view_.model() == Model::hyperboloid;  // It is drawn up to its rim.
      list_.path(cut ? view_.path(boundary_curve()) : domain, Paint::filled(*scene_.ground));
    }
    list_.clip_begin(domain);
    draw_heat();
    draw_grid();
    draw_curves(true);
    draw_light();
    draw_curves(false);
    draw_ancestors();
    draw_levels();
    if (scene_.v) draw_cone(*v_, *scene_.v, "v", purple);
    draw_cone(u_, scene_.u, "u", blue);
    draw_depth();
    for (const SceneGeodesic& g : scene_.geodesics) draw_geodesic(g);
    list_.clip_end();
    draw_boundary();
    draw_points();
  }

 private:
  void group(const std::string& name, const std::string& title) {
    list_.group_begin(name + "-" + id_, title);
  }

  void stroke(const Curve& curve, const Paint& paint) {
    list_.path(paint.fill.a == 0 ? view_.line(curve) : view_.path(curve), paint);
    labels_.avoid_path(view_.line(curve));
  }

  /// Colours the page by the similarity with u, in dots of 0.6 points; the clip of the domain is
  /// exact.
  void draw_heat() {
    if (!has_heat(scene_, view_.model())) return;
    constexpr double dot = 0.6;
    group("heat", "The similarity with u");
    const Box b = view_.field();
    const auto columns = static_cast<std::size_t>(std::ceil(b.width / dot));
    const auto rows = static_cast<std::size_t>(std::ceil(b.height / dot));
    const SimilarityField field = field_of(scene_);
    const SimilarityRange range = field.range(part_of(scene_));
    const std::vector<Colour> near = heat_colours(ColourMap::sequential, nearly_white, false);
    const std::vector<Colour> beyond = heat_colours(ColourMap::sequential, nearly_white, true);
    std::vector<std::uint8_t> rgba;
    rgba.reserve(rows * columns * 4);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const auto part = [](std::size_t i, std::size_t of) {
          return (static_cast<double>(i) + 0.5) / static_cast<double>(of);
        };
        const Point at{b.x + b.width * part(c, columns), b.y + b.height * part(r, rows)};
        const SimilarityField::Value value = field.at(to_half_plane(view_.nearest(at)));
        const double t = (value.similarity - range.low) / (range.high - range.low);
        const auto place = static_cast<std::size_t>(std::clamp(t, 0.0, 1.0) * 255);
        const Colour colour = (value.extended ? beyond : near)[place];
        rgba.insert(rgba.end(), {colour.r, colour.g, colour.b, 255});
      }
    }
    list_.image(b, columns, rows, std::move(rgba));
    list_.group_end();
  }

  /// On the hyperboloid, circles about the origin and the lines across them show its shape.
  void draw_grid() {
    if (view_.model() != Model::hyperboloid) return;
    group("grid", "Circles and lines about the origin");
    const Paint paint = Paint::stroked(grid_line, thin_line);
    for (const double radius : {0.5, 1.0, 1.5}) {
      list_.path(view_.line(circle_curve(Eigen::Vector2d(0, 1), radius)), paint);
    }
    for (int i = 0; i < 12; ++i) {
      const double angle = i * std::numbers::pi / 6;
      list_.path(
          view_.line({{from_polar(angle, 0.05), from_polar(angle, 1), from_polar(angle, 3)}}),
          paint);
    }
    list_.group_end();
  }

  void draw_light() {
    group("light", "The light");
    if (!curves_.umbral()) {
      const CycleArc border = curves_.light();
      list_.path(view_.area(border, curves_.source()), Paint::filled(light_fill));
      stroke({border}, Paint::stroked(orange, 1));
    } else if (scene_.system.infinite() && !at_page(curves_.source())) {
      draw_rays();
    }
    list_.group_end();
  }

  void draw_rays() {
    const Box b = view_.field();
    constexpr int rays = 5;
    for (int i = 0; i < rays; ++i) {
      const double x = b.x + b.width * (i + 0.5) / rays;
      list_.line({x, b.y + 1}, {x, b.y + 8}, {orange, line_width});
      list_.path(Path::polyline({{x - 1.6, b.y + 7}, {x, b.y + 10.5}, {x + 1.6, b.y + 7}}, true),
                 Paint::filled(orange));
      labels_.avoid({x - 3, b.y, 6, 11});
    }
  }

  [[nodiscard]] bool at_page(const HemispherePoint& p) const {
    return view_.box().grown(1).contains(view_.page(p));
  }

  void draw_curves(bool areas) {
    if (scene_.curves.empty()) return;
    group(areas ? "areas" : "curves", areas ? "Areas" : "Their borders");
    for (const SceneCurve& c : scene_.curves) {
      if ((c.paint.fill.a != 0) == areas) stroke(c.curve, c.paint);
    }
    list_.group_end();
  }

  void draw_ancestors() {
    if (!meeting_ || !scene_.ancestors) return;
    group("ancestors", "The common ancestors of u and v");
    const Curve region = curves_.ancestors(*meeting_);
    list_.path(view_.path(region), Paint::filled(green.opacity(0.16)));
    stroke(region, Paint::stroked(green, line_width, {3, 1.5}));
    for (const auto& [from, colour] : {std::pair{u_, blue}, {*v_, purple}}) {
      if (meeting_->shadow - from.shadow < 1e-9) continue;
      stroke(curves_.ascent(from, *meeting_), Paint::stroked(colour, line_width, {1, 2}));
    }
    list_.group_end();
  }

  void draw_levels() {
    if (scene_.levels <= 0) return;
    group("levels", "Level lines of log K(u, .)");
    const LevelLines lines = level_lines();
    const Paint paint = Paint::stroked(darker(sky), thin_line);
    for (const Curve& line : lines.within) list_.path(view_.line(line), paint);
    const Paint beyond = Paint::stroked(darker(sky), thin_line, {2, 1.5});
    for (const Curve& line : lines.beyond) list_.path(view_.line(line), beyond);
    list_.group_end();
  }

  /// Returns level lines of the scene's similarity. Those of a similarity that is not of cones are
  /// at round values over the part of the half-plane that shows the scene, in every model.
  [[nodiscard]] LevelLines level_lines() const {
    const PlaneSimilarityInfo* other = plane_similarity(scene_.similarity);
    if (other == nullptr) {
      const double own = scene_.system.family->radial(scene_.system.values, u_.shadow);
      return curves_.similarity_levels(u_, scene_.levels, 4 * own, scene_.measure);
    }
    const SimilarityRange range = similarity_range(other->similarity, scene_.u, part_of(scene_));
    const double step = round_level_step(range.low, range.high, scene_.levels);
    return {similarity_curves(other->similarity, scene_.u, range, step), {}};
  }

  void draw_cone(const AxisShadow& place, const Vector& x, const std::string& name, Colour colour) {
    if (!scene_.cones) return;
    group("cone-" + name, "The cone of " + name);
    const bool objects = curves_.umbral() && scene_.objects;
    if (objects) list_.path(view_.path(curves_.shadow(x)), Paint::filled(shadow_fill));
    list_.path(view_.path(curves_.cone(place)), Paint::filled(colour.opacity(0.22)));
    for (const int side : {-1, 1}) {
      stroke(curves_.edge(place, side), Paint::stroked(colour, data_line));
    }
    if (objects) {
      stroke(curves_.object_ball(x), {colour.opacity(0.35), {colour, line_width, {}, Cap::butt}});
    }
    list_.group_end();
  }

  /// Draws the level at the depth of the LCA. Without an LCA the depth is that of the geodesic
  /// through u and v, which is drawn too.
  void draw_depth() {
    if (!lca_ || !scene_.depth) return;
    group("depth", "The depth that attention reads");
    stroke({curves_.level(lca_->radial)}, Paint::stroked(vermilion, line_width, {4, 2}));
    if (!meeting_ && !curves_.umbral()) {
      stroke(geodesic_curve(scene_.u, *scene_.v, true),
             Paint::stroked(vermilion, line_width, {1.5, 1.5}));
    }
    list_.group_end();
  }

  [[nodiscard]] bool in_cone(const Vector& x) const {
    const auto element = [&](const Vector& y) {
      return geometry::element(scene_.system, geometry::point(Model::halfspace, y));
    };
    return geometry::is_ancestor(scene_.system.family->base, element(scene_.u), element(x));
  }

  /// Returns the parameter in (low, high) at which the points of the geodesic leave or enter the
  /// cone.
  [[nodiscard]] double crossing(const SceneGeodesic& g, double low, double high) const {
    const bool at_low = in_cone(geometry::along_geodesic(g.a, g.b, low));
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (in_cone(geometry::along_geodesic(g.a, g.b, middle)) == at_low ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  void draw_geodesic(const SceneGeodesic& g) {
    stroke(geodesic_curve(g.a, g.b), Paint::stroked(g.colour, data_line));
    for (const Vector& end : {g.a, g.b}) draw_point(from_half_plane(end), g.colour);
    if (!g.show_escape) return;
    if (in_cone(geometry::midpoint(g.a, g.b))) return;
    const Vector out = geometry::along_geodesic(g.a, g.b, crossing(g, 0, 0.5));
    const Vector back = geometry::along_geodesic(g.a, g.b, crossing(g, 0.5, 1));
    stroke(geodesic_curve(out, back), Paint::stroked(vermilion, 2));
    for (const Vector& border : {out, back}) draw_point(from_half_plane(border), vermilion);
  }

  void draw_boundary() {
    const Box b = view_.field();
    const Stroke line{ink, 1};
    switch (view_.model()) {
      case Model::halfspace:
        list_.line({b.x, b.bottom()}, {b.right(), b.bottom()}, line);
        break;
      case Model::ball:
      case Model::klein:
        list_.path(view_.domain(), {transparent, line});
        break;
      case Model::band:
        for (const double x : {b.x, b.right()}) {
          list_.line({x, b.y}, {x, b.bottom()}, line);
          labels_.avoid({x - 3, b.y, 6, b.height});
        }
        break;
      case Model::hyperboloid:
        list_.path(view_.path(boundary_curve()), {transparent, {ink, line_width, {2, 1}}});
        break;
    }
  }

  void draw_point(const HemispherePoint& p, Colour colour) {
    const Point at = view_.page(p);
    list_.circle(at, 2, {colour, {white, thin_line, {}, Cap::butt}});
    labels_.avoid(Box{at.x, at.y, 0, 0}.grown(2.5));
  }

  void name(const HemispherePoint& p, const std::string& markup, double size = text_size) {
    if (!at_page(p)) return;
    labels_.place(list_, view_.page(p), rich(markup), {.size = size, .colour = ink, .halo = 0.8});
  }

  void draw_points() {
    group("points", "Points");
    if (curves_.umbral() && at_page(curves_.source())) draw_point(curves_.source(), orange);
    draw_point(from_half_plane(scene_.u), blue);
    if (scene_.v) draw_point(from_half_plane(*scene_.v), purple);
    if (meeting_) draw_point(curves_.at(*meeting_), vermilion);
    for (const Vector& mark : scene_.marks) draw_point(from_half_plane(mark), ink);
    list_.group_end();
    draw_tokens();
    for (const SceneLabel& label : scene_.labels) {
      if (!at_page(label.at)) continue;
      const Point at = view_.page(label.at);
      const Box box = labels_.place(list_, at, rich(label.markup),
                                    {.size = title_size, .colour = ink, .halo = 0.8}, 0);
      lead(box, at, 0.5, ink);
    }
    name_light();
    name(from_half_plane(scene_.u), "<i>u</i>", title_size);
    if (scene_.v) name(from_half_plane(*scene_.v), "<i>v</i>", title_size);
    if (meeting_) name(curves_.at(*meeting_), "LCA");
    for (std::size_t i = 0; i < scene_.marks.size(); ++i) {
      const std::string number = scene_.marks.size() > 1 ? std::to_string(i + 1) : "";
      name(from_half_plane(scene_.marks[i]), "<i>w</i><sub>" + number + "</sub>", title_size);
    }
    if (scene_.annotate) annotate();
    name_tokens();
  }

  void draw_tokens() {
    if (scene_.tokens.empty()) return;
    group("tokens", "Tokens");
    for (const SceneToken& token : scene_.tokens) {
      if (!at_page(from_half_plane(token.at))) continue;
      const Point at = view_.page(from_half_plane(token.at));
      list_.circle(at, 1.2, {ink, {white, thin_line, {}, Cap::butt}});
      labels_.avoid(Box{at.x, at.y, 0, 0}.grown(1.5));
    }
    list_.group_end();
  }

  /// Writes the names of the tokens. Names for which there is no space are left out, so that the
  /// others can be read.
  void name_tokens() {
    for (const SceneToken& token : scene_.tokens) {
      if (token.name.empty() || !at_page(from_half_plane(token.at))) continue;
      labels_.place_if_free(list_, view_.page(from_half_plane(token.at)), {TextRun{token.name}},
                            {.size = small_size, .colour = ink, .halo = 0.8}, 1.5);
    }
  }

  void name_light() {
    const Box b = view_.field();
    Point at = view_.page(curves_.source());
    std::string text = "light";
    if (!at_page(curves_.source())) {
      const double across = view_.model() == Model::band ? 0.5 : 0.88;
      at = {b.x + across * b.width, b.y + 6};
      if (curves_.umbral()) text = scene_.system.infinite() ? "light at infinity" : "light outside";
    }
    // The label of a light that has an area is inside it.
    const double gap = curves_.umbral() ? 4 : 0;
    labels_.place(list_, at, rich(text), {.size = small_size, .colour = ink, .halo = 0.8}, gap);
    avoid_light();
  }

  /// Keeps other labels out of a light that is completely visible.
  void avoid_light() {
    if (curves_.umbral() || scene_.system.infinite()) return;
    const CycleArc border = curves_.light();
    const Point centre = view_.page(curves_.source());
    double near = HUGE_VAL;
    for (const HemispherePoint& p : {border.from, border.via, border.to}) {
      const Point at = view_.page(p);
      near = std::min(near, std::hypot(at.x - centre.x, at.y - centre.y));
    }
    labels_.avoid(Box{centre.x, centre.y, 0, 0}.grown(0.7 * near));
  }

  Box note(Point at, const std::vector<TextRun>& runs, Colour colour) {
    return labels_.place(list_, at, runs, {.size = small_size, .colour = colour, .halo = 0.8});
  }

  void lead(const Box& name, Point to, double near, Colour colour) {
    constexpr double gap = 0.8;
    const Box around = name.grown(gap);
    const Point from = {std::clamp(to.x, around.x, around.right()),
                        std::clamp(to.y, around.y, around.bottom())};
    if (std::hypot(to.x - from.x, to.y - from.y) < near) return;
    list_.line(from, to, {colour, thin_line});
  }

  void annotate() {
    const Box& b = view_.box();
    if (meeting_ && scene_.ancestors) {
      const double largest = scene_.system.family->largest_shadow(scene_.system.values);
      const double above =
          std::isinf(largest) ? 1.15 * meeting_->shadow : (meeting_->shadow + largest) / 2;
      const HemispherePoint inside = curves_.at({meeting_->axis, above});
      if (at_page(inside)) {
        const Point at = view_.page(inside);
        lead(note(at, rich("common ancestors"), darker(green)), at, 6, darker(green));
      }
    }
    if (!lca_ || !scene_.depth || view_.model() != Model::halfspace) return;
    const double y = view_.page(curves_.at_radial(0, lca_->radial)).y;
    // The label consists of runs, because the numbers of distant points have an exponent.
    std::vector<TextRun> text = number_label(lca_->radial, 4);
    text.front().text.insert(0, meeting_ ? "height of the LCA " : "lowest common light ");
    if (scene_.system.infinite()) note({b.right() - 46, y}, text, darker(vermilion));
  }

  DisplayList& list_;
  const PanelScene& scene_;
  const ModelView& view_;
  std::string id_;
  LabelPlacer labels_;
  ConeCurves curves_;
  AxisShadow u_;
  std::optional<AxisShadow> v_, meeting_;
  std::optional<Lca> lca_;
};

/// Returns the curves that must be on the page.
Curve essential(const PanelScene& scene) {
  const ConeCurves curves(scene.system);
  Curve out;
  const auto add = [&](const Curve& part) { out.insert(out.end(), part.begin(), part.end()); };
  const auto add_point = [&](const Vector& x, const char* label) {
    add(curves.cone(curves.locate(x, label)));
    if (curves.umbral() && scene.objects) add(curves.object_ball(x));
  };
  add_point(scene.u, "u");
  if (scene.v) add_point(*scene.v, "v");
  if (!curves.umbral()) {
    const CycleArc light = curves.light();
    if (!scene.system.infinite()) add({light});
  }
  for (const SceneGeodesic& g : scene.geodesics) add(geodesic_curve(g.a, g.b));
  if (scene.v) {  // The common ancestor, and the curves up to it.
    const AxisShadow u = curves.locate(scene.u, "u"), v = curves.locate(*scene.v, "v");
    const Lca lca = scene_lca(scene);
    if (lca.place && lca.shadow > std::max(u.shadow, v.shadow)) {
      add(curves.ascent(u, curves.locate(*lca.place)));
      add(curves.ascent(v, curves.locate(*lca.place)));
    }
    if (lca.place && !scene.system.infinite() && scene.depth) add({curves.level(lca.radial)});
    if (!lca.place && !curves.umbral() && scene.depth) {
      add(geodesic_curve(scene.u, *scene.v, true));
    }
  }
  return out;
}

}  // namespace

geometry::Lca scene_lca(const PanelScene& scene) {
  const auto element = [&](const Vector& x, const char* name) {
    return geometry::element(scene.system, geometry::point(Model::halfspace, x, name), name);
  };
  return geometry::lca(scene.system, element(scene.u, "u"), element(*scene.v, "v"));
}

Window fitted_window(const PanelScene& scene, Model model) {
  if (model != Model::halfspace && model != Model::band) return ModelView::usual_window(model);
  Window w{1e300, -1e300, model == Model::band ? 1e300 : 0, -1e300};
  const auto include = [&](const HemispherePoint& p) {
    if (model == Model::band) {
      if (p.z() < 0.02) return;  // The ends of the strip are at infinity.
      const double t = std::atanh(p.y());
      w.low = std::min(w.low, t), w.high = std::max(w.high, t);
      return;
    }
    const Eigen::Vector2d z = to_half_plane(p);
    w.left = std::min(w.left, z.x()), w.right = std::max(w.right, z.x());
    w.high = std::max(w.high, z.y());
  };
  for (const CycleArc& arc : essential(scene)) {
    const ArcParameter at(arc);
    for (int i = 0; i <= 24; ++i) include(at(i / 24.0));
  }
  for (const SceneToken& token : scene.tokens) include(from_half_plane(token.at));
  const ConeCurves curves(scene.system);
  if (scene.system.infinite() && !curves.umbral()) {
    const HemispherePoint top = curves.light().via;
    if (model == Model::halfspace && curves.source() == point_at_infinity) {
      w.high = std::max(w.high, to_half_plane(top).y());  // A level lies at no particular x.
    } else {
      include(top);
    }
  }
  if (curves.umbral() && !scene.system.infinite()) include(curves.source());
  if (model == Model::band) {
    const double margin = 0.12 * (w.high - w.low);
    return {-std::numbers::pi / 2, std::numbers::pi / 2, w.low - margin, w.high + 2 * margin};
  }
  const double side = 0.06 * w.width();
  w.left -= side, w.right += side;
  w.high += std::max(0.12 * w.high, 0.04 * w.width());
  w.high = std::max(w.high, 0.3 * w.width());  // This leaves space for labels of distant points.
  return w;
}

Box draw_panel(DisplayList& list, const ScenePanel& panel, Point corner, double width,
               double most_height, const std::string& id) {
  double top = corner.y;
  if (!panel.title.empty()) {
    list.text({corner.x + width / 2, top}, rich(panel.title),
              {.size = text_size, .anchor = Anchor::middle, .align = Align::top, .colour = ink});
    top += text_size + 4;
  }
  const Window window = panel.window.value_or(fitted_window(panel.scene, panel.model));
  const ModelView view(panel.model, window, {corner.x, top}, width, most_height);
  list.clip_begin(view.box().grown(0.6));
  PanelPainter(list, panel.scene, view, id).draw();
  list.clip_end();
  const double bottom = has_heat(panel.scene, panel.model)
                            ? draw_heat_bar(list, panel.scene, view.box())
                            : view.box().bottom();
  return {corner.x, corner.y, width, bottom - corner.y};
}

DisplayList draw_panels(DisplayList page, const std::vector<ScenePanel>& panels,
                        std::size_t columns, const std::string& caption) {
  const auto count = static_cast<double>(columns);
  const double width = (page.width - 2 * margin - (count - 1) * gutter) / count;
  double top = margin, bottom = margin;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t column = i % columns;
    if (column == 0 && i > 0) top = bottom + gutter;
    const Point corner{margin + static_cast<double>(column) * (width + gutter), top};
    const Box box =
        draw_panel(page, panels[i], corner, width, 1.15 * width, fmt::format("p{}", i + 1));
    bottom = std::max(bottom, box.bottom());
  }
  finish_with_caption(page, caption, bottom + 8);
  return page;
}

}  // namespace conelab::figure
