#include "core/figure/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"
#include "core/figure/figure_input.h"
#include "core/figure/heat_values.h"
#include "core/figure/heatmap.h"

namespace conelab::figure {
namespace {

constexpr std::size_t most_cells = 60;  ///< A side of a small map.
constexpr double edge = 4, gap = 3, row_gap = 5;
/// Widths of a small map: the least in one line, with the number of its head, and with its name.
constexpr double narrowest = 11, numbered_width = 22, listed_width = 38, widest = 72;
constexpr double tallest =
    230 / 25.4 * 72;  ///< Of the figure, if the maps do not become too small.
constexpr double bar_height = 1.3, line_height = 7, widest_title = 80;

class Heads {
 public:
  explicit Heads(const HeadsFigure& figure)
      : f_(figure), score_(row_named("score", tree::head_score_table, figure.score)) {
    listed_ =
        index_of_name("order", f_.order, {std::begin(head_orders), std::end(head_orders)}) > 0;
    for (const HeadPanel& head : f_.heads) order_.push_back(&head);
    if (listed_) sort(f_.order == head_orders[1] ? -1 : 1);
    choose_sizes();
    scale_maps();
  }

  DisplayList draw() {
    list_ = begin_page(f_.width, f_.metadata, "Attention of all heads");
    double y = edge + draw_columns();
    std::size_t begin = 0;
    while (begin < order_.size()) {
      std::size_t end = begin;
      while (end < order_.size() && (listed_ || order_[end]->row == order_[begin]->row)) ++end;
      y = draw_row(begin, end, y);
      begin = end;
    }
    finish_with_caption(list_, caption(), draw_bars(y) + 8);
    return std::move(list_);
  }

 private:
  void sort(double sign) {
    const auto key = [&](const HeadPanel* head) {
      const double score = head->scores.*score_.member;
      return std::isnan(score) ? HUGE_VAL : sign * score;
    };
    std::ranges::stable_sort(
        order_, [&](const HeadPanel* a, const HeadPanel* b) { return key(a) < key(b); });
  }

  void choose_sizes() {
    std::size_t most = 1;
    for (const HeadPanel* head : order_) most = std::max(most, head->head + 1);
    if (!listed_) {
      for (const std::string& row : f_.rows) {
        title_ = std::max(title_, text_width(row, text_size, Face::bold) + 6);
      }
      title_ = std::min(title_, widest_title);
    } else {
      most = std::max<std::size_t>(1, order_.size());
    }
    const double room = f_.width - 2 * edge - title_;
    const auto fit = [&](double least) {
      return static_cast<std::size_t>(std::max(1.0, (room + gap) / (least + gap)));
    };
    one_line_ = !listed_ && most <= fit(narrowest);
    across_ = one_line_ ? most : std::min(most, fit(listed_ ? listed_width : numbered_width));
    const auto count = static_cast<double>(across_);
    size_.width = std::min(widest, (room - gap * (count - 1)) / count);
    const HeatmapPanel* first = order_.empty() ? nullptr : &order_.front()->map;
    const double aspect = first == nullptr || first->cols == 0
                              ? 1
                              : static_cast<double>(first->rows) / static_cast<double>(first->cols);
    size_.height = size_.width * std::clamp(aspect, 0.3, 3.0);
    fit_page();
  }

  void fit_page() {
    constexpr double around = 60;  // Above and below the maps.
    const std::size_t rows = listed_ ? 1 : f_.rows.size();
    const std::size_t in_row =
        listed_ ? order_.size() : order_.size() / std::max<std::size_t>(1, rows);
    const std::size_t lines = rows * ((in_row + across_ - 1) / across_);
    const double room = (tallest - around) / static_cast<double>(lines) - below();
    const double least = (one_line_ ? narrowest : size_.width) * size_.height / size_.width;
    const double height = std::clamp(room, std::min(least, size_.height), size_.height);
    size_.width *= height / size_.height;
    size_.height = height;
  }

  [[nodiscard]] double below() const {
    return bar_height + 1 + (listed_ ? 2 : 1) * line_height + row_gap;
  }

  /// Returns how many cells a dot of print represents, for this many cells over a length.
  static std::size_t cells_a_dot(std::size_t cells, double length) {
    const double dots = std::max(1.0, length / smallest_dot);
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(static_cast<double>(cells) / dots - 0.1)));
  }

  void scale_maps() {
    for (const HeadPanel* head : order_) {
      const HeatmapPanel& map = head->map;
      HeatmapPanel dots =
          pooled(map, cells_a_dot(map.rows, size_.height), cells_a_dot(map.cols, size_.width));
      const HeatScale scale = f_.scale_of(map);
      if (scale != HeatScale::row_normalised) dots = scaled(std::move(dots), scale);
      specials_.include(specials_of(dots, scale));
      bars_.push_back(f_.bar_of(dots));
      shared_[map.diverging ? 1 : 0].include(bars_.back().limits);
      const double score = head->scores.*score_.member;
      if (!std::isnan(score)) range_.include({score, score});
      maps_.push_back(std::move(dots));
    }
  }

  double draw_columns() {
    if (!one_line_ || order_.empty()) return 0;
    const TextStyle style = {
        .size = small_size, .anchor = Anchor::middle, .align = Align::top, .colour = quiet};
    TextStyle left = style;
    left.anchor = Anchor::start;
    list_.text({edge, edge}, "head", left);
    for (std::size_t i = 0; i < across_; ++i) {
      list_.text({left_of(i) + size_.width / 2, edge}, std::to_string(i), style);
    }
    return line_height + 1;
  }

  [[nodiscard]] double left_of(std::size_t column) const {
    return edge + title_ + static_cast<double>(column) * (size_.width + gap);
  }

  double draw_row(std::size_t begin, std::size_t end, double top) {
    const HeadPanel& first = *order_[begin];
    list_.group_begin(fmt::format("row{}", first.row + 1), listed_ ? "Heads" : f_.rows[first.row]);
    if (!listed_) {
      list_.text({edge, top + size_.height / 2},
                 elide(clean_text(f_.rows[first.row]), text_size, title_ - 4, Face::bold),
                 {.size = text_size, .face = Face::bold, .align = Align::middle, .colour = ink});
    }
    const double height = size_.height + below();
    double y = top;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t column = (i - begin) % across_;
      if (column == 0 && i > begin) y += height;
      draw_map(i, {left_of(column), y});
    }
    list_.group_end();
    return y + height;
  }

  void draw_map(std::size_t i, Point at) {
    const HeadPanel& head = *order_[i];
    const HeatmapPanel& map = maps_[i];
    const Box box = {at.x, at.y, size_.width, size_.height};
    const ColourBar& bar = bars_[i];
    const Limits& limits = f_.shared_limits ? shared_[map.diverging ? 1 : 0] : bar.limits;
    if (!map.values.empty()) {
      list_.image(box, map.cols, map.rows, colours_of(map, limits, bar.scale, bar.map));
    }
    list_.rectangle(box, Paint::stroked(ink, thin_line));
    draw_score(head, {box.x, box.bottom() + 1});
  }

  void draw_score(const HeadPanel& head, Point at) {
    const double score = head.scores.*score_.member;
    if (!std::isnan(score)) {
      const double range = range_.high - range_.low;
      const double part = range > 0 ? (score - range_.low) / range : 0;
      list_.rectangle({at.x, at.y, std::max(0.5, part * size_.width), bar_height},
                      Paint::filled(blue));
    }
    const TextStyle style = {.size = small_size, .align = Align::top, .colour = ink};
    double y = at.y + bar_height;
    std::string text = tree::score_text(score);
    if (listed_) {
      const std::string name = fmt::format("{} · {}", f_.rows[head.row], head.head);
      list_.text({at.x, y}, elide(clean_text(name), small_size, size_.width), style);
      y += line_height;
    } else if (!one_line_) {
      text = fmt::format("{}: {}", head.head, text);
    }
    if (text_width(text, small_size) <= size_.width + gap - 1) list_.text({at.x, y}, text, style);
  }

  /// Draws a bar for maps without signs and one for differences, as far as there are such maps, and
  /// the special colours. Returns the lower end.
  double draw_bars(double top) {
    constexpr double bar_width = 170, between = 24;
    double x = edge + title_;
    const double room = f_.width - edge - x;
    double bottom = top;
    for (const bool diverging : {false, true}) {
      const auto like = [&](const HeatmapPanel& map) { return map.diverging == diverging; };
      const auto found = std::ranges::find_if(maps_, like);
      if (!f_.shared_limits || found == maps_.end()) continue;
      ColourBar bar = bars_[static_cast<std::size_t>(found - maps_.begin())];
      bar.limits = shared_[diverging ? 1 : 0];
      bar.title = value_title(*found, f_.value_name);
      const double width = std::min(bar_width, room / 2 - between);
      draw_colour_bar(list_, bar, {x, top, width, colour_bar_height});
      x += width + between;
      bottom = top + colour_bar_height;
    }
    if (specials_width(specials_) == 0) return bottom;
    if (x + specials_width(specials_) <= f_.width - edge) {
      draw_specials(list_, specials_, {x, top});
      return std::max(bottom, top + 8);
    }
    draw_specials(list_, specials_, {edge + title_, bottom + 4});
    return bottom + 12;
  }

  [[nodiscard]] std::string caption() const {
    std::string text = f_.caption.empty() ? "" : f_.caption + ". ";
    text += fmt::format("Below each map: {}", score_.about);
    if (!range_.empty()) {
      text += fmt::format(", from {} to {}", tree::score_text(range_.low),
                          tree::score_text(range_.high));
    }
    if (!f_.shared_limits) text += ". Each map has its own limits";
    return text;
  }

  const HeadsFigure& f_;
  const tree::HeadScoreInfo& score_;
  DisplayList list_;
  std::vector<const HeadPanel*> order_;
  std::vector<HeatmapPanel> maps_;  ///< [order] On the scale, as dots.
  std::vector<ColourBar> bars_;     ///< [order]
  Limits shared_[2];                ///< Of maps without signs, and of differences.
  Limits range_;                    ///< Of the score.
  Specials specials_;
  bool listed_ = false, one_line_ = false;
  std::size_t across_ = 1;
  double title_ = 0;
  Box size_;
};

}  // namespace

HeatmapPanel small_map(const HeatmapPanel& panel, HeatScale scale) {
  const auto block = [](std::size_t cells) {
    return std::max<std::size_t>(1, (cells + most_cells - 1) / most_cells);
  };
  const bool by_rows = scale == HeatScale::row_normalised;
  return pooled(by_rows ? scaled(panel, scale) : panel, block(panel.rows), block(panel.cols));
}

DisplayList draw_heads(const HeadsFigure& figure) { return Heads(figure).draw(); }

DisplayList make_heads(const FigureInput& input) {
  HeadsFigure figure;
  figure.rows = input.head_rows;
  figure.heads = input.heads;
  figure.value_name = input.value("quantity") == "logits" ? "logit" : "attention weight";
  figure.score = input.value("score");
  figure.order = input.value("order");
  figure.caption = input.caption;
  return finished(std::move(figure), input, draw_heads);
}

}  // namespace conelab::figure
