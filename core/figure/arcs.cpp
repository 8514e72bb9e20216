#include "core/figure/arcs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/drawing/axes.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

constexpr double squash = 0.27;        ///< Height of an arc divided by half of its span.
constexpr double row_distance = 0.16;  ///< Distance of queries and keys, divided by the width.
constexpr double widest = 2.2;         ///< Width of the strongest arc, in points.
constexpr double largest_disc = 2.6;   ///< Radius of the strongest disc, in points.
constexpr double faintest = 0.14;      ///< Opacity of the weakest arc.
constexpr double flattest = 8;         ///< Space above a line without arcs, in points.
constexpr int curve_steps = 24;        ///< Points along a curve, for pointing at it.

Colour colour_of(const Arc& arc) { return arc.key <= arc.query ? blue : orange; }

struct Plan {
  explicit Plan(const ArcsFigure& f) : figure(f) {}
  const ArcsFigure& figure;
  std::size_t queries = 0, keys = 0;
  double pitch = 0, key_pitch = 0;
  double up = 0, down = 0;  ///< Space that the arcs need above and below the line.
  TokenAxis query_labels, key_labels;
  [[nodiscard]] bool rows() const { return figure.arrangement == ArcArrangement::rows; }
  [[nodiscard]] bool above(const Arc& arc) const {
    return figure.arrangement == ArcArrangement::above || arc.key <= arc.query;
  }
  [[nodiscard]] double reach(const Arc& arc) const {
    const auto span = static_cast<double>(std::max(arc.query, arc.key)) -
                      static_cast<double>(std::min(arc.query, arc.key));
    return squash * pitch * span / 2;
  }
};

void check(const ArcsFigure& f) {
  for (const ArcsPanel& p : f.panels) {
    const ArcsPanel& first = f.panels.front();
    if (p.queries != first.queries || p.keys != first.keys) {
      misuse("arcs: panels of {} x {} and {} x {} tokens cannot share a line", first.queries,
             first.keys, p.queries, p.keys);
    }
    const auto fits = [](const std::vector<std::string>& tokens, std::size_t n) {
      return tokens.empty() || tokens.size() == n;
    };
    if (!fits(f.query_tokens, p.queries) || !fits(f.key_tokens, p.keys)) {
      misuse("arcs: {} and {} texts for {} and {} tokens", f.query_tokens.size(),
             f.key_tokens.size(), p.queries, p.keys);
    }
    for (const Arc& arc : p.arcs) {
      if (arc.query >= p.queries || arc.key >= p.keys) {
        misuse("arcs: no pair {}, {} among {} x {} tokens", arc.query, arc.key, p.queries, p.keys);
      }
    }
    if (f.arrangement != ArcArrangement::rows && p.queries != p.keys) {
      misuse("arcs over one line need as many queries as keys (found {} and {}); use rows",
             p.queries, p.keys);
    }
  }
}

Plan plan(const ArcsFigure& f) {
  Plan plan(f);
  if (!f.panels.empty()) plan.queries = f.panels[0].queries, plan.keys = f.panels[0].keys;
  const double room = f.width - 2 * margin;
  plan.pitch = room / static_cast<double>(std::max<std::size_t>(1, plan.queries));
  plan.key_pitch = room / static_cast<double>(std::max<std::size_t>(1, plan.keys));
  plan.key_labels =
      plan_tokens(Side::bottom, f.key_tokens, plan.keys, plan.key_pitch, longest_label);
  if (plan.rows()) {
    plan.query_labels =
        plan_tokens(Side::top, f.query_tokens, plan.queries, plan.pitch, longest_label);
    plan.up = row_distance * f.width;
    return plan;
  }
  plan.up = flattest;
  for (const ArcsPanel& panel : f.panels) {
    for (const Arc& arc : panel.arcs) {
      double& side = plan.above(arc) ? plan.up : plan.down;
      side = std::max(side, plan.reach(arc) + 2);
    }
  }
  return plan;
}

std::vector<Point> along(double x, double pitch, double y, std::size_t n) {
  std::vector<Point> out;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back({x + (static_cast<double>(i) + 0.5) * pitch, y});
  }
  return out;
}

ArcsPlace place_panel(const Plan& plan, double top) {
  ArcsPlace place;
  const double width = plan.figure.width - 2 * margin;
  const double line = top + title_room + plan.up + (plan.rows() ? plan.query_labels.room() : 0);
  const double labels = plan.key_labels.room();
  place.key_labels = {margin, line, width, labels};
  place.key = along(margin, plan.key_pitch, line, plan.keys);
  place.query = place.key;
  place.query_labels = place.key_labels;
  if (plan.rows()) {
    place.query_labels = {margin, top + title_room, width, plan.query_labels.room()};
    place.query = along(margin, plan.pitch, place.query_labels.bottom(), plan.queries);
  }
  place.box = {margin, top, width, line + labels + plan.down - top};
  return place;
}

// ---- arcs ---------------------------------------------------------------------------------------

PlacedArc placed_disc(const Arc& arc, Point at, double strength) {
  PlacedArc out{.arc = arc};
  out.path = Path::circle(at, std::max(0.7, largest_disc * std::sqrt(strength)));
  out.points = {at};
  return out;
}

PlacedArc placed_curve(const Plan& plan, const Arc& arc, const ArcsPlace& place) {
  PlacedArc out{.arc = arc};
  const Point a = place.query[arc.query], b = place.key[arc.key];
  if (plan.rows()) {
    const double middle = (a.y + b.y) / 2;
    out.path.move(a).cubic({a.x, middle}, {b.x, middle}, b);
    for (int i = 0; i <= curve_steps; ++i) {
      const double t = static_cast<double>(i) / curve_steps, s = 1 - t;
      const double bend = t * t * (3 - 2 * t);
      out.points.push_back(
          {a.x + bend * (b.x - a.x), s * s * s * a.y + 3 * s * t * middle + t * t * t * b.y});
    }
    return out;
  }
  const bool above = plan.above(arc);
  const double y = above ? a.y : place.key_labels.bottom();
  const ArcTo curve{.centre = {(a.x + b.x) / 2, y},
                    .rx = std::abs(b.x - a.x) / 2,
                    .ry = plan.reach(arc),
                    .from = std::numbers::pi,
                    .sweep = above ? std::numbers::pi : -std::numbers::pi};
  out.path.move(curve.start()).ellipse_arc(curve);
  for (int i = 0; i <= curve_steps; ++i)
    out.points.push_back(curve.at(curve.from + curve.sweep * i / curve_steps));
  return out;
}

PlacedArc placed(const Plan& plan, const Arc& arc, const ArcsPlace& place, double largest) {
  const double strength = largest > 0 ? std::min(1.0, arc.weight / largest) : 0;
  if (!plan.rows() && arc.query == arc.key) {
    return placed_disc(arc, place.query[arc.query], strength);
  }
  PlacedArc out = placed_curve(plan, arc, place);
  out.stroke = {colour_of(arc).opacity(faintest + (1 - faintest) * strength),
                thin_line + (widest - thin_line) * strength};
  return out;
}

double strongest(const std::vector<Arc>& arcs) {
  double most = 0;
  for (const Arc& arc : arcs) most = std::max(most, arc.weight);
  return most;
}

// ---- drawing ------------------------------------------------------------------------------------

/// Draws the legend of the widths to the right of the title: a stroke for each of a few round
/// weights.
void draw_key(DisplayList& list, const ArcsPlace& place, double largest) {
  double x = place.box.right();
  const double y = place.box.y + 6;
  std::vector<Tick> ticks = linear_ticks(0, largest, 3);
  for (auto tick = ticks.rbegin(); tick != ticks.rend(); ++tick) {
    if (!tick->major() || tick->value <= 0) continue;
    x -= text_width(tick->label, small_size);
    list.text({x, y}, tick->label, {.size = small_size, .align = Align::middle, .colour = quiet});
    const double strength = tick->value / largest;
    list.line({x - 15, y}, {x - 3, y},
              {blue.opacity(faintest + (1 - faintest) * strength),
               thin_line + (widest - thin_line) * strength});
    x -= 22;
  }
}

void draw_labels(DisplayList& list, const Plan& plan, const ArcsPlace& place) {
  const Box above{margin, place.key_labels.y, place.key_labels.width, 0};
  draw_tokens(list, plan.key_labels, above);
  if (plan.rows()) {
    draw_tokens(list, plan.query_labels,
                {margin, place.query_labels.bottom(), place.query_labels.width, 0});
  }
}

/// Returns "240 of 900 weights are not finite numbers".
std::string unknown_text(const ArcsPanel& panel, const std::string& of) {
  return fmt::format("{} of {} weights{} are not finite numbers", panel.unknown,
                     panel.queries * panel.keys, of);
}

void draw_title(DisplayList& list, const ArcsPanel& panel, const Box& box) {
  const double room = 0.7 * box.width;
  const std::string title = elide(clean_text(panel.title), title_size, room, Face::bold);
  list.text({box.x, box.y + 9}, title, {.size = title_size, .face = Face::bold, .colour = ink});
  const double taken = text_width(title, title_size, Face::bold) + 6;
  if (panel.unknown == 0 || taken + 40 > room) return;
  list.text({box.x + taken, box.y + 9}, elide(unknown_text(panel, ""), small_size, room - taken),
            {.size = small_size, .colour = quiet});
}

void draw_panel(DisplayList& list, const Plan& plan, const ArcsPanel& panel, double largest,
                std::size_t number, ArcsPlace& place) {
  list.group_begin(fmt::format("panel{}", number + 1), panel.title);
  draw_title(list, panel, place.box);
  if (!panel.note.empty() || plan.queries == 0 || plan.keys == 0) {
    list.text(
        {place.box.x + place.box.width / 2, place.box.y + title_room + plan.up / 2},
        elide(clean_text(panel.note.empty() ? "no tokens" : panel.note), text_size,
              place.box.width),
        {.size = text_size, .anchor = Anchor::middle, .align = Align::middle, .colour = quiet});
  } else if (largest > 0) {
    draw_key(list, place, largest);
  }
  std::vector<Arc> arcs = panel.arcs;
  std::ranges::stable_sort(arcs, [](const Arc& a, const Arc& b) { return a.weight < b.weight; });
  for (const Arc& arc : arcs) {
    place.arcs.push_back(placed(plan, arc, place, largest));
    const PlacedArc& drawn = place.arcs.back();
    list.path(drawn.path,
              drawn.stroke.width > 0 ? Paint{transparent, drawn.stroke} : Paint::filled(purple));
  }
  draw_labels(list, plan, place);
  list.group_end();
}

std::string unknown_note(const ArcsFigure& f) {
  std::string text;
  for (const ArcsPanel& p : f.panels) {
    if (p.unknown == 0) continue;
    text += ". " + unknown_text(p, " of " + p.title) + " and draw nothing";
  }
  return text;
}

std::string caption_of(const Plan& plan) {
  const ArcsFigure& f = plan.figure;
  std::string text = f.caption.empty() ? "" : f.caption + ". ";
  text += fmt::format("Attention weights as {}: of each query the {} strongest, none below {}; ",
                      plan.rows() ? "curves from queries above to keys below" : "arcs",
                      f.choice.top, f.choice.threshold);
  if (f.arrangement == ArcArrangement::sides) {
    text += "above the line to earlier tokens, below it to later ones";
  } else {
    text += "blue to earlier tokens, orange to later ones";
  }
  if (!plan.rows()) text += ", discs to the token itself";
  return text + unknown_note(f);
}

}  // namespace

void pick_arcs(const double* row, std::size_t keys, std::size_t query, const ArcChoice& choice,
               std::vector<Arc>& arcs) {
  std::vector<Arc> all;
  for (std::size_t key = 0; key < keys; ++key) {
    if (row[key] > 0 && row[key] >= choice.threshold) all.push_back({query, key, row[key]});
  }
  const std::size_t count = std::min(choice.top, all.size());
  const auto stronger = [](const Arc& a, const Arc& b) {
    return a.weight > b.weight || (a.weight == b.weight && a.key < b.key);
  };
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    stronger);
  arcs.insert(arcs.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
}

ArcArrangement arc_arrangement_from_name(const std::string& name) {
  return static_cast<ArcArrangement>(index_of_name(
      "arrangement", name, {std::begin(arc_arrangements), std::end(arc_arrangements)}));
}

DrawnArcs place_arcs(const ArcsFigure& f) {
  check(f);
  DrawnArcs drawn;
  DisplayList& list = drawn.list = begin_page(f.width, f.metadata, "Attention as arcs");
  const Plan shared = plan(f);
  double most = 0, top = margin;
  for (const ArcsPanel& panel : f.panels) most = std::max(most, strongest(panel.arcs));
  for (std::size_t i = 0; i < f.panels.size(); ++i) {
    const ArcsPanel& panel = f.panels[i];
    ArcsPlace place = place_panel(shared, top);
    draw_panel(list, shared, panel, f.shared_limits ? most : strongest(panel.arcs), i, place);
    top = place.box.bottom() + gutter;
    drawn.panels.push_back(std::move(place));
  }
  finish_with_caption(list, caption_of(shared), top);
  return drawn;
}

DisplayList draw_arcs(const ArcsFigure& figure) { return place_arcs(figure).list; }

}  // namespace conelab::figure
