#include "core/figure/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/drawing/axes.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"
#include "core/figure/heat_values.h"

namespace conelab::figure {
namespace {

constexpr double axis_title_room = 10;

struct Drawn {
  HeatmapPanel panel;                   ///< Pooled and scaled, without tokens.
  const HeatmapPanel* whole = nullptr;  ///< The original panel; its tokens are the labels.
  std::size_t down = 1, across = 1;     ///< How many cells one dot represents.
  ColourBar bar;
  Specials specials;
  bool row_labels = true;
  TokenAxis rows, columns;
  Box matrix;
};

double matrix_height(const HeatmapPanel& p, double width) {
  if (p.rows == 0 || p.cols == 0) return width / 3;
  const double ratio = static_cast<double>(p.rows) / static_cast<double>(p.cols);
  return width * std::clamp(ratio, 0.25, 2.0);
}

/// Returns the smallest number of cells per dot for which print can show the dots over this length.
std::size_t cells_a_dot(std::size_t cells, double length) {
  const auto most =
      std::clamp<std::size_t>(static_cast<std::size_t>(length / smallest_dot), 1, largest_matrix);
  return std::max<std::size_t>(1, (cells + most - 1) / most);
}

std::string bar_title(const HeatmapFigure& f, const HeatmapPanel& p) {
  const std::string name = value_title(p, f.value_name);
  if (f.scale == HeatScale::row_normalised) return name + " / largest in row";
  if (f.scale == HeatScale::log && p.diverging) return name + ", linear";
  if (f.scale != HeatScale::rank) return name;
  return (p.diverging ? "signed rank of magnitude, " : "rank of ") + name;
}

/// Returns the cells on the scale, pooled to dots. Rows are normalised before pooling, because a
/// weak row would otherwise vanish next to a strong one of its block.
HeatmapPanel dots_of(const HeatmapPanel& panel, const Drawn& d, HeatScale scale) {
  if (d.down == 1 && d.across == 1) return scaled(panel, scale);
  if (scale == HeatScale::row_normalised) return pooled(scaled(panel, scale), d.down, d.across);
  return scaled(pooled(panel, d.down, d.across), scale);
}

/// Returns a title that fits. Its last part, such as the head, tells panels of one operator apart
/// and stays whole.
std::string fitted_title(const std::string& title, double width) {
  const auto width_of = [](const std::string& text) {
    return text_width(text, title_size, Face::bold);
  };
  const std::size_t last = title.rfind(", ");
  const std::string end = last == std::string::npos ? "" : title.substr(last);
  if (end.empty() || width_of(title) <= width || width_of(end) > 0.7 * width) {
    return elide(title, title_size, width, Face::bold);
  }
  return elide(title.substr(0, last), title_size, width - width_of(end), Face::bold) + end;
}

void fill(const HeatmapFigure& f, Drawn& d, double width) {
  const HeatmapPanel& panel = *d.whole;
  const HeatScale scale = f.scale_of(panel);
  d.down = cells_a_dot(panel.rows, matrix_height(panel, width));
  d.across = cells_a_dot(panel.cols, width);
  d.panel = dots_of(panel, d, scale);
  d.specials = specials_of(d.panel, scale);
  d.bar = f.bar_of(d.panel);
  d.bar.title = bar_title(f, panel);
}

void share_limits(std::vector<Drawn>& panels) {
  for (const bool diverging : {false, true}) {
    Limits all;
    for (const Drawn& d : panels) {
      if (d.panel.diverging == diverging && !d.bar.limits.empty()) all.include(d.bar.limits);
    }
    for (Drawn& d : panels) {
      if (d.panel.diverging == diverging) d.bar.limits = all;
    }
  }
}

/// Widens limits of both signs until 0 is in the middle of a diverging map, whose middle is pale.
void centre_limits(const HeatmapFigure& f, Drawn& d) {
  const bool diverges = d.bar.map == ColourMap::diverging || d.bar.map == ColourMap::dark_diverging;
  Limits& limits = d.bar.limits;
  const bool both = limits.low < 0 && limits.high > 0;
  if (!diverges || !both || d.bar.scale != HeatScale::linear || !f.limits.empty()) return;
  const double largest = std::max(-limits.low, limits.high);
  limits = {-largest, largest};
}

// ---- layout ------------------------------------------------------------------------------------

std::size_t panels_across(std::size_t count, double width) {
  const auto most = std::max<std::size_t>(1, static_cast<std::size_t>(width / 150));
  const std::size_t rows = (count + most - 1) / most;
  return rows == 0 ? 1 : (count + rows - 1) / rows;
}

void decide_row_labels(std::vector<Drawn>& panels, std::size_t across) {
  for (std::size_t i = 0; i < panels.size(); ++i) {
    panels[i].row_labels = i % across == 0 ||
                           panels[i].whole->row_tokens != panels[i - 1].whole->row_tokens ||
                           panels[i].whole->rows != panels[i - 1].whole->rows;
  }
}

void plan_labels(Drawn& d, double width) {
  const HeatmapPanel& p = *d.whole;
  const double height = matrix_height(p, width);
  if (p.rows > 0) {
    d.rows = plan_tokens(Side::left, p.row_tokens, p.rows, height / static_cast<double>(p.rows),
                         longest_label);
  }
  if (p.cols > 0) {
    d.columns = plan_tokens(Side::bottom, p.column_tokens, p.cols,
                            width / static_cast<double>(p.cols), longest_label);
  }
}

double label_room(const std::vector<Drawn>& panels, std::size_t begin, std::size_t end) {
  double room = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (panels[i].row_labels) room += panels[i].rows.room() + axis_title_room;
  }
  return room;
}

/// Returns the common width of the matrices. Width and label space depend on each other, so it is
/// found by iteration (a narrower matrix may need fewer labels).
double matrix_width(std::vector<Drawn>& panels, std::size_t across, double page) {
  double width = page / static_cast<double>(across);
  for (int attempt = 0; attempt < 12; ++attempt) {
    double room = 0;
    for (Drawn& d : panels) plan_labels(d, width);
    for (std::size_t i = 0; i < panels.size(); i += across) {
      room = std::max(room, label_room(panels, i, std::min(panels.size(), i + across)));
    }
    const double gaps = 2 * margin + gutter * static_cast<double>(across - 1);
    const double fits = std::max(20.0, (page - gaps - room) / static_cast<double>(across));
    if (std::abs(fits - width) < 0.01) break;
    width = std::min(width, fits);
  }
  return width;
}

double total_height(const HeatmapFigure& f, const std::vector<Drawn>& panels, std::size_t across,
                    double width) {
  constexpr double row_gap = 6, shared_bar_and_caption = 60;
  double sum = shared_bar_and_caption;
  for (std::size_t i = 0; i < panels.size(); i += across) {
    double below = 0;
    for (std::size_t k = i; k < std::min(panels.size(), i + across); ++k) {
      below = std::max(below, matrix_height(*panels[k].whole, width) + panels[k].columns.room());
    }
    sum += title_room + below + axis_title_room + row_gap;
    if (!f.shared_limits) sum += colour_bar_height + 5;
  }
  return sum;
}

/// Returns the largest width for which the figure fits the height of a page; labels are thinned.
double width_within_page(const HeatmapFigure& f, std::vector<Drawn>& panels, std::size_t across,
                         double width) {
  constexpr double tallest = 230 / 25.4 * 72, least = 24;
  while (width > least && total_height(f, panels, across, width) > tallest) {
    width = std::max(least, 0.97 * width);
    for (Drawn& d : panels) plan_labels(d, width);
  }
  return width;
}

/// Chooses the number of panels in a row and the width of their matrices. It takes a larger number
/// than usual if that makes the matrices wider, which is so if the figure would otherwise be higher
/// than a page.
std::pair<std::size_t, double> plan_layout(const HeatmapFigure& f, std::vector<Drawn>& panels) {
  const auto width_with = [&](std::size_t across) {
    decide_row_labels(panels, across);
    return width_within_page(f, panels, across, matrix_width(panels, across, f.width));
  };
  if (f.together > 1) return {f.together, width_with(f.together)};
  std::size_t best = panels_across(panels.size(), f.width);
  double widest = width_with(best);
  for (std::size_t across = best + 1; across <= std::min<std::size_t>(panels.size(), 4); ++across) {
    const double width = width_with(across);
    if (width > 1.05 * widest) best = across, widest = width;
  }
  return {best, width_with(best)};
}

double left_of_rows(const std::vector<Drawn>& panels, std::size_t across, double width,
                    double page) {
  double widest = 0;
  for (std::size_t i = 0; i < panels.size(); i += across) {
    const std::size_t end = std::min(panels.size(), i + across);
    const auto count = static_cast<double>(end - i);
    widest = std::max(widest, label_room(panels, i, end) + count * width + (count - 1) * gutter);
  }
  const double spare = page - 2 * margin - widest;
  return spare < 1 ? margin : margin + spare / 2;
}

double place_row(std::vector<Drawn>& panels, std::size_t begin, std::size_t end, double width,
                 Point at) {
  double x = at.x, bottom = at.y;
  const double top = at.y;
  for (std::size_t i = begin; i < end; ++i) {
    Drawn& d = panels[i];
    if (d.row_labels) x += d.rows.room() + axis_title_room;
    d.matrix = {x, top + title_room, width, matrix_height(*d.whole, width)};
    x += width + gutter;
    bottom = std::max(bottom, d.matrix.bottom() + d.columns.room() + axis_title_room);
  }
  return bottom;
}

// ---- drawing -----------------------------------------------------------------------------------

void draw_axis_titles(DisplayList& list, const Drawn& d) {
  const Box& m = d.matrix;
  const TextStyle style = {
      .size = small_size, .anchor = Anchor::middle, .align = Align::bottom, .colour = quiet};
  list.text({m.x + m.width / 2, m.bottom() + d.columns.room() + axis_title_room}, "key", style);
  if (!d.row_labels) return;
  TextStyle upwards = style;
  upwards.align = Align::top, upwards.rotation = -90;
  list.text({m.x - d.rows.room() - axis_title_room, m.y + m.height / 2}, "query", upwards);
}

void draw_panel(DisplayList& list, const Drawn& d, std::size_t number) {
  const Box& m = d.matrix;
  list.group_begin(fmt::format("panel{}", number + 1), d.panel.title);
  list.text({m.x + m.width / 2, m.y - 4}, fitted_title(clean_text(d.panel.title), m.width),
            {.size = title_size, .face = Face::bold, .anchor = Anchor::middle, .colour = ink});
  if (d.panel.values.empty()) {
    list.text(
        {m.x + m.width / 2, m.y + m.height / 2}, "no cells",
        {.size = text_size, .anchor = Anchor::middle, .align = Align::middle, .colour = quiet});
  } else {
    list.image(m, d.panel.cols, d.panel.rows,
               colours_of(d.panel, d.bar.limits, d.bar.scale, d.bar.map));
    if (d.row_labels) draw_tokens(list, d.rows, m);
    draw_tokens(list, d.columns, m);
    draw_axis_titles(list, d);
  }
  list.rectangle(m, Paint::stroked(ink, thin_line));
  list.group_end();
}

std::vector<ColourBar> shared_bars(const std::vector<Drawn>& panels) {
  std::vector<ColourBar> bars;
  for (const bool diverging : {false, true}) {
    const auto first = std::ranges::find_if(
        panels, [&](const Drawn& d) { return d.panel.diverging == diverging; });
    if (first != panels.end()) bars.push_back(first->bar);
  }
  return bars;
}

/// Draws bars next to each other, followed by the swatches, centred below the matrices. Returns
/// their lower end.
double draw_shared_bars(DisplayList& list, const std::vector<Drawn>& panels, const Specials& used,
                        double top) {
  const std::vector<ColourBar> bars = shared_bars(panels);
  const double left = panels.front().matrix.x, swatches = specials_width(used), gap = 24;
  const auto n = static_cast<double>(bars.size());
  double right = 0;
  for (const Drawn& d : panels) right = std::max(right, d.matrix.right());
  if (right - left < n * 90) right = list.width - margin;  // Too narrow for legible ticks.
  const double room = right - left - 10;
  const bool beside = swatches > 0 && room - swatches - gap > n * (90 + gap);
  const double tail = beside ? gap + swatches : 0;
  const double width = std::min(190.0, (room - tail - gap * (n - 1)) / n);
  double x = left + (right - left - n * width - gap * (n - 1) - tail) / 2;
  for (const ColourBar& bar : bars) {
    draw_colour_bar(list, bar, {x, top, width, colour_bar_height});
    x += width + gap;
  }
  if (beside || swatches == 0) return draw_specials(list, used, {x, top}), top + colour_bar_height;
  draw_specials(list, used, {left + 5, top + colour_bar_height + 4});
  return top + colour_bar_height + 11;
}

double draw_own_bars(DisplayList& list, const std::vector<Drawn>& panels, std::size_t begin,
                     std::size_t end, double top) {
  for (std::size_t i = begin; i < end; ++i) {
    const Box& m = panels[i].matrix;
    const double inset = std::min(8.0, m.width / 10);
    draw_colour_bar(list, panels[i].bar,
                    {m.x + inset, top, m.width - 2 * inset, colour_bar_height});
  }
  return top + colour_bar_height;
}

/// Returns the size of a dot, such as "2 × 2 cells"; the number of queries comes first.
std::string block_name(const Drawn& d) {
  return fmt::format("{} × {} cells{}", d.down, d.across,
                     d.down == d.across ? "" : " (queries × keys)");
}

/// Returns what a dot is, for each panel if they differ; empty if dots are cells.
std::string dots_text(const std::vector<Drawn>& panels) {
  std::vector<std::string> blocks;
  std::string each;
  bool diverging = false;
  for (const Drawn& d : panels) {
    if (d.down * d.across < 2) continue;
    blocks.push_back(block_name(d));
    each += (each.empty() ? "" : ", ") + blocks.back() + " in " + d.whole->title;
    diverging = diverging || d.whole->diverging;
  }
  if (blocks.empty()) return "";
  const auto same = std::ranges::count(blocks, blocks.front());
  const bool alike = static_cast<std::size_t>(same) == panels.size();
  std::string text = "Each dot is the largest value of " + (alike ? blocks.front() : each);
  if (diverging) {
    text += ". In a panel of differences or of values with signs it is that of largest magnitude";
  }
  return text;
}

Limits extremes(const HeatmapPanel& panel, const Specials& specials) {
  Limits all;
  for (std::size_t i = 0; i < panel.values.size(); ++i) {
    const double v = panel.values[i];
    const bool masked = !panel.masked.empty() && panel.masked[i] != 0;
    if (!masked && std::isfinite(v) && !(is_zero(v) && specials.zero)) all.include({v, v});
  }
  return all;
}

/// Says which values have the colours of the ends of fixed limits; empty if there are none.
std::string beyond_text(const HeatmapFigure& f, const std::vector<Drawn>& panels) {
  if (f.limits.empty()) return "";
  Limits all;
  for (const Drawn& d : panels) {
    if (limits_apply(f.limits, d.panel)) all.include(extremes(d.panel, d.specials));
  }
  std::vector<std::string> sides;
  const auto add = [&](const char* side, double value, double limit) {
    sides.push_back(
        fmt::format("values {} to {:.3g} have the colour of {:.3g}", side, value, limit));
  };
  if (all.low < f.limits.low) add("down", all.low, f.limits.low);
  if (all.high > f.limits.high) add("up", all.high, f.limits.high);
  return sides.empty() ? "" : fmt::format("Beyond the limits, {}", fmt::join(sides, " and "));
}

std::string caption_of(const HeatmapFigure& f, const std::vector<Drawn>& panels) {
  std::string text = f.caption;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ". ") + more; };
  if (const std::string dots = dots_text(panels); !dots.empty()) add(dots);
  std::size_t stride = 1;
  for (const Drawn& d : panels) {
    if (!d.whole->row_tokens.empty()) stride = std::max(stride, d.rows.stride);
    if (!d.whole->column_tokens.empty()) stride = std::max(stride, d.columns.stride);
  }
  if (stride > 1) add(fmt::format("One token in {} is labelled", stride));
  if (!f.shared_limits && panels.size() > 1) add("Each panel has its own limits");
  if (const std::string beyond = beyond_text(f, panels); !beyond.empty()) add(beyond);
  return text;
}

}  // namespace

DisplayList draw_heatmap(const HeatmapFigure& figure) {
  std::vector<Drawn> panels;
  for (const HeatmapPanel& p : figure.panels) {
    check_panel(p);
    panels.emplace_back().whole = &p;
  }
  const auto [across, width] = plan_layout(figure, panels);
  for (Drawn& d : panels) fill(figure, d, width);
  if (figure.shared_limits) share_limits(panels);
  for (Drawn& d : panels) centre_limits(figure, d);

  DisplayList list = begin_page(figure.width, figure.metadata, "Attention maps");
  const double left = left_of_rows(panels, across, width, figure.width);
  double y = margin;
  Specials used;
  for (std::size_t i = 0; i < panels.size(); i += across) {
    const std::size_t end = std::min(panels.size(), i + across);
    y = place_row(panels, i, end, width, {left, y});
    for (std::size_t k = i; k < end; ++k) draw_panel(list, panels[k], k);
    if (!figure.shared_limits) y = draw_own_bars(list, panels, i, end, y + 5);
    y += 6;
  }
  for (const Drawn& d : panels) used.include(d.specials);
  if (figure.shared_limits && !panels.empty()) y = draw_shared_bars(list, panels, used, y);
  if (!figure.shared_limits && specials_width(used) > 0) {
    draw_specials(list, used, {margin, y + 2});
    y += 10;
  }
  finish_with_caption(list, caption_of(figure, panels), y + 5);
  return list;
}

}  // namespace conelab::figure
