#include "core/figure/tree_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/drawing/axes.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

using tree::HeadTree;
using tree::Merge;

std::size_t count(const std::vector<std::uint8_t>& flags) {
  return std::accumulate(flags.begin(), flags.end(), std::size_t{0});
}

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

double own_depth(const HeadTree& t, std::size_t i) { return t.depth[i * t.size + i]; }

/// Draws an undefined token; only the position of its label is known.
void draw_undefined(DisplayList& list, Point floor) {
  list.text({floor.x, floor.y - 2}, "?",
            {.size = text_size, .anchor = Anchor::middle, .align = Align::bottom, .colour = quiet});
}

std::string undefined_note(const HeadTree& t) {
  const std::size_t count = t.undefined_count();
  if (count == 0) return "";
  return fmt::format("; {} {} no place (?): padding or not finite", count,
                     count == 1 ? "token has" : "tokens have");
}

/// The axis is logarithmic if heights differ by more than this factor: under maps like e^{x_d} a
/// few tokens are much higher than the rest.
constexpr double widest_linear = 20;

double spread(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  return low == values.end() ? 1 : *high / *low;
}

/// Returns the axis of depths. Depths grow downwards, so that the values on the axis are −depth;
/// the labels show the depth.
Axis depth_axis(const TreeFigure& f, const std::vector<double>& depths) {
  std::vector<double> values;
  for (const double d : depths) {
    if (std::isfinite(d)) values.push_back(-d);
  }
  const bool cones = f.tree->order.has_value();
  const char* title = f.tree->heights ? "height of the LCA" : cones ? "depth of the LCA" : "logit";
  const ScaleKind kind =
      f.tree->heights && spread(values) > widest_linear ? ScaleKind::log10 : ScaleKind::linear;
  Axis axis = axis_over(kind, values, 6, rich(title));
  if (f.tree->heights) {
    axis.low = std::max(axis.low, 0.0);
    return axis;
  }
  for (Tick& tick : axis.ticks) {
    if (tick.major()) tick.label = number_label(tick.value == 0 ? 0 : -tick.value);
  }
  return axis;
}

/// A frame over the tokens in a given order, with their labels below it. `bottom` is the lower end
/// of the labels.
struct TokenFrame {
  Frame frame;
  TokenAxis labels;
  double bottom = 0;
  [[nodiscard]] double x(double position, std::size_t n) const {
    return frame.box.x + frame.box.width * (position + 0.5) / static_cast<double>(n);
  }
  [[nodiscard]] double y(double depth) const { return frame.at(0, -depth).y; }
};

std::vector<std::string> permuted(const std::vector<std::string>& tokens,
                                  const std::vector<std::int64_t>& order) {
  std::vector<std::string> out;
  for (const std::int64_t i : order) {
    out.push_back(tokens.empty() ? std::to_string(i) : tokens[index(i)]);
  }
  return out;
}

TokenFrame token_frame(const TreeFigure& f, Axis y, double left, double top, double height,
                       const std::vector<std::string>& texts) {
  TokenFrame out;
  out.frame.y = std::move(y);
  out.frame.box = {left, top, f.width - margin - left, height};
  const std::size_t n = std::max<std::size_t>(1, texts.size());
  out.labels = plan_tokens(Side::bottom, texts, texts.size(),
                           out.frame.box.width / static_cast<double>(n), 60);
  out.bottom = out.frame.box.bottom() + out.labels.room();
  return out;
}

void set_boxes(TreePlaces& places, const TokenFrame& at) {
  places.box = at.frame.box;
  places.labels = {places.box.x, places.box.bottom(), places.box.width, at.labels.room()};
}

void check(const TreeFigure& f) {
  if (!f.tokens.empty() && f.tokens.size() != f.tree->size) {
    misuse("tree: {} texts for {} tokens", f.tokens.size(), f.tree->size);
  }
}

struct Ending {
  std::string text;
  double bottom;
};

template <class Draw>
DrawnTree drawn_page(const TreeFigure& f, const char* title, const Draw& draw) {
  check(f);
  DrawnTree drawn{begin_page(f.width, f.metadata, title), {}};
  DisplayList& list = drawn.list;
  double top = margin;
  if (!f.title.empty()) {
    list.text({margin, margin + 9},
              elide(clean_text(f.title), title_size, f.width - 2 * margin, Face::bold),
              {.size = title_size, .face = Face::bold, .colour = ink});
    top += title_room;
  }
  if (f.tree->size == 0) {
    finish_with_caption(list, f.caption.empty() ? "No tokens" : f.caption, top);
  } else {
    const Ending end = draw(drawn, top);
    finish_with_caption(list, with_caption(f.caption, end.text), end.bottom + 8);
  }
  return drawn;
}

// ---- dendrogram --------------------------------------------------------------------------------

std::vector<bool> clusters_with_ancestor(const HeadTree& t) {
  const std::size_t n = t.size;
  std::vector<std::vector<std::size_t>> members(n);
  std::vector<bool> common(n, true);
  for (std::size_t i = 0; i < n; ++i) members[i] = {i};
  for (const Merge& merge : t.dendrogram.merges) {
    const auto &left = members[index(merge.left)], &right = members[index(merge.right)];
    bool all = common[index(merge.left)] && common[index(merge.right)];
    for (const std::size_t i : left) {
      for (const std::size_t j : right) all = all && (t.common.empty() || t.common[i * n + j]);
    }
    std::vector<std::size_t> both = left;
    both.insert(both.end(), right.begin(), right.end());
    members.push_back(std::move(both));
    common.push_back(all);
  }
  return common;
}

bool misses_ancestors(const HeadTree& t) {
  for (std::size_t cell = 0; cell < t.common.size(); ++cell) {
    if (!t.common[cell] && !std::isnan(t.depth[cell])) return true;
  }
  return false;
}

Stroke stem(const TokenFrame& at, std::size_t n) {
  const double spacing = at.frame.box.width / static_cast<double>(n);
  return {grid_line.opacity(std::min(1.0, spacing / (5 * thin_line))), thin_line};
}

void draw_dendrogram(DisplayList& list, const TreeFigure& f, const TokenFrame& at,
                     TreePlaces& places) {
  const HeadTree& t = *f.tree;
  const std::size_t n = t.size;
  const bool cones = t.order.has_value();
  const double floor = at.frame.box.bottom();
  std::vector<Point> top(n);  // The upper end of the line of each cluster.
  for (std::size_t position = 0; position < n; ++position) {
    const std::size_t i = index(t.dendrogram.leaf_order[position]);
    const double x = at.x(static_cast<double>(position), n);
    top[i] = {x, cones && !t.undefined(i) ? at.y(own_depth(t, i)) : floor};
  }
  list.group_begin("dendrogram", "Dendrogram by the depth of lowest common ancestors");
  for (std::size_t i = 0; i < n; ++i) {
    if (t.undefined(i)) draw_undefined(list, top[i]);
    if (cones && !t.undefined(i)) list.line(top[i], {top[i].x, floor}, stem(at, n));
  }
  const std::vector<bool> common = clusters_with_ancestor(t);
  for (std::size_t k = 0; k < t.dendrogram.merges.size(); ++k) {
    const Merge& merge = t.dendrogram.merges[k];
    const Point a = top[index(merge.left)], b = top[index(merge.right)];
    const double y = std::isfinite(merge.depth) ? at.y(merge.depth) : at.frame.box.y;
    top.push_back({(a.x + b.x) / 2, y});
    if (std::isnan(merge.depth)) continue;  // An undefined token is not connected.
    const Colour colour = common[n + k] ? blue : quiet;
    const std::vector<double> dash =
        common[n + k] ? std::vector<double>{} : std::vector<double>{2, 1.5};
    list.path(Path::polyline({a, {a.x, y}, {b.x, y}, b}), Paint::stroked(colour, line_width, dash));
  }
  for (std::size_t i = 0; i < n && cones; ++i) {
    if (!t.undefined(i)) list.circle(top[i], 1.3, Paint::filled(blue));
  }
  list.group_end();
  const auto tokens = static_cast<std::ptrdiff_t>(n);
  places.token.assign(top.begin(), top.begin() + tokens);
  places.merge.assign(top.begin() + tokens, top.end());
}

// ---- segmentation ------------------------------------------------------------------------------

void draw_segmentation(DisplayList& list, const TreeFigure& f, const TokenFrame& at,
                       TreePlaces& places) {
  const tree::Segmentation& s = *f.tree->segmentation;
  const std::size_t n = f.tree->size;
  draw_frame(list, at.frame, "segmentation-axes");
  list.group_begin("segmentation", "Attention across each boundary, relative to uniform attention");
  const double zero = at.frame.at(0, 0).y, one = at.frame.at(0, 1).y;
  const double half = at.frame.box.width / static_cast<double>(n) * 0.36;
  for (std::size_t b = 0; b + 1 < n; ++b) {
    const double x = at.x(static_cast<double>(b) + 0.5, n), y = at.frame.at(0, s.relative[b]).y;
    places.boundary.push_back(x);
    const bool strongest = static_cast<std::int64_t>(b) == s.strongest;
    list.rectangle({x - half, std::min(y, zero), 2 * half, std::abs(zero - y)},
                   Paint::filled(strongest ? vermilion : sky));
  }
  list.line({at.frame.box.x, one}, {at.frame.box.right(), one}, {quiet, thin_line, {2, 1.5}});
  list.group_end();
  draw_tokens(list, at.labels, at.frame.box);
  places.segmentation = at.frame.box;
}

Axis segmentation_axis(const tree::Segmentation& s) {
  Axis axis;
  axis.low = 0;
  axis.high = 1.1;
  for (const double value : s.relative) axis.high = std::max(axis.high, value * 1.05);
  axis.ticks = linear_ticks(axis.low, axis.high, 4);
  axis.title = rich("attention across");
  return axis;
}

std::string stride_note(const TreeFigure& f, std::size_t stride) {
  if (f.tokens.empty() || stride < 2) return "";
  return fmt::format(". One token in {} is labelled", stride);
}

// ---- Hasse diagram -----------------------------------------------------------------------------

struct OrderLine {
  std::size_t above, below;
  bool nearest;  ///< Whether no direct ancestor of the lower token is nearer in depth. Among equal
                 ///< ones this is the first.
};

std::vector<OrderLine> order_lines(const HeadTree& t) {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<OrderLine> lines;
  std::vector<std::size_t> nearest(t.size, none);
  const auto gap = [&](const OrderLine& line) {
    return std::abs(own_depth(t, line.above) - own_depth(t, line.below));
  };
  // The order is stored row by row, and many tokens have millions of pairs.
  for (std::size_t above = 0; above < t.size; ++above) {
    for (std::size_t below = 0; below < t.size; ++below) {
      if (!t.order->covers(above, below)) continue;
      lines.push_back({above, below, false});
      std::size_t& best = nearest[below];
      if (best == none || gap(lines.back()) < gap(lines[best])) best = lines.size() - 1;
    }
  }
  for (const std::size_t line : nearest) {
    if (line != none) lines[line].nearest = true;
  }
  return lines;
}

/// The appearance of the lines. Many lines are thinner. If they would cover the figure, they are
/// faint, except for the line to the nearest ancestor of each token.
struct LineLook {
  double width = line_width;
  double nearest = 1, others = 1;  ///< Opacities.
};

LineLook look_of(const std::vector<OrderLine>& lines, const std::vector<Point>& place,
                 const Box& box) {
  constexpr double many = 60;
  LineLook look;
  const auto count = static_cast<double>(lines.size());
  look.width = std::max(thin_line, line_width * many / std::max(many, count + 1));
  double others = 0, nearest = 0;  // Fractions of the box that the lines would cover.
  for (const OrderLine& line : lines) {
    const Point a = place[line.above], b = place[line.below];
    (line.nearest ? nearest : others) +=
        std::hypot(a.x - b.x, a.y - b.y) * look.width / (box.width * box.height);
  }
  if (others + nearest > 0.12) {
    look.others = std::clamp(0.05 / others, 0.03, 0.3);
    look.nearest = std::clamp(0.3 / nearest, 0.6, 1.0);
  }
  return look;
}

std::vector<Point> order_places(const HeadTree& t, const TokenFrame& at) {
  std::vector<Point> place(t.size);
  for (std::size_t position = 0; position < t.size; ++position) {
    const std::size_t i = index(t.dendrogram.leaf_order[position]);
    place[i] = {at.x(static_cast<double>(position), t.size),
                t.undefined(i) ? at.frame.box.bottom() : at.y(own_depth(t, i))};
  }
  return place;
}

void draw_order_tokens(DisplayList& list, const HeadTree& t, const TokenFrame& at,
                       const std::vector<Point>& place) {
  std::vector<bool> related(t.size);
  for (std::size_t i = 0; i < t.size; ++i) {
    for (std::size_t j = 0; j < t.size; ++j) {
      if (t.order->is_ancestor(i, j)) related[i] = related[j] = true;
    }
  }
  const double spacing = at.frame.box.width / static_cast<double>(t.size);
  const double radius = std::clamp(0.6 * spacing, 0.7, 1.7);
  for (std::size_t i = 0; i < t.size; ++i) {
    const Colour colour = related[i] ? blue : Colour{170, 170, 170, 255};
    if (t.undefined(i)) {
      draw_undefined(list, place[i]);
      continue;
    }
    // A small dot has no ring, so that all of it shows the colour.
    const bool ring = radius > 3 * thin_line;
    list.circle(place[i], radius, ring ? Paint{colour, {white, thin_line}} : Paint::filled(colour));
  }
}

std::size_t draw_order(DisplayList& list, const HeadTree& t, const TokenFrame& at,
                       TreePlaces& places) {
  places.token = order_places(t, at);
  const std::vector<Point>& place = places.token;
  const std::vector<OrderLine> lines = order_lines(t);
  const LineLook look = look_of(lines, place, at.frame.box);
  list.group_begin("hasse", "Lines from each token to those directly below it");
  for (const Point& p : place) list.line(p, {p.x, at.frame.box.bottom()}, stem(at, t.size));
  std::size_t faint = 0;
  for (const bool nearest : {false, true}) {  // Strong lines are drawn over faint ones.
    for (const OrderLine& line : lines) {
      if (line.nearest != nearest) continue;
      const double opacity = nearest ? look.nearest : look.others;
      faint += !nearest && opacity < 1 ? 1 : 0;
      list.line(place[line.above], place[line.below], {blue.opacity(opacity), look.width});
    }
  }
  draw_order_tokens(list, t, at, place);
  list.group_end();
  return faint;
}

/// Returns what to say if there is no order. If the family is known, it includes advice on what
/// would order more tokens.
std::string no_order_note(const TreeFigure& f) {
  const std::string text = "No token is an ancestor of another: there is no order to draw";
  const geometry::ConeFamily* family = geometry::find_cone_family(f.cone);
  return family == nullptr ? text : text + ". " + family->advice;
}

std::vector<double> tree_depths(const HeadTree& t) {
  std::vector<double> depths;
  for (const Merge& merge : t.dendrogram.merges) depths.push_back(merge.depth);
  for (std::size_t i = 0; i < t.size && t.order; ++i) depths.push_back(own_depth(t, i));
  return depths;
}

/// Returns whether attention crosses some boundary whose segmentation the figure is to show.
bool has_boundaries(const TreeFigure& f) {
  const auto& segmentation = f.tree->segmentation;
  return f.segmentation && f.tree->size > 1 && segmentation && segmentation->strongest >= 0;
}

/// Describes the segmentation, or says why it is not drawn. Empty if it is not asked for.
std::string segmentation_text(const TreeFigure& f) {
  if (!f.segmentation || !f.tree->segmentation || f.tree->size <= 1) return "";
  if (has_boundaries(f)) {
    return fmt::format(
        "; below, attention across each boundary between adjacent tokens, in the text's order and "
        "relative to uniform attention, least after token {}",
        f.first_token + f.tree->segmentation->strongest);
  }
  return f.tree->segmentation->unknown()
             ? "; attention across boundaries is unknown, since weights are not finite"
             : "; no attention may cross a boundary";
}

std::string tree_text(const TreeFigure& f) {
  std::string text = f.tree->order ? "Tokens joined at the depth of their lowest common ancestor"
                                   : "Tokens joined at their smallest logit (complete linkage)";
  if (misses_ancestors(*f.tree)) text += "; dashed where no common ancestor exists";
  return text + segmentation_text(f) + undefined_note(*f.tree);
}

/// Describes the order, given how many of its lines are faint.
std::string order_text(const TreeFigure& f, std::size_t faint) {
  const HeadTree& t = *f.tree;
  const std::size_t pairs = count(t.order->ancestor);
  if (pairs == 0) return no_order_note(f) + undefined_note(t);
  std::string text = fmt::format(
      "Hasse diagram: {} of {} pairs of tokens are ancestor and descendant, {} of them directly; "
      "grey tokens are related to none",
      pairs, t.size * (t.size - 1) / 2, count(t.order->cover));
  if (faint > 0) {
    text += fmt::format(
        "; strong lines lead to each token's nearest direct ancestor, the {} others are faint",
        faint);
  }
  return text + undefined_note(t);
}

Ending draw_tree_below(const TreeFigure& f, DrawnTree& drawn, double top) {
  auto& [list, places] = drawn;
  const HeadTree& t = *f.tree;
  const Axis y = depth_axis(f, tree_depths(t));
  std::optional<Axis> across;
  if (has_boundaries(f)) across = segmentation_axis(*t.segmentation);
  const double left = margin + std::max(room_left(y), across ? room_left(*across) : 0);
  const TokenFrame upper = token_frame(f, y, left, top + 2, std::min(0.42 * f.width, 190.0),
                                       permuted(f.tokens, t.dendrogram.leaf_order));
  draw_frame(list, upper.frame, "tree-axes");
  draw_dendrogram(list, f, upper, places);
  set_boxes(places, upper);
  draw_tokens(list, upper.labels, upper.frame.box);
  double bottom = upper.bottom;
  if (across) {
    std::vector<std::int64_t> in_text(t.size);
    std::iota(in_text.begin(), in_text.end(), 0);
    const TokenFrame lower =
        token_frame(f, *across, left, bottom + 10, 48, permuted(f.tokens, in_text));
    draw_segmentation(list, f, lower, places);
    bottom = lower.bottom;
  }
  return {tree_text(f) + stride_note(f, upper.labels.stride), bottom};
}

Ending draw_order_below(const TreeFigure& f, DrawnTree& drawn, double top) {
  auto& [list, places] = drawn;
  const HeadTree& t = *f.tree;
  std::vector<double> depths;
  for (std::size_t i = 0; i < t.size; ++i) depths.push_back(own_depth(t, i));
  Axis y = depth_axis(f, depths);
  y.title = rich(t.heights ? "height of the token" : "distance from the source");
  const TokenFrame frame =
      token_frame(f, y, margin + room_left(y), top + 2, std::min(0.5 * f.width, 220.0),
                  permuted(f.tokens, t.dendrogram.leaf_order));
  draw_frame(list, frame.frame, "hasse-axes");
  const std::size_t faint = draw_order(list, t, frame, places);
  set_boxes(places, frame);
  draw_tokens(list, frame.labels, frame.frame.box);
  return {order_text(f, faint) + stride_note(f, frame.labels.stride), frame.bottom};
}

}  // namespace

DrawnTree place_tree(const TreeFigure& f) {
  return drawn_page(f, "Tree of a head by lowest common ancestors",
                    [&](DrawnTree& drawn, double top) { return draw_tree_below(f, drawn, top); });
}

DrawnTree place_hasse(const TreeFigure& f) {
  if (!f.tree->order)
    misuse("hasse: only cone families order tokens (expected penumbral, umbral, …)");
  return drawn_page(f, "Ancestor order of a head's tokens",
                    [&](DrawnTree& drawn, double top) { return draw_order_below(f, drawn, top); });
}

DisplayList draw_tree(const TreeFigure& f) { return place_tree(f).list; }
DisplayList draw_hasse(const TreeFigure& f) { return place_hasse(f).list; }

}  // namespace conelab::figure
