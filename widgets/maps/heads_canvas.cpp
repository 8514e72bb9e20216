#include "widgets/maps/heads_canvas.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/maps/maps_paint.h"
#include "widgets/maps/pair_keys.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double legend_height = 36, legend_width = 520, margin = 14;  ///< Pixels.

}  // namespace

HeadsCanvas::HeadsCanvas(HeadsModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setObjectName("heads-canvas");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Attention maps of all heads"));
  connect(&model_, &HeadsModel::changed, this, [this] {
    arrange();
    update();
    emit pointed_changed();
  });
  const Document& document = model_.maps().workspace().document();
  connect(&document, &Document::focus_changed, this, qOverload<>(&QWidget::update));
  connect(&document, &Document::changed, this, qOverload<>(&QWidget::update));
}

void HeadsCanvas::arrange() {
  const MapsModel& maps = model_.maps();
  const double aspect =
      maps.rows() > 0
          ? std::clamp(static_cast<double>(maps.columns()) / static_cast<double>(maps.rows()), 0.3,
                       3.0)
          : 1;
  grid_ = arrange_heads(width(), height() - legend_height, model_.rows().size(), model_.heads(),
                        aspect);
  pictures_.resize(grid_.maps.size());
  if (under_ && *under_ >= grid_.maps.size()) under_.reset();
}

MapCamera HeadsCanvas::camera() const {
  MapCamera camera;
  camera.fit(model_.maps().rows(), model_.maps().columns(), grid_.width, grid_.height);
  return camera;
}

QString HeadsCanvas::pointed() const {
  if (!under_) return {};
  const HeadPlace& place = grid_.maps[*under_];
  return QString::fromStdString(model_.about(place.operation, place.head));
}

// ---- painting -----------------------------------------------------------------------------------

void HeadsCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), canvas_ground(palette()));
  painter.setFont(font());
  for (std::size_t o = 0; o < grid_.titles.size(); ++o) {
    const HeadRow& row = *model_.rows()[o];
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(palette().color(QPalette::WindowText));
    const QString title = row.error.empty() ? QString::fromStdString(row.title)
                                            : QString::fromStdString(row.title + ": " + row.error);
    const QRectF box = desktop_rect(grid_.titles[o]);
    painter.drawText(
        box, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(box.width())));
  }
  painter.setFont(label_font(font()));
  const MapCamera fitted = camera();
  for (std::size_t i = 0; i < grid_.maps.size(); ++i) draw_map_of(painter, i, fitted);
  draw_legend(painter);
}

void HeadsCanvas::draw_map_of(QPainter& painter, std::size_t index, const MapCamera& camera) {
  const HeadPlace& place = grid_.maps[index];
  const HeadRow& row = *model_.rows()[place.operation];
  const auto& pyramid = row.pyramids[place.head];
  if (pyramid) {
    painter.drawImage(
        QPointF(place.cells.x, place.cells.y),
        pictures_[index].draw(*pyramid, row.summaries[place.head], camera,
                              model_.colour_choice(row), model_.limits(row, place.head),
                              place.cells.width, place.cells.height, devicePixelRatioF()));
    draw_pair(painter, place.cells, camera);
  } else {
    painter.fillRect(desktop_rect(place.cells), QColor(128, 128, 128, 24));
  }
  draw_frame(painter, index);
}

/// Draws the colours that all heads share, and the special colours. If each map has its own range,
/// only the latter are drawn.
void HeadsCanvas::draw_legend(QPainter& painter) {
  const double top = height() - legend_height + 4;
  if (grid_.maps.empty() || grid_.maps.back().cells.bottom() > top) return;
  const auto& rows = model_.rows();
  const auto differs = std::find_if(rows.begin(), rows.end(), [](const auto& row) {
    return row->difference;  // The other row, if any, is the reference.
  });
  const HeadRow& row = differs == rows.end() ? *rows.front() : **differs;
  MapsModel& maps = model_.maps();
  const bool shared = maps.workspace().document().session().maps.shared_limits;
  painter.setFont(label_font(font()));
  draw_colour_scale(painter, {margin, top, std::min(width() - 2 * margin, legend_width), 0},
                    model_.colour_choice(row), shared ? model_.limits(row, 0) : figure::Limits(),
                    model_.specials(),
                    QString::fromStdString(shared ? maps.value_name(row.difference) : ""));
}

void HeadsCanvas::draw_frame(QPainter& painter, std::size_t index) {
  const HeadPlace& place = grid_.maps[index];
  const auto head = static_cast<std::int64_t>(place.head);
  const bool chosen = model_.maps().workspace().document().session().trace.head == head;
  const bool under = under_ == index;
  const QColor accent = palette().color(QPalette::Highlight);
  painter.setPen(chosen ? accent : quiet_ink(palette()));
  painter.drawText(desktop_rect(place.label), Qt::AlignLeft | Qt::AlignVCenter,
                   QString::number(head));
  const double grown = chosen || under ? 1.5 : 0.5;
  painter.setPen(QPen(chosen || under ? accent : hair_line(palette()), chosen ? 2 : 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(desktop_rect(place.cells).adjusted(-grown, -grown, grown, grown));
}

void HeadsCanvas::draw_pair(QPainter& painter, const figure::Box& cells, const MapCamera& camera) {
  const auto pair = model_.maps().workspace().document().focused();
  if (!pair) return;
  const double side = std::max(5.0, camera.scale + 2);
  const QPointF at(cells.x + camera.x_of(static_cast<double>(pair->key) + 0.5, cells.width),
                   cells.y + camera.y_of(static_cast<double>(pair->query) + 0.5, cells.height));
  painter.setPen(QPen(focus_colour(), 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(at.x() - side / 2, at.y() - side / 2, side, side));
}

// ---- input --------------------------------------------------------------------------------------

void HeadsCanvas::resizeEvent(QResizeEvent*) { arrange(); }

void HeadsCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  const auto before = under_;
  under_ = grid_.at({at.x(), at.y()});
  std::optional<Focus> pair;
  if (under_) {
    const figure::Box& box = grid_.maps[*under_].cells;
    const MapCamera c = camera();
    const double row = std::floor(c.row_at(at.y() - box.y, box.height));
    const double column = std::floor(c.column_at(at.x() - box.x, box.width));
    const MapsModel& maps = model_.maps();
    if (row >= 0 && column >= 0 && row < static_cast<double>(maps.rows()) &&
        column < static_cast<double>(maps.columns())) {
      pair = Focus{static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)};
    }
  }
  setCursor(under_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
  model_.maps().workspace().document().hover(pair);
  if (under_ == before) return;
  update();
  emit pointed_changed();
}

void HeadsCanvas::choose_head(std::size_t head) {
  model_.maps().workspace().document().edit(tr("choose head %1").arg(head), [&](Session& s) {
    s.trace.head = static_cast<std::int64_t>(head);
  });
}

void HeadsCanvas::mousePressEvent(QMouseEvent* event) {
  const auto hit = grid_.at({event->position().x(), event->position().y()});
  if (event->button() == Qt::LeftButton && hit) choose_head(grid_.maps[*hit].head);
}

void HeadsCanvas::leaveEvent(QEvent*) {
  under_.reset();
  model_.maps().workspace().document().hover(std::nullopt);
  update();
  emit pointed_changed();
}

void HeadsCanvas::keyPressEvent(QKeyEvent* event) {
  const MapsModel& maps = model_.maps();
  if (!move_pair(model_.maps().workspace().document(), *event, maps.rows(), maps.columns())) {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace conelab::desktop
