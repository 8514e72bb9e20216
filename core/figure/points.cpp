// Figure `points`: the tokens of a head, or the nodes of an embedded hierarchy, in the plane of
// their hyperbolic model, with the cones of tokens and lines between them.
//
// In more than two dimensions the heights (or the distances from the source) are exact, and the
// places on the base space are those along its first principal axis. Distances on the base space
// only become smaller by this, so that cones of the drawing may hold more tokens than the cones of
// the model. The lines show the true relations.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"
#include "core/figure/cone_curves.h"
#include "core/figure/figure_input.h"
#include "core/figure/model_view.h"

namespace conelab::figure {
namespace {

using geometry::Base;
using geometry::Element;
using geometry::Model;
using geometry::Vector;
using tree::HeadElements;

bool is_placed(const Element& e) { return !std::isnan(e.shadow); }

class Flat {
 public:
  explicit Flat(const HeadElements& tokens) : sphere_(!tokens.system.infinite()) {
    const Eigen::Index d = tokens.elements.front().axis.size();
    mean_ = Vector::Zero(d);
    double count = 0;
    for (const Element& e : tokens.elements) {
      if (is_placed(e)) mean_ += sphere_ ? Vector::Zero(d) : e.axis, ++count;
    }
    mean_ /= std::max(count, 1.0);
    axes_ = Eigen::MatrixXd::Identity(d, d);
    exact_ = d == (sphere_ ? 2 : 1);
    if (!exact_) find_axes(tokens);
  }

  [[nodiscard]] AxisShadow operator()(const Element& e) const {
    const Vector x = axes_.transpose() * (e.axis - mean_);
    if (sphere_) return {std::atan2(x[1], x[0]), e.shadow};
    return {exact_ ? e.axis[0] : x[0], e.shadow};
  }
  /// Returns what the caption says of the drawing; empty if it is exact.
  [[nodiscard]] std::string note() const {
    if (exact_) return "";
    return fmt::format(
        "; {} by the first principal {} ({:.0f} % of the variance), so that cones "
        "may hold further tokens here",
        sphere_ ? "directions" : "places", sphere_ ? "plane" : "axis", 100 * share_);
  }

 private:
  bool sphere_, exact_ = true;
  Vector mean_;
  Eigen::MatrixXd axes_;  ///< The columns are principal axes, the first one first.
  double share_ = 1;

  void find_axes(const HeadElements& tokens) {
    Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(mean_.size(), mean_.size());
    for (const Element& e : tokens.elements) {
      if (is_placed(e)) spread += (e.axis - mean_) * (e.axis - mean_).transpose();
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(spread);
    axes_ = solver.eigenvectors().rowwise().reverse();
    const Vector parts = solver.eigenvalues().reverse();
    share_ = parts.head(sphere_ ? 2 : 1).sum() / std::max(parts.sum(), 1e-300);
  }
};

struct PlacedScene {
  ConeCurves curves;
  std::vector<std::optional<AxisShadow>> tokens, merges;  ///< [n] and [n − 1], or empty.
  std::string note;

  [[nodiscard]] HemispherePoint at(const AxisShadow& place) const { return curves.at(place); }
};

PlacedScene placed_scene(const tree::HeadTree& t) {
  const Flat flat(*t.placed);
  PlacedScene scene{ConeCurves(t.placed->system), {}, {}, flat.note()};
  for (const Element& e : t.placed->elements) {
    scene.tokens.push_back(is_placed(e) ? std::optional(flat(e)) : std::nullopt);
  }
  for (const auto& e : t.ancestors) {
    scene.merges.push_back(e ? std::optional(flat(*e)) : std::nullopt);
  }
  return scene;
}

Window window_of(const PlacedScene& scene, Model model) {
  if (model != Model::halfspace) return ModelView::usual_window(model);
  Window w{1e300, -1e300, 0, 0};
  for (const auto* list : {&scene.tokens, &scene.merges}) {
    for (const auto& place : *list) {
      if (!place) continue;
      const Eigen::Vector2d z = to_half_plane(scene.at(*place));
      w.left = std::min(w.left, z.x()), w.right = std::max(w.right, z.x());
      w.high = std::max(w.high, z.y());
    }
  }
  if (w.left > w.right) return ModelView::usual_window(model);
  const double side = 0.06 * std::max(w.width(), 0.5 * w.high);
  w.left -= side, w.right += side;
  w.high = std::max(1.1 * w.high, 0.35 * w.width());
  return w;
}

class PointsPainter {
 public:
  PointsPainter(DisplayList& list, const PlacedScene& scene, const ModelView& view)
      : list_(list), scene_(scene), view_(view), labels_(view.field().grown(-1)) {}

  void draw_ground() {
    list_.path(view_.domain(), Paint::filled({250, 250, 250, 255}));
    if (scene_.curves.umbral()) return;
    const CycleArc light = scene_.curves.light();
    list_.path(view_.area(light, scene_.curves.source()), Paint::filled({255, 243, 205, 255}));
    list_.path(view_.line({light}), Paint::stroked(orange, thin_line));
  }
  void draw_cones() {
    list_.group_begin("cones", "Cones of tokens");
    for (const auto& token : scene_.tokens) {
      if (!token) continue;
      const Curve cone = scene_.curves.cone(*token);
      list_.path(view_.path(cone), Paint::filled(blue.opacity(0.05)));
      list_.path(view_.line(cone), Paint::stroked(blue.opacity(0.3), thin_line));
    }
    list_.group_end();
  }
  void draw_line(const std::optional<AxisShadow>& a, const std::optional<AxisShadow>& b,
                 Colour colour) {
    if (!a || !b) return;
    const Eigen::Vector2d from = to_half_plane(scene_.at(*a)), to = to_half_plane(scene_.at(*b));
    if ((from - to).norm() <= 1e-12 * from.norm()) return;
    list_.path(view_.line(geodesic_curve(from, to)), Paint::stroked(colour, line_width));
  }
  void draw_merge(const AxisShadow& place) {
    draw_marker(list_, view_.page(scene_.at(place)), 3, 3.2, vermilion);
  }
  void draw_tokens(const std::vector<std::string>& names) {
    list_.group_begin("tokens", "Tokens");
    for (const auto& token : scene_.tokens) {
      if (!token) continue;
      const Point at = view_.page(scene_.at(*token));
      list_.circle(at, 1.5, {ink, {white, thin_line, {}, Cap::butt}});
      labels_.avoid(Box{at.x, at.y, 0, 0}.grown(1.5));
    }
    for (std::size_t i = 0; i < scene_.tokens.size(); ++i) {
      if (!scene_.tokens[i]) continue;
      const std::string name = names.empty() ? std::to_string(i) : clean_text(names[i]);
      labels_.place_if_free(list_, view_.page(scene_.at(*scene_.tokens[i])), {TextRun{name}},
                            {.size = small_size, .colour = ink, .halo = 0.8}, 1.5);
    }
    list_.group_end();
  }

 private:
  DisplayList& list_;
  const PlacedScene& scene_;
  const ModelView& view_;
  LabelPlacer labels_;
};

/// The lines that the key `lines` chooses.
enum class Lines { merges, order, edges, none };

Lines lines_of(const FigureInput& input) {
  const std::string choice = input.value("lines");
  if (choice == "order") return Lines::order;
  if (choice == "none") return Lines::none;
  const bool edges = !input.edges.empty() && choice != "merges";
  return edges || choice == "edges" ? Lines::edges : Lines::merges;
}

void draw_lines(PointsPainter& painter, const FigureInput& input, const PlacedScene& scene) {
  const tree::HeadTree& t = *input.tree;
  const auto token = [&](std::int64_t i) { return scene.tokens[static_cast<std::size_t>(i)]; };
  const Lines lines = lines_of(input);
  if (lines == Lines::edges) {
    for (const auto& edge : input.edges) painter.draw_line(token(edge[1]), token(edge[0]), green);
  } else if (lines == Lines::order && t.order) {
    for (std::size_t i = 0; i < t.size * t.size; ++i) {
      if (t.order->cover[i] == 0) continue;
      painter.draw_line(scene.tokens[i / t.size], scene.tokens[i % t.size], green);
    }
  } else if (lines == Lines::merges) {
    const auto cluster = [&](std::int64_t i) {
      const auto n = static_cast<std::int64_t>(t.size);
      return i < n ? token(i) : scene.merges[static_cast<std::size_t>(i - n)];
    };
    for (std::size_t k = 0; k < scene.merges.size(); ++k) {
      if (!scene.merges[k]) continue;
      painter.draw_line(scene.merges[k], cluster(t.dendrogram.merges[k].left), vermilion);
      painter.draw_line(scene.merges[k], cluster(t.dendrogram.merges[k].right), vermilion);
    }
    for (const auto& merge : scene.merges) {
      if (merge) painter.draw_merge(*merge);
    }
  }
}

std::string lines_text(const FigureInput& input, const PlacedScene& scene) {
  switch (lines_of(input)) {
    case Lines::merges: {
      const auto known =
          std::ranges::count_if(scene.merges, [](const auto& place) { return place.has_value(); });
      return fmt::format("; diamonds: common ancestors of merged tokens ({} of {} merges have one)",
                         known, scene.merges.size());
    }
    case Lines::order:
      return "; lines: from each token to those directly below it in the order of the cones";
    case Lines::edges:
      return "; lines: edges of the hierarchy";
    case Lines::none:
      return "";
  }
  return "";
}

std::string points_caption(const FigureInput& input, const PlacedScene& scene, Model model) {
  const geometry::ConeSystem& system = scene.curves.system();
  std::string text = input.caption + fmt::format(". {} cones", system.family->name);
  for (std::size_t i = 0; i < system.values.size(); ++i) {
    text += fmt::format(", {} = {:.4g}", system.family->parameters[i].key, system.values[i]);
  }
  text += fmt::format("; {}", model_title(model)) + scene.note + lines_text(input, scene);
  const auto lost = std::count(scene.tokens.begin(), scene.tokens.end(), std::nullopt);
  if (lost > 0) text += fmt::format("; {} without a place: padding or not finite", lost);
  return text;
}

}  // namespace

DisplayList make_points(const FigureInput& input) {
  if (!input.tree->placed || input.tree->size == 0) {
    misuse("figure points shows tokens of a cone family, which {} is not",
           input.cone.empty() ? "this" : input.cone);
  }
  PlacedScene scene = placed_scene(*input.tree);
  if (lines_of(input) != Lines::merges) scene.merges.clear();
  const std::string named = input.value("model");
  const Model model =
      named.empty() ? tree::model_of(input.tree->placed->system) : geometry::model_from_name(named);
  DisplayList list = input.page(double_column, "Tokens and their cones");
  const double width = list.width - 2 * margin;
  const ModelView view(model, window_of(scene, model), {margin, margin}, width, 0.75 * width);
  list.clip_begin(view.box().grown(0.6));
  list.clip_begin(view.domain());
  PointsPainter painter(list, scene, view);
  painter.draw_ground();
  constexpr std::size_t most_cones = 100;  // More cover each other.
  const std::string cones = input.value("cones");
  if (cones == "yes" || (cones == "auto" && input.tree->size <= most_cones)) painter.draw_cones();
  draw_lines(painter, input, scene);
  list.clip_end();
  painter.draw_tokens(input.tokens);
  list.clip_end();
  finish_with_caption(list, input.described(points_caption(input, scene, model)),
                      view.box().bottom() + 8);
  return list;
}

}  // namespace conelab::figure
