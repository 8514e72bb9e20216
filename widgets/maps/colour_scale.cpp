#include "widgets/maps/colour_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/drawing/axes.h"
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
  const double most = std::log1p(*std::ranges::max_element(heights));
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

namespace {

using figure::HeatScale;
using figure::Limits;

std::uint32_t packed(figure::Colour c) {
  return 0xff000000U | static_cast<std::uint32_t>(c.r) << 16 |
         static_cast<std::uint32_t>(c.g) << 8 | c.b;
}

/// Tests for zero by its bits. A graphics driver may have set the processor to treat subnormal
/// numbers as zero while drawing, but the legend counts exact zeros only.
bool is_zero(float value) { return (std::bit_cast<std::uint32_t>(value) << 1) == 0; }

/// Returns the part of the limits between the chosen percentiles; all of it if the sample is empty
/// or all its values are equal.
Limits within_percentiles(const Limits& limits, const MapSummary& summary,
                          const ColourChoice& choice) {
  if (choice.low_percentile <= 0 && choice.high_percentile >= 100) return limits;
  std::vector<float> positive;
  const std::vector<float>* sorted = &shown_sample(summary, choice.scale);
  if (choice.scale == HeatScale::log) {
    positive.assign(std::upper_bound(sorted->begin(), sorted->end(), 0.0F), sorted->end());
    sorted = &positive;
  }
  if (sorted->empty()) return limits;
  Limits within = limits;
  if (choice.low_percentile > 0) within.low = quantile(*sorted, choice.low_percentile / 100);
  if (choice.high_percentile < 100) within.high = quantile(*sorted, choice.high_percentile / 100);
  return within.low < within.high ? within : limits;
}

}  // namespace

figure::ColourMap drawn_map(const ColourChoice& choice) {
  using figure::ColourMap;
  if (!choice.diverging) return choice.map;
  const bool dark = choice.map == ColourMap::dark || choice.map == ColourMap::dark_diverging;
  return dark ? ColourMap::dark_diverging : ColourMap::diverging;
}

SpecialColours special_colours(const ColourChoice& choice) {
  if (choice.map != figure::ColourMap::dark && choice.map != figure::ColourMap::dark_diverging) {
    return {};
  }
  return {{0, 0, 0, 255}, {74, 78, 84, 255}, figure::nan_colour};
}

double quantile(const std::vector<float>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return static_cast<double>(sorted.back());
  const double part = place - static_cast<double>(below);
  return (1 - part) * static_cast<double>(sorted[below]) +
         part * static_cast<double>(sorted[below + 1]);
}

const std::vector<float>& shown_sample(const MapSummary& summary, HeatScale scale) {
  static const std::vector<float> none;
  if (scale == HeatScale::rank) return none;
  return scale == HeatScale::row_normalised ? summary.sorted_row_sample : summary.sorted_sample;
}

Limits colour_limits(const MapSummary& summary, const ColourChoice& choice) {
  if (choice.scale == HeatScale::rank) {
    return {choice.low_percentile / 100, choice.high_percentile / 100};
  }
  Limits limits = choice.scale == HeatScale::log ? summary.positive_limits : summary.limits;
  if (limits.empty()) return limits;
  if (choice.scale == HeatScale::row_normalised) {
    limits = {limits.low < 0 ? -1.0 : 0.0, limits.high > 0 ? 1.0 : 0.0};
  }
  const bool from_zero = choice.scale != HeatScale::log && choice.low_percentile <= 0;
  limits = within_percentiles(limits, summary, choice);
  if (choice.diverging) {
    const double reach = std::max(std::abs(limits.low), std::abs(limits.high));
    return {-reach, reach};
  }
  // As in figures. Otherwise a map with equal weights, one per row and all others masked, would
  // have no scale.
  if (from_zero && limits.low > 0) limits.low = 0;
  return limits;
}

MapColours::MapColours(const ColourChoice& choice, const Limits& limits, const MapSummary& summary)
    : choice_(choice), summary_(summary) {
  const figure::ColourMap map = drawn_map(choice);
  for (int i = 0; i < steps; ++i) {
    table_[static_cast<std::size_t>(i)] =
        packed(figure::colour_at(map, static_cast<double>(i) / (steps - 1)));
  }
  const SpecialColours special = special_colours(choice);
  masked_ = packed(special.masked), nan_ = packed(special.nan), zero_ = packed(special.zero);
  if (limits.empty()) return;
  const bool log = choice.scale == HeatScale::log;
  const double low = log ? std::log(limits.low) : limits.low;
  const double high = log ? std::log(limits.high) : limits.high;
  low_ = static_cast<float>(low);
  factor_ = high > low ? static_cast<float>(1 / (high - low)) : 0;
}

float MapColours::place(float value, std::int64_t row) const {
  switch (choice_.scale) {
    case HeatScale::log:
      value = std::log(value);
      break;
    case HeatScale::row_normalised: {
      const float largest = summary_.row_largest[static_cast<std::size_t>(row)];
      value = largest > 0 ? value / largest : 0;
      break;
    }
    case HeatScale::rank: {
      const auto& sorted = summary_.sorted_sample;
      const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), value);
      const auto below = static_cast<float>(from - sorted.begin() + (to - sorted.begin()));
      return sorted.empty() ? 0.5F : below / (2 * static_cast<float>(sorted.size()));
    }
    case HeatScale::linear:
      break;
  }
  if (factor_ == 0) return 0.5F;
  return std::clamp((value - low_) * factor_, 0.0F, 1.0F);
}

std::uint32_t MapColours::operator()(float value, std::int64_t row) const {
  if (is_masked(value)) return masked_;
  if (std::isnan(value)) return nan_;
  if (is_zero(value) && (choice_.zero_special || choice_.scale == HeatScale::log)) return zero_;
  const float place = this->place(value, row);
  return table_[static_cast<std::size_t>(place * (steps - 1) + 0.5F)];
}

}  // namespace conelab::desktop
