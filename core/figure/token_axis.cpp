#include "core/figure/token_axis.h"

#include <algorithm>
#include <cmath>

#include "core/figure/font_metrics.h"
#include "core/figure/style.h"
#include "core/figure/text.h"
#include "core/figure/ticks.h"

namespace conelab::figure {
namespace {

constexpr double gap = 2.5;          ///< Distance of labels from the matrix, and of the tiers.
constexpr double line_pitch = 0.98;  ///< Distance of two lines, divided by the text size.

std::vector<std::string> label_texts(const std::vector<std::string>& tokens, std::size_t cells,
                                     double size, double longest) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < cells; ++i) {
    labels.push_back(tokens.empty() ? std::to_string(i)
                                    : elide(token_text(tokens[i]), size, longest));
  }
  return labels;
}

/// Returns a stride: round for numbers, so that readers can count; the smallest possible for
/// tokens.
std::size_t round_stride(std::size_t least, bool numbers) {
  if (!numbers) return least;
  std::size_t stride = 1;
  for (std::size_t unit = 1; stride < least; unit *= 10) {
    for (const std::size_t m : {1, 2, 5, 10}) {
      stride = m * unit;
      if (stride >= least) break;
    }
  }
  return stride;
}

bool outer(const TokenAxis& axis, std::size_t i) { return axis.two_tiers && (i / axis.stride) % 2; }

}  // namespace

double TokenAxis::room() const {
  if (labels.empty()) return 0;
  return gap + inner_width + (two_tiers ? gap + outer_width : 0);
}

TokenAxis plan_tokens(Side side, const std::vector<std::string>& tokens, std::size_t cells,
                      double pitch, double longest) {
  TokenAxis axis;
  axis.side = side;
  axis.size = pitch >= text_size * line_pitch ? text_size : small_size;
  axis.labels = label_texts(tokens, cells, axis.size, longest);
  const bool numbers = tokens.empty();
  // Numbers are two lines apart, because one at every cell would be hard to read.
  const double need = axis.size * (numbers ? 3 : line_pitch);
  // Lines from outer labels pass between two inner labels and need some space there.
  axis.two_tiers = !numbers && pitch < need && 2 * pitch >= need + 1.5;
  if (!axis.two_tiers && pitch < need) {
    axis.stride = round_stride(static_cast<std::size_t>(std::ceil(need / pitch - 1e-9)), numbers);
  }
  for (std::size_t i = 0; i < cells; i += axis.stride) {
    double& width = outer(axis, i) ? axis.outer_width : axis.inner_width;
    width = std::max(width, text_width(axis.labels[i], axis.size));
  }
  return axis;
}

void draw_tokens(DisplayList& list, const TokenAxis& axis, const Box& matrix) {
  const bool left = axis.side == Side::left, top = axis.side == Side::top;
  const double pitch = (left ? matrix.height : matrix.width) /
                       static_cast<double>(std::max<std::size_t>(1, axis.labels.size()));
  const TextStyle style = {.size = axis.size,
                           .anchor = top ? Anchor::start : Anchor::end,
                           .align = Align::middle,
                           .rotation = left ? 0.0 : -90.0,
                           .colour = ink};
  for (std::size_t i = 0; i < axis.labels.size(); i += axis.stride) {
    const double along = (static_cast<double>(i) + 0.5) * pitch;
    const double away = gap + (outer(axis, i) ? axis.inner_width + gap : 0);
    const auto at = [&](double distance) {
      if (left) return Point{matrix.x - distance, matrix.y + along};
      return Point{matrix.x + along, top ? matrix.y - distance : matrix.bottom() + distance};
    };
    if (outer(axis, i)) list.line(at(0.8), at(away - 0.8), {Colour{190, 190, 190, 255}, thin_line});
    list.text(at(away), axis.labels[i], style);
  }
}

}  // namespace conelab::figure
