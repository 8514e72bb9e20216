#include "widgets/maps/maps_paint.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/drawing/axes.h"
#include "core/drawing/text.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int smallest_label = 8;    ///< Smallest legible font size in pixels.
constexpr double number_pitch = 28;  ///< Pixels that a number needs along its axis.

QColor ink(const QPainter& painter) {
  return painter.device() ? QPalette().color(QPalette::WindowText) : QColor(Qt::black);
}

/// Returns the colour of marks at special tokens.
QColor special_colour() { return QPalette().color(QPalette::Highlight); }

/// Returns a token for display: control characters are visible, and it is at most one line long.
QString shown(const std::string& token) {
  const QString text = QString::fromStdString(figure::token_text(token));
  return text.size() > 40 ? text.left(39) + QChar(0x2026) : text;
}

/// One direction of a panel: the positions of its cells in pixels of the canvas.
struct Along {
  double begin = 0, end = 0;   ///< Pixels of the panel's cells.
  double first = 0, last = 0;  ///< The cell coordinates at its ends.
  double scale = 1;
  [[nodiscard]] double place(double cell) const { return begin + (cell - first) * scale; }
  [[nodiscard]] double place(std::int64_t cell) const { return place(static_cast<double>(cell)); }
  /// Returns the pixels between which the cells of a matrix of this size are seen.
  [[nodiscard]] std::pair<double, double> seen(std::int64_t size) const {
    return {std::max(begin, place(0.0)), std::min(end, place(size))};
  }
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
void draw_labels(QPainter& painter, const Along& along, const MapAxis& axis, bool marks_special,
                 std::int64_t focused, const Draw& draw) {
  painter.save();
  const std::int64_t count = axis.size();
  const auto [letters, step] = plan_labels(painter.font(), along.scale, axis.label.empty());
  painter.setFont(letters);
  const double pitch = label_line(letters);
  if (along.end - along.begin < pitch) return painter.restore();  // Not even one label fits.
  const auto label = [&](std::int64_t cell) {
    const double at = along.place(static_cast<double>(cell) + 0.5);
    if (at < along.begin || at > along.end) return;
    const bool special = axis.special[static_cast<std::size_t>(cell)] != 0;
    painter.setPen(cell == focused            ? focus_colour()
                   : special && marks_special ? special_colour()
                                              : quiet_ink(QPalette()));
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

/// Shortens the operator of a title rather than what follows it, which tells two maps apart:
/// "penumbr…, rollout to layer2".
QString shortened_title(const QFontMetrics& metrics, const QString& title, int width) {
  const int comma = static_cast<int>(title.lastIndexOf(", "));
  if (comma < 0 || metrics.horizontalAdvance(title) <= width) {
    return metrics.elidedText(title, Qt::ElideMiddle, width);
  }
  const QString rest = title.mid(comma);
  const int room = width - metrics.horizontalAdvance(rest);
  if (room < metrics.horizontalAdvance("mmm…")) {
    return metrics.elidedText(title, Qt::ElideMiddle, width);
  }
  return metrics.elidedText(title.left(comma), Qt::ElideRight, room) + rest;
}

/// Breaks a title that is too wide after a comma, so that it takes two lines. The second one may
/// still be too wide.
QStringList title_lines(const QFontMetrics& metrics, const QString& title, int width) {
  QStringList parts = title.split(", ");
  if (parts.size() < 2 || metrics.horizontalAdvance(title) <= width) return {title};
  QString first = parts.takeFirst() + ",";
  while (parts.size() > 1) {
    const QString longer = first + " " + parts.front() + ",";
    if (metrics.horizontalAdvance(longer) > width) break;
    first = longer;
    parts.removeFirst();
  }
  return {metrics.elidedText(first, Qt::ElideMiddle, width), parts.join(", ")};
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

}  // namespace

Focus cell_under(const MapCamera& camera, const Box& cells, const QPointF& point) {
  const auto whole = [](double cell) { return static_cast<std::int64_t>(std::floor(cell)); };
  return {whole(camera.row_at(point.y() - cells.y, cells.height)),
          whole(camera.column_at(point.x() - cells.x, cells.width))};
}

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
  const double step = std::max(1.0, least);
  return static_cast<std::int64_t>(numbers ? figure::round_step(step) : step);
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
  const QRectF line(box.left(), box.bottom() - title_height, box.width(), title_height);
  const auto draw = [&](const QRectF& place, const QString& text, double width) {
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter,
                     shortened_title(painter.fontMetrics(), text, static_cast<int>(width)));
  };
  QStringList lines = {title};
  if (box.height() > title_height) {
    lines = title_lines(painter.fontMetrics(), title, static_cast<int>(box.width()));
  }
  if (lines.size() > 1) draw(line.translated(0, -title_line), lines.front(), box.width());
  const QString& last = lines.back();
  if (flat && state.isEmpty() && width_of(last) + width_of(hint) + 12 < box.width()) state = hint;
  draw(line, last, box.width() - (state.isEmpty() ? 0 : width_of(state) + 12));
  if (state.isEmpty()) return;
  painter.setPen(quiet_ink(QPalette()));
  bold.setBold(false);
  painter.setFont(bold);
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, state);
}

void draw_cell_grid(QPainter& painter, const Box& cells, const MapCamera& camera, std::int64_t rows,
                    std::int64_t columns) {
  painter.setPen(QPen(QColor(128, 128, 128, 46), 1));
  const Along down = across_rows(cells, camera), across = across_columns(cells, camera);
  const auto [left, right] = across.seen(columns);
  const auto [top, bottom] = down.seen(rows);
  for (double c = std::ceil(across.first);; ++c) {
    const double x = std::round(across.place(c)) + 0.5;
    if (x > right) break;
    if (x >= left) painter.drawLine(QPointF(x, top), QPointF(x, bottom));
  }
  for (double r = std::ceil(down.first);; ++r) {
    const double y = std::round(down.place(r)) + 0.5;
    if (y > bottom) break;
    if (y >= top) painter.drawLine(QPointF(left, y), QPointF(right, y));
  }
}

void draw_row_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                     const MapAxis& axis, bool marks_special, std::int64_t focused) {
  const Box& box = place.row_labels;
  if (box.width <= 0) return;
  draw_labels(painter, across_rows(place.cells, camera), axis, marks_special, focused,
              [&](std::int64_t r, double y) {
                painter.drawText(QRectF(box.x, y - 10, box.width - 5, 20),
                                 Qt::AlignRight | Qt::AlignVCenter,
                                 label_text(painter, axis.label_of(r), box.width - 6));
              });
}

void draw_column_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                        const MapAxis& axis, bool marks_special, std::int64_t focused) {
  const Box& box = place.column_labels;
  if (box.height <= 0) return;
  draw_labels(painter, across_columns(place.cells, camera), axis, marks_special, focused,
              [&](std::int64_t c, double x) {
                painter.save();
                painter.translate(x, box.bottom() - 4);
                painter.rotate(-90);
                painter.drawText(QRectF(0, -10, box.height, 20), Qt::AlignLeft | Qt::AlignVCenter,
                                 label_text(painter, axis.label_of(c), box.height - 6));
                painter.restore();
              });
}

namespace {

/// Calls `draw(begin, end)` with the pixels of each run of special tokens that is visible.
template <class Draw>
void for_special_runs(const MapAxis& axis, const Along& along, const Draw& draw) {
  const auto low = static_cast<std::int64_t>(std::max(0.0, std::floor(along.first)));
  const auto high = std::min(axis.size(), static_cast<std::int64_t>(std::ceil(along.last)));
  for (std::int64_t cell = low; cell < high; ++cell) {
    if (axis.special[static_cast<std::size_t>(cell)] == 0) continue;
    std::int64_t end = cell + 1;
    while (end < high && axis.special[static_cast<std::size_t>(end)] != 0) ++end;
    draw(std::max(along.begin, along.place(cell)), std::min(along.end, along.place(end)));
    cell = end;
  }
}

/// One direction of a profile: the visible values of a row or of a column.
struct Profile {
  std::vector<double> edge;  ///< [values + 1] Pixels.
  std::vector<float> value;  ///< NaN where nothing is known.
  float low = 0, high = 0;
  std::int64_t first = 0;      ///< The cell of the first value.
  std::size_t largest_at = 0;  ///< The index of the largest value.

  void add(double begin, double end, float v) {
    if (edge.empty()) edge.push_back(begin);
    edge.push_back(end);
    const bool known = std::isfinite(v);
    value.push_back(known ? v : std::numeric_limits<float>::quiet_NaN());
    if (!known) return;
    if (v > high) largest_at = value.size() - 1;
    low = std::min(low, v), high = std::max(high, v);
  }
  /// Returns the position of a value between 0 and 1; the range includes zero.
  [[nodiscard]] double part(float v) const {
    return high > low ? static_cast<double>((v - low) / (high - low)) : 0;
  }
};

/// `read(first, count, out)` copies cells of a level.
template <class Read>
Profile profile_of(const Along& along, std::int64_t size, int level, const Read& read) {
  const auto low = static_cast<std::int64_t>(std::max(0.0, std::floor(along.first))) >> level;
  const auto last =
      std::min(size - 1, static_cast<std::int64_t>(std::max(0.0, std::ceil(along.last)))) >> level;
  Profile profile;
  profile.first = low;
  if (last < low) return profile;
  std::vector<float> cells(static_cast<std::size_t>(last - low + 1));
  read(low, last - low + 1, cells.data());
  for (std::int64_t c = low; c <= last; ++c) {
    profile.add(std::max(along.begin, along.place(c << level)),
                std::min(along.end, along.place((c + 1) << level)),
                cells[static_cast<std::size_t>(c - low)]);
  }
  return profile;
}

/// Draws a profile as steps. `at(along, part)` returns the point of a value.
template <class At>
void draw_steps(QPainter& painter, const Profile& profile, const At& at) {
  QPolygonF line;
  const auto flush = [&] {
    if (line.size() > 1) painter.drawPolyline(line);
    line.clear();
  };
  painter.setPen(QPen(hair_line(QPalette()), 1));
  if (!profile.edge.empty()) {
    const double zero = profile.part(0);
    painter.drawLine(at(profile.edge.front(), zero), at(profile.edge.back(), zero));
  }
  painter.setPen(QPen(focus_colour(), 1.2));
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    if (std::isnan(profile.value[i])) {
      flush();
      continue;
    }
    const double part = profile.part(profile.value[i]);
    line << at(profile.edge[i], part) << at(profile.edge[i + 1], part);
  }
  flush();
}

void draw_largest(QPainter& painter, const QRectF& box, const Profile& profile) {
  painter.setPen(quiet_ink(QPalette()));
  painter.drawText(box, Qt::AlignCenter, QString::number(profile.high, 'g', 3));
}

/// Names the key of the largest value beside the peak, where it has more space.
void draw_peak_name(QPainter& painter, const Box& below, const Profile& profile,
                    const MapAxis& keys) {
  const std::int64_t cell = profile.first + static_cast<std::int64_t>(profile.largest_at);
  if (profile.value.empty() || !(profile.high > 0) || cell >= keys.size()) return;
  const double left = profile.edge[profile.largest_at],
               right = profile.edge[profile.largest_at + 1];
  const bool to_right = below.right() - right >= left - below.x;
  const QRectF box(to_right ? right + 3 : below.x, below.y,
                   to_right ? below.right() - right - 3 : left - 3 - below.x, 14);
  const QString name = painter.fontMetrics().elidedText(
      QString::fromStdString(figure::token_text(keys.label_of(cell))), Qt::ElideRight,
      static_cast<int>(box.width()));
  painter.setPen(focus_colour());
  painter.drawText(box, (to_right ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, name);
}

}  // namespace

void draw_special(QPainter& painter, const Box& cells, const MapCamera& camera,
                  const MapTokens& tokens) {
  const auto mark = [&](const QRectF& band, bool across) {
    if (tokens.excludes) {
      QColor colour = quiet_ink(QPalette());
      colour.setAlphaF(0.5F);
      painter.fillRect(band, QBrush(colour, Qt::BDiagPattern));
      return;
    }
    painter.setPen(QPen(special_colour(), 1));
    painter.drawLine(band.topLeft(), across ? band.topRight() : band.bottomLeft());
    painter.drawLine(band.bottomRight(), across ? band.bottomLeft() : band.topRight());
  };
  const Along rows = across_rows(cells, camera), columns = across_columns(cells, camera);
  const auto x = columns.seen(tokens.key.size()), y = rows.seen(tokens.query.size());
  for_special_runs(tokens.query, rows, [&](double begin, double end) {
    mark({QPointF(x.first, begin), QPointF(x.second, end)}, true);
  });
  for_special_runs(tokens.key, columns, [&](double begin, double end) {
    mark({QPointF(begin, y.first), QPointF(end, y.second)}, false);
  });
}

void draw_profiles(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                   const MapPanel& panel, const Focus& cell) {
  const MapPyramid& pyramid = *panel.pyramid;
  const int level = camera.level(pyramid.levels());
  const Box &below = place.column_margin, &beside = place.row_margin;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const Profile row = profile_of(across_columns(place.cells, camera), pyramid.columns(), level,
                                 [&](std::int64_t first, std::int64_t count, float* out) {
                                   pyramid.read_row(level, cell.query >> level, first, count, out);
                                 });
  draw_steps(painter, row, [&](double x, double part) {
    return QPointF(x, below.bottom() - part * (below.height - 2));
  });
  const Profile column =
      profile_of(across_rows(place.cells, camera), pyramid.rows(), level,
                 [&](std::int64_t first, std::int64_t count, float* out) {
                   for (std::int64_t r = 0; r < count; ++r) {
                     pyramid.read_row(level, first + r, cell.key >> level, 1, out + r);
                   }
                 });
  draw_steps(painter, column, [&](double y, double part) {
    return QPointF(beside.x + part * (beside.width - 2), y);
  });
  painter.restore();
  if (level > 0) return;  // Cells are blocks, whose largest value may be that of another row.
  draw_largest(painter, QRectF(below.right(), below.y, beside.width + 4, 14), row);
  draw_peak_name(painter, below, row, panel.tokens->key);
  draw_largest(painter, QRectF(beside.x - 4, beside.y - 15, beside.width + 8, 14), column);
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
  painter.drawText(QRectF(box.x - 20, place.cells.y - 15, box.width + 40, 14), Qt::AlignCenter,
                   QStringLiteral("H"));
}

void draw_column_sums(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                      const MapPanel& panel) {
  const Box& box = place.column_margin;
  const auto& sums = panel.summary.column_sum;
  if (sums.empty()) return;
  const double most = std::max(1e-300, *std::ranges::max_element(sums));
  draw_bars(painter, box, across_columns(place.cells, camera), sums, most,
            [&](double x, double thick, double part) {
              return QRectF(x, box.y, thick, box.height * part);
            });
  if (place.row_labels.width <= 0) return;
  painter.setPen(quiet_ink(QPalette()));
  painter.drawText(QRectF(place.row_labels.x, box.y, place.row_labels.width - 5, box.height),
                   Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("Σ"));
}

void draw_cell_mark(QPainter& painter, const Box& cells, const MapCamera& camera,
                    const std::optional<Focus>& cell, bool locked) {
  if (!cell) return;
  const double x = across_columns(cells, camera).place(cell->key);
  const double y = across_rows(cells, camera).place(cell->query);
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

namespace {

/// Writes the mass of a region below it, or above it where there is no space.
void draw_mass(QPainter& painter, const QRectF& cells, const QRectF& region, const QString& mass) {
  constexpr double away = 3;
  const QFontMetrics metrics = painter.fontMetrics();
  QRectF card(0, 0, metrics.horizontalAdvance(mass) + 8.0, metrics.height() + 2.0);
  const bool below = region.bottom() + away + card.height() <= cells.bottom();
  const double y = below ? region.bottom() + away : region.top() - away - card.height();
  card.moveTo(std::max(cells.left(), std::min(region.left(), cells.right() - card.width())),
              std::max(y, cells.top()));
  QColor ground = QPalette().color(QPalette::Base);
  ground.setAlphaF(0.88F);
  painter.fillRect(card, ground);
  painter.setPen(ink(painter));
  painter.drawText(card, Qt::AlignCenter, mass);
}

}  // namespace

void draw_region(QPainter& painter, const Box& cells, const MapCamera& camera,
                 const MapRegion& region, const QString& mass) {
  const Along rows = across_rows(cells, camera), columns = across_columns(cells, camera);
  const QRectF box(QPointF(columns.place(region.key_begin), rows.place(region.query_begin)),
                   QPointF(columns.place(region.key_end), rows.place(region.query_end)));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(QPalette().color(QPalette::Base), 3));
  painter.drawRect(box);
  painter.setPen(QPen(focus_colour(), 1.5, Qt::DashLine));
  painter.drawRect(box);
  if (!mass.isEmpty()) draw_mass(painter, desktop_rect(cells), box, mass);
}

}  // namespace conelab::desktop
