#include "widgets/maps/colour_scale.h"

#include <algorithm>
#include <cmath>

#include "core/figure/ticks.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double bar_high = 9;          ///< Height of a colour bar in pixels.
constexpr double below_histogram = 34;  ///< Height of bar, ticks and their labels.
constexpr double least_bar = 40;        ///< Smallest readable length of a bar.

/// Returns the label of a tick with a raised exponent: "10⁻⁷".
QString tick_text(const figure::Tick& tick) {
  static const QString from = QStringLiteral("0123456789−"), to = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹⁻");
  QString text;
  for (const figure::TextRun& run : tick.label) {
    for (const QChar c : QString::fromStdString(run.text)) {
      const qsizetype place = run.script == figure::Script::super ? from.indexOf(c) : -1;
      text += place < 0 ? c : to[place];
    }
  }
  return text;
}

/// Draws swatches of the special colours.
struct Swatch {
  figure::Colour colour;
  QString text;
};
std::vector<Swatch> swatches(const ColourScale& scale) {
  const SpecialColours colours = special_colours(scale.choice);
  std::vector<Swatch> all;
  if (scale.used.zero) all.push_back({colours.zero, QStringLiteral("zero")});
  if (scale.used.masked) all.push_back({colours.masked, QStringLiteral("masked")});
  if (scale.used.nan) all.push_back({colours.nan, QStringLiteral("NaN")});
  return all;
}
double swatch_width(const QFontMetricsF& metrics, const Swatch& swatch) {
  return bar_high + 12 + metrics.horizontalAdvance(swatch.text);
}

void draw_gradient(QPainter& painter, const ScalePlace& place, const ColourScale& scale) {
  const Box& bar = place.bar;
  for (double i = 0; i < bar.width; i += 1) {
    const double value = value_at(place, scale, bar.x + i * bar.width / (bar.width - 1));
    const figure::Colour c = figure::colour_at(
        drawn_map(scale.choice), figure::place_on_map(value, scale.limits, scale.choice.scale));
    painter.fillRect(QRectF(bar.x + i, bar.y, 1.5, bar.height), QColor(c.r, c.g, c.b));
  }
}

void draw_histogram(QPainter& painter, const ScalePlace& place, const ColourScale& scale) {
  const Box& box = place.histogram;
  if (scale.histogram.empty() || box.height <= 0) return;
  QColor colour = quiet_ink(QPalette());
  colour.setAlphaF(0.55F);
  const double width = box.width / static_cast<double>(scale.histogram.size());
  for (std::size_t i = 0; i < scale.histogram.size(); ++i) {
    const double height = box.height * scale.histogram[i];
    painter.fillRect(QRectF(box.x + static_cast<double>(i) * width, box.bottom() - height,
                            std::max(1.0, width - 0.5), height),
                     colour);
  }
}

/// Draws a line through histogram and bar at each limit, with a grip.
void draw_handles(QPainter& painter, const ScalePlace& place, const ColourScale& scale) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor line = QPalette().color(QPalette::WindowText);
  for (const double value : {scale.limits.low, scale.limits.high}) {
    const double x = std::round(place_of(place, scale, value)) + 0.5;
    const double top = place.histogram.height > 0 ? place.histogram.y : place.bar.y - 3;
    painter.setPen(QPen(line, 1));
    painter.drawLine(QPointF(x, top), QPointF(x, place.bar.bottom()));
    painter.setBrush(QPalette().color(QPalette::Base));
    painter.drawRoundedRect(QRectF(x - 3, place.bar.y - 2, 6, place.bar.height + 4), 2, 2);
  }
  painter.restore();
}

/// Draws the labels below a colour bar; a label that would overlap the previous one is left out.
void draw_ticks(QPainter& painter, const Box& bar, const figure::Limits& limits,
                figure::HeatScale scale) {
  const auto ticks = scale == figure::HeatScale::log
                         ? figure::log_ticks(limits.low, limits.high, 5)
                         : figure::linear_ticks(limits.low, limits.high, 5);
  const QFontMetricsF metrics(painter.font());
  double taken = -1e9;
  painter.setPen(quiet_ink(QPalette()));
  for (const figure::Tick& tick : ticks) {
    if (!tick.major()) continue;
    const double at = bar.x + figure::place_on_map(tick.value, limits, scale) * bar.width;
    const QString text = tick_text(tick);
    const double half = metrics.horizontalAdvance(text) / 2;
    painter.drawLine(QPointF(at, bar.bottom()), QPointF(at, bar.bottom() + 3));
    if (at - half < taken + 4) continue;
    painter.drawText(QRectF(at - half - 1, bar.bottom() + 2, 2 * half + 2, 14), Qt::AlignCenter,
                     text);
    taken = at + half;
  }
}

bool is_log(const ColourScale& scale) { return scale.choice.scale == figure::HeatScale::log; }

}  // namespace

ScalePlace place_scale(const QFontMetricsF& metrics, const Box& box, const ColourScale& scale) {
  double space = 16;
  for (const Swatch& s : swatches(scale)) space += swatch_width(metrics, s);
  ScalePlace place;
  const double name = metrics.horizontalAdvance(scale.title) + 10;
  // The title is left out rather than the bar.
  if (!scale.title.isEmpty() && box.width - space - name >= least_bar) place.title = name;
  const double high = std::max(0.0, box.height - below_histogram);
  place.bar = {box.x + place.title, box.y + high + 1,
               std::max(least_bar, box.width - space - place.title), bar_high};
  place.histogram = {place.bar.x, box.y, place.bar.width, std::max(0.0, high - 2)};
  return place;
}

double value_at(const ScalePlace& place, const ColourScale& scale, double x) {
  const double part = std::clamp((x - place.bar.x) / place.bar.width, 0.0, 1.0);
  const figure::Limits& r = scale.range;
  if (is_log(scale)) return r.low * std::pow(r.high / r.low, part);
  return r.low + (r.high - r.low) * part;
}

double place_of(const ScalePlace& place, const ColourScale& scale, double value) {
  return place.bar.x +
         place.bar.width * figure::place_on_map(value, scale.range, scale.choice.scale);
}

std::vector<double> histogram_of(const std::vector<const MapSummary*>& summaries,
                                 const ColourChoice& choice, const figure::Limits& range,
                                 int bins) {
  std::vector<double> heights(static_cast<std::size_t>(std::max(0, bins)), 0);
  if (range.empty() || range.low >= range.high || heights.empty()) return {};
  ColourScale scale;
  scale.choice = choice, scale.range = range;
  ScalePlace unit;
  unit.bar = {0, 0, static_cast<double>(bins), 1};
  bool any = false;
  for (const MapSummary* summary : summaries) {
    const std::vector<float>& sorted = shown_sample(*summary, choice.scale);
    const auto count_below = [&](double value) {
      return std::lower_bound(sorted.begin(), sorted.end(), static_cast<float>(value)) -
             sorted.begin();
    };
    any = any || !sorted.empty();
    auto before = count_below(range.low);
    for (std::size_t i = 0; i < heights.size(); ++i) {
      const bool last = i + 1 == heights.size();
      const double end = value_at(unit, scale, static_cast<double>(i) + 1);
      const auto now =
          last ? static_cast<std::ptrdiff_t>(std::upper_bound(sorted.begin(), sorted.end(),
                                                              static_cast<float>(range.high)) -
                                             sorted.begin())
               : count_below(end);
      heights[i] += static_cast<double>(std::max<std::ptrdiff_t>(0, now - before));
      before = std::max(before, now);
    }
  }
  if (!any) return {};
  const double most = std::log1p(*std::max_element(heights.begin(), heights.end()));
  for (double& height : heights) height = most > 0 ? std::log1p(height) / most : 0;
  return heights;
}

void draw_scale(QPainter& painter, const Box& box, const ColourScale& scale) {
  const QFontMetricsF metrics(painter.font());
  const ScalePlace place = place_scale(metrics, box, scale);
  double x = place.bar.x;
  if (place.title > 0) {
    painter.setPen(quiet_ink(QPalette()));
    painter.drawText(QRectF(box.x, place.bar.y - 1, place.title, bar_high + 2),
                     Qt::AlignLeft | Qt::AlignVCenter, scale.title);
  }
  if (!scale.limits.empty()) {
    draw_histogram(painter, place, scale);
    draw_gradient(painter, place, scale);
    draw_ticks(painter, place.bar, scale.range, scale.choice.scale);
    if (scale.handles && scale.range.low < scale.range.high) draw_handles(painter, place, scale);
    x += place.bar.width + 16;
  }
  for (const Swatch& s : swatches(scale)) {
    const QRectF square(x, place.bar.y, bar_high, bar_high);
    painter.fillRect(square, QColor(s.colour.r, s.colour.g, s.colour.b));
    painter.setPen(hair_line(QPalette()));
    painter.drawRect(square);
    painter.setPen(quiet_ink(QPalette()));
    painter.drawText(QPointF(x + bar_high + 4, place.bar.y + bar_high - 1), s.text);
    x += swatch_width(metrics, s);
  }
}

void draw_colour_scale(QPainter& painter, const Box& box, const ColourChoice& choice,
                       const figure::Limits& limits, const figure::Specials& used,
                       const QString& title) {
  draw_scale(painter, box, {choice, limits, limits, used, title});
}

}  // namespace conelab::desktop
