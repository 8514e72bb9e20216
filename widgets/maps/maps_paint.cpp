#include "widgets/maps/maps_paint.h"

#include <algorithm>
#include <cmath>

#include "core/figure/text.h"
#include "core/figure/ticks.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int smallest_label = 8;    ///< Smallest legible font size in pixels.
constexpr double number_pitch = 28;  ///< Pixels that a number needs along its axis.
constexpr double bar_high = 9;       ///< Height of a colour bar in pixels.

QColor ink(const QPainter& painter) {
  return painter.device() ? QPalette().color(QPalette::WindowText) : QColor(Qt::black);
}

/// Returns a token for display: control characters are visible, and it is at most one line long.
QString shown(const std::string& token) {
  const QString text = QString::fromStdString(figure::clean_text(token));
  return text.size() > 40 ? text.left(39) + QChar(0x2026) : text;
}

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

/// One direction of a panel: the positions of its cells in pixels of the canvas.
struct Along {
  double begin = 0, end = 0;   ///< Pixels of the panel's cells.
  double first = 0, last = 0;  ///< The cell coordinates at its ends.
  double scale = 1;
  [[nodiscard]] double place(double cell) const { return begin + (cell - first) * scale; }
};
Along across_rows(const Box& cells, const MapCamera& camera) {
  return {cells.y, cells.bottom(), camera.row_at(0, cells.height),
          camera.row_at(cells.height, cells.height), camera.scale};
}
Along across_columns(const Box& cells, const MapCamera& camera) {
  return {cells.x, cells.right(), camera.column_at(0, cells.width),
          camera.column_at(cells.width, cells.width), camera.scale};
}

/// Draws the labels of the visible cells by `draw(cell, place)`, thinned so that they fit. The
/// focused cell always has a label, which nothing overlaps.
template <class Draw>
void draw_labels(QPainter& painter, const Along& along, std::int64_t count, bool numbers,
                 std::int64_t focused, const Draw& draw) {
  painter.save();
  const auto [letters, step] = plan_labels(painter.font(), along.scale, numbers);
  painter.setFont(letters);
  const double pitch = label_line(letters);
  if (along.end - along.begin < pitch) return painter.restore();  // Not even one label fits.
  const auto label = [&](std::int64_t cell) {
    const double at = along.place(static_cast<double>(cell) + 0.5);
    if (at < along.begin || at > along.end) return;
    painter.setPen(cell == focused ? focus_colour() : quiet_ink(QPalette()));
    draw(cell, at);
  };
  const auto low = static_cast<std::int64_t>(std::max(0.0, std::floor(along.first)));
  const auto high = std::min(count - 1, static_cast<std::int64_t>(std::floor(along.last)));
  for (std::int64_t cell = (low + step - 1) / step * step; cell <= high; cell += step) {
    const double away = std::abs(static_cast<double>(cell - focused)) * along.scale;
    if (focused < 0 || away >= pitch - 1e-6) label(cell);
  }
  if (focused >= 0 && focused < count) label(focused);
  painter.restore();
}

QString label_text(const QPainter& painter, const std::string& token, double space) {
  return QFontMetricsF(painter.font()).elidedText(shown(token), Qt::ElideRight, space);
}

QColor bar_colour() {
  QColor colour = QPalette().color(QPalette::Highlight);
  colour.setAlphaF(0.75F);
  return colour;
}

/// Draws one bar per cell. If cells are smaller than a pixel, it draws one bar per pixel, of the
/// largest value in it. `bar(place, thickness, part)` returns the rectangle.
template <class Values, class Bar>
void draw_bars(QPainter& painter, const Box& box, const Along& along, const Values& values,
               double most, const Bar& bar) {
  painter.fillRect(desktop_rect(box), QColor(128, 128, 128, 24));
  const double step = std::max(1.0, 1 / along.scale), thick = std::max(1.0, along.scale);
  const auto count = static_cast<double>(values.size());
  for (double cell = std::max(0.0, std::floor(along.first)); cell < count;
       cell = std::floor(cell + step)) {
    const double at = along.place(cell);
    if (at >= along.end) break;
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(cell);
    const auto to =
        values.begin() + static_cast<std::ptrdiff_t>(std::min(count, std::floor(cell + step)));
    const double part = std::clamp(*std::max_element(from, to) / most, 0.0, 1.0);
    painter.fillRect(bar(at, thick, part).intersected(desktop_rect(box)), bar_colour());
  }
}

/// Draws swatches of the special colours.
struct Swatch {
  figure::Colour colour;
  QString text;
};
std::vector<Swatch> swatches(const figure::Specials& used) {
  std::vector<Swatch> all;
  if (used.zero) all.push_back({figure::zero_colour, QStringLiteral("zero")});
  if (used.masked) all.push_back({figure::masked_colour, QStringLiteral("masked")});
  if (used.nan) all.push_back({figure::nan_colour, QStringLiteral("NaN")});
  return all;
}
double swatch_width(const QFontMetricsF& metrics, const Swatch& swatch) {
  return bar_high + 12 + metrics.horizontalAdvance(swatch.text);
}

void draw_gradient(QPainter& painter, const Box& bar, const ColourChoice& choice) {
  const figure::ColourMap map = choice.diverging ? figure::ColourMap::diverging : choice.map;
  for (double i = 0; i < bar.width; i += 1) {
    const figure::Colour c = figure::colour_at(map, i / (bar.width - 1));
    painter.fillRect(QRectF(bar.x + i, bar.y, 1.5, bar.height), QColor(c.r, c.g, c.b));
  }
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

}  // namespace

double label_line(const QFont& letters) {
  return QFontMetricsF(letters).tightBoundingRect(QStringLiteral("[dgj]")).height();
}

LabelPlan plan_labels(const QFont& usual, double scale, bool numbers) {
  QFont font = usual;
  font.setPixelSize(smallest_label);
  const std::int64_t step = label_step(scale, label_line(font), numbers);
  for (int size = QFontInfo(usual).pixelSize(); size > smallest_label; --size) {
    font.setPixelSize(size);
    if (label_line(font) <= static_cast<double>(step) * scale) return {font, step};
  }
  font.setPixelSize(smallest_label);
  return {font, step};
}

std::int64_t label_step(double scale, double pitch, bool numbers) {
  const double least = std::ceil((numbers ? number_pitch : pitch) / scale - 1e-6);
  if (!numbers) return std::max<std::int64_t>(1, static_cast<std::int64_t>(least));
  const double power = std::pow(10, std::floor(std::log10(std::max(1.0, least))));
  for (const double m : {1.0, 2.0, 5.0, 10.0}) {
    if (m * power >= least) return static_cast<std::int64_t>(m * power);
  }
  return 1;
}

QFont label_font(const QFont& base) {
  QFont font = base;
  font.setPointSizeF(std::max(7.0, base.pointSizeF() - 2));
  return font;
}

double label_space(const QFontMetricsF& metrics, const std::vector<std::string>& tokens,
                   std::int64_t count) {
  double widest = metrics.horizontalAdvance(QString::number(count));
  const std::size_t step = tokens.size() / 400 + 1;
  for (std::size_t i = 0; i < tokens.size(); i += step) {
    widest = std::max(widest, metrics.horizontalAdvance(shown(tokens[i])));
  }
  return std::clamp(widest + 8, 20.0, 92.0);
}

void draw_title(QPainter& painter, const PanelPlace& place, const MapPanel& panel, bool cancelled,
                bool flat) {
  QFont bold = painter.font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(ink(painter));
  QString state;
  if (panel.pyramid && !panel.pyramid->complete() && panel.error.empty()) {
    const double done = static_cast<double>(panel.pyramid->rows_done()) /
                        static_cast<double>(std::max<std::int64_t>(1, panel.pyramid->rows()));
    state = cancelled ? QObject::tr("cancelled")
                      : QObject::tr("preview, %1 % exact").arg(static_cast<int>(100 * done));
  }
  const QRectF box = desktop_rect(place.title);
  const QString hint = QObject::tr("flat under shared limits");
  const auto width_of = [&](const QString& text) {
    return painter.fontMetrics().horizontalAdvance(text);
  };
  const QString title = QString::fromStdString(panel.title);
  if (flat && state.isEmpty() && width_of(title) + width_of(hint) + 12 < box.width()) state = hint;
  const double space = state.isEmpty() ? 0 : width_of(state) + 12;
  painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(title, Qt::ElideRight,
                                                    static_cast<int>(box.width() - space)));
  if (state.isEmpty()) return;
  painter.setPen(quiet_ink(QPalette()));
  bold.setBold(false);
  painter.setFont(bold);
  painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, state);
}

void draw_cell_grid(QPainter& painter, const Box& cells, const MapCamera& camera, std::int64_t rows,
                    std::int64_t columns) {
  painter.setPen(QPen(QColor(128, 128, 128, 46), 1));
  const double left = std::max(cells.x, cells.x + camera.x_of(0, cells.width));
  const double right =
      std::min(cells.right(), cells.x + camera.x_of(static_cast<double>(columns), cells.width));
  const double top = std::max(cells.y, cells.y + camera.y_of(0, cells.height));
  const double bottom =
      std::min(cells.bottom(), cells.y + camera.y_of(static_cast<double>(rows), cells.height));
  for (double c = std::ceil(camera.column_at(0, cells.width));; ++c) {
    const double x = std::round(cells.x + camera.x_of(c, cells.width)) + 0.5;
    if (x > right) break;
    if (x >= left) painter.drawLine(QPointF(x, top), QPointF(x, bottom));
  }
  for (double r = std::ceil(camera.row_at(0, cells.height));; ++r) {
    const double y = std::round(cells.y + camera.y_of(r, cells.height)) + 0.5;
    if (y > bottom) break;
    if (y >= top) painter.drawLine(QPointF(left, y), QPointF(right, y));
  }
}

void draw_row_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                     const Trace& trace, std::int64_t rows, std::int64_t focused) {
  const Box& box = place.row_labels;
  draw_labels(painter, across_rows(place.cells, camera), rows, trace.query_token.empty(), focused,
              [&](std::int64_t r, double y) {
                painter.drawText(QRectF(box.x, y - 10, box.width - 5, 20),
                                 Qt::AlignRight | Qt::AlignVCenter,
                                 label_text(painter, trace.query_label(r), box.width - 6));
              });
}

void draw_column_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                        const Trace& trace, std::int64_t columns, std::int64_t focused) {
  const Box& box = place.column_labels;
  draw_labels(painter, across_columns(place.cells, camera), columns, trace.key_token.empty(),
              focused, [&](std::int64_t c, double x) {
                painter.save();
                painter.translate(x, box.bottom() - 4);
                painter.rotate(-90);
                painter.drawText(QRectF(0, -10, box.height, 20), Qt::AlignLeft | Qt::AlignVCenter,
                                 label_text(painter, trace.key_label(c), box.height - 6));
                painter.restore();
              });
}

void draw_entropy(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                  const MapPanel& panel) {
  const Box& box = place.row_margin;
  const double most = std::log(std::max<double>(2, static_cast<double>(panel.pyramid->columns())));
  draw_bars(painter, box, across_rows(place.cells, camera), panel.summary.row_entropy, most,
            [&](double y, double thick, double part) {
              return QRectF(box.x, y, box.width * part, thick);
            });
  painter.setPen(quiet_ink(QPalette()));
  painter.drawText(QRectF(box.x - 20, place.column_labels.bottom() - 15, box.width + 40, 14),
                   Qt::AlignCenter, QStringLiteral("H"));
}

void draw_column_sums(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                      const MapPanel& panel) {
  const Box& box = place.column_margin;
  const auto& sums = panel.summary.column_sum;
  if (sums.empty()) return;
  const double most = std::max(1e-300, *std::max_element(sums.begin(), sums.end()));
  draw_bars(painter, box, across_columns(place.cells, camera), sums, most,
            [&](double x, double thick, double part) {
              return QRectF(x, box.y, thick, box.height * part);
            });
  painter.setPen(quiet_ink(QPalette()));
  painter.drawText(QRectF(place.row_labels.x, box.y, place.row_labels.width - 5, box.height),
                   Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("Σ"));
}

void draw_cell_mark(QPainter& painter, const Box& cells, const MapCamera& camera,
                    const std::optional<Focus>& cell, bool locked) {
  if (!cell) return;
  const double x = cells.x + camera.x_of(static_cast<double>(cell->key), cells.width);
  const double y = cells.y + camera.y_of(static_cast<double>(cell->query), cells.height);
  const double side = std::max(camera.scale, 3.0);
  QColor line = focus_colour();
  line.setAlphaF(locked ? 0.55F : 0.35F);
  painter.setPen(QPen(line, 1));
  const double middle = camera.scale / 2;
  painter.drawLine(QPointF(cells.x, y + middle), QPointF(x, y + middle));
  painter.drawLine(QPointF(x + camera.scale, y + middle), QPointF(cells.right(), y + middle));
  painter.drawLine(QPointF(x + middle, cells.y), QPointF(x + middle, y));
  painter.drawLine(QPointF(x + middle, y + camera.scale), QPointF(x + middle, cells.bottom()));
  painter.setPen(QPen(focus_colour(), locked ? 2 : 1));
  painter.drawRect(QRectF(x + middle - side / 2, y + middle - side / 2, side, side));
}

void draw_colour_scale(QPainter& painter, const Box& box, const ColourChoice& choice,
                       const figure::Limits& limits, const figure::Specials& used,
                       const QString& title) {
  constexpr double least = 40;  // Smallest readable length of a bar in pixels.
  const QFontMetricsF metrics(painter.font());
  const std::vector<Swatch> special = swatches(used);
  double space = 16;
  for (const Swatch& s : special) space += swatch_width(metrics, s);
  const double name = metrics.horizontalAdvance(title) + 10;
  double x = box.x;
  if (box.width - space - name >= least) {  // Otherwise the name is left out rather than the bar.
    painter.setPen(quiet_ink(QPalette()));
    painter.drawText(QRectF(x, box.y, name, bar_high + 2), Qt::AlignLeft | Qt::AlignVCenter, title);
    x += name;
  }
  const double width = std::max(least, box.x + box.width - space - x);
  if (!limits.empty()) {
    draw_gradient(painter, {x, box.y + 1, width, bar_high}, choice);
    draw_ticks(painter, {x, box.y + 1, width, bar_high}, limits, choice.scale);
    x += width + 16;
  }
  for (const Swatch& s : special) {
    const QRectF square(x, box.y + 1, bar_high, bar_high);
    painter.fillRect(square, QColor(s.colour.r, s.colour.g, s.colour.b));
    painter.setPen(hair_line(QPalette()));
    painter.drawRect(square);
    painter.setPen(quiet_ink(QPalette()));
    painter.drawText(QPointF(x + bar_high + 4, box.y + bar_high), s.text);
    x += swatch_width(metrics, s);
  }
}

}  // namespace conelab::desktop
