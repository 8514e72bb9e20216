#include "core/drawing/edge_labels.h"

#include <algorithm>
#include <numeric>

#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

constexpr double name_line = 8.5, note_line = 7.5, marker_room = 8;

/// Labels that touch each other and move together. `offset` is the mean of the wanted centres,
/// relative to that of the first label.
struct Block {
  double offset, weight;
  std::size_t begin, end;
};

/// Returns the non-decreasing sequence that is nearest to `values`.
std::vector<double> isotonic(const std::vector<double>& values) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    blocks.push_back({values[i], 1, i, i + 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].offset > blocks.back().offset) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& b = blocks.back();
      b.offset = (b.offset * b.weight + last.offset * last.weight) / (b.weight + last.weight);
      b.weight += last.weight, b.end = last.end;
    }
  }
  std::vector<double> out(values.size());
  for (const Block& b : blocks) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(b.begin),
              out.begin() + static_cast<std::ptrdiff_t>(b.end), b.offset);
  }
  return out;
}

std::string with_spaces(const std::string& text, double width) {
  std::u32string spaced;
  double word = 0;
  for (const char32_t c : decode_utf8(text)) {
    const double wide = text_width(encode_utf8({&c, 1}), text_size, Face::bold);
    word = c == U' ' ? 0 : word + wide;
    if (word > width) spaced += U' ', word = wide;
    spaced += c;
  }
  return encode_utf8(spaced);
}

/// Returns the width between the plot and the labels. Many labels move far from the ends of their
/// lines, so that their leaders need room to stay apart.
double leader_room(std::size_t labels) {
  return std::clamp(2.4 * static_cast<double>(labels), 14.0, 26.0);
}

void draw_lines(DisplayList& list, const EdgeLabel& l, Point at) {
  for (const std::string& line : l.name) {
    list.text(at, line,
              {.size = text_size, .face = Face::bold, .align = Align::middle, .colour = ink});
    at.y += name_line;
  }
  at.y += (note_line - name_line) / 2;
  for (const auto& note : l.notes) {
    list.text(at, note, {.size = small_size, .align = Align::middle, .colour = quiet});
    at.y += note_line;
  }
}

/// Draws the line from the end of a curve to its label. Its part inside the plot is dotted, so that
/// it is not taken for a part of the curve.
void draw_leader(DisplayList& list, const EdgeLabel& l, double x, double room, double middle) {
  constexpr double gap = 3;
  const Colour colour = l.colour.opacity(0.6);
  const double y = l.end.y, inside = l.end.x + gap;
  if (inside < x) list.line({inside, y}, {x, y}, {colour, thin_line, {0.6, 2}, Cap::round});
  list.path(
      Path::polyline(
          {{std::max(inside, x), y}, {x + gap, y}, {x + room - 6, middle}, {x + room - 3, middle}}),
      Paint::stroked(colour, thin_line));
}

}  // namespace

std::vector<std::string> name_lines(const std::string& name, double width) {
  return wrap(with_spaces(clean_text(name), width), text_size, width, Face::bold);
}

double EdgeLabel::height() const {
  return name_line * static_cast<double>(std::max<std::size_t>(name.size(), 1)) +
         note_line * static_cast<double>(notes.size()) + 1;
}

double EdgeLabel::width() const {
  double widest = 0;
  for (const auto& line : name) widest = std::max(widest, text_width(line, text_size, Face::bold));
  for (const auto& note : notes) widest = std::max(widest, text_width(note, small_size));
  return marker_room + widest;
}

double edge_room(const std::vector<EdgeLabel>& labels) {
  double widest = 0;
  for (const EdgeLabel& label : labels) widest = std::max(widest, label.width());
  return labels.empty() ? 0 : leader_room(labels.size()) + widest;
}

std::vector<double> spread(const std::vector<double>& wanted, const std::vector<double>& heights,
                           double top, double bottom) {
  const std::size_t n = wanted.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  // After the height of the stack above each label is subtracted, only the order remains as a
  // constraint.
  std::vector<double> stacked(n, 0), free(n);
  for (std::size_t k = 1; k < n; ++k) {
    stacked[k] = stacked[k - 1] + (heights[order[k - 1]] + heights[order[k]]) / 2;
  }
  for (std::size_t k = 0; k < n; ++k) free[k] = wanted[order[k]] - stacked[k];
  free = isotonic(free);
  std::vector<double> centres(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double low = top + heights[order.front()] / 2;
    const double high = bottom - heights[order.back()] / 2 - stacked.back();
    centres[order[k]] = stacked[k] + std::max(low, std::min(high, free[k]));
  }
  return centres;
}

double edge_height(const std::vector<EdgeLabel>& labels) {
  double sum = 0;
  for (const EdgeLabel& label : labels) sum += label.height();
  return sum;
}

void draw_edge_labels(DisplayList& list, const std::vector<EdgeLabel>& labels, const Box& plot) {
  std::vector<double> wanted, heights;
  for (const EdgeLabel& label : labels) {
    wanted.push_back(label.end.y + (label.height() - name_line) / 2);
    heights.push_back(label.height());
  }
  const std::vector<double> centres = spread(wanted, heights, plot.y - 2, plot.bottom() + 2);
  const double room = leader_room(labels.size()), x = plot.right();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const EdgeLabel& l = labels[i];
    const double middle = centres[i] - l.height() / 2 + name_line / 2;
    draw_leader(list, l, x, room, middle);
    draw_marker(list, {x + room + 1, middle}, l.marker, 4.5, l.colour);
    draw_lines(list, l, {x + room + marker_room, middle});
  }
}

}  // namespace conelab::figure
