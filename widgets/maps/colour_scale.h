// The colour scale of a map on the screen: its bar with ticks, a histogram of the values above it,
// two handles at the limits of the colours, and swatches of the special colours.
#pragma once

#include <QFontMetricsF>
#include <QPainter>
#include <QString>
#include <vector>

#include "widgets/maps/map_colours.h"
#include "widgets/maps/map_layout.h"

namespace conelab::desktop {

struct ColourScale {
  ColourChoice choice;
  figure::Limits range;   ///< The values at the ends of the bar.
  figure::Limits limits;  ///< The values at the ends of the colours; values beyond have the same.
  figure::Specials used;
  QString title;
  std::vector<double> histogram = {};  ///< Heights in [0, 1], over equal parts of the bar.
  bool handles = false;
};

/// The positions of the parts, in the box of the scale.
struct ScalePlace {
  double title = 0;    ///< Width of the title; 0: it is left out.
  Box bar, histogram;  ///< The histogram is empty if there is no space for it.
};
[[nodiscard]] ScalePlace place_scale(const QFontMetricsF& metrics, const Box& box,
                                     const ColourScale& scale);

/// Return the value at a position of the bar, and the position of a value.
[[nodiscard]] double value_at(const ScalePlace& place, const ColourScale& scale, double x);
[[nodiscard]] double place_of(const ScalePlace& place, const ColourScale& scale, double value);

/// Counts the values of sorted samples in `bins` equal parts of a range. Heights are logarithms of
/// the counts, because most weights of attention are small; the highest is 1.
[[nodiscard]] std::vector<double> histogram_of(const std::vector<const MapSummary*>& summaries,
                                               const ColourChoice& choice,
                                               const figure::Limits& range, int bins);

void draw_scale(QPainter& painter, const Box& box, const ColourScale& scale);

/// Draws a scale without histogram and handles, whose bar has the range of the colours.
void draw_colour_scale(QPainter& painter, const Box& box, const ColourChoice& choice,
                       const figure::Limits& limits, const figure::Specials& used,
                       const QString& title);

}  // namespace conelab::desktop
