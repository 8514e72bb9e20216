#include "widgets/maps/maps_canvas.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/maps/maps_paint.h"
#include "widgets/maps/pair_keys.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// The fraction of a map's side that labels may take, and the pixels that they may always take.
constexpr double label_part = 0.3, least_label_space = 34;

}  // namespace

MapsCanvas::MapsCanvas(MapsModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Attention maps"));
  connect(&model_, &MapsModel::panels_changed, this, [this] {
    arrange();
    update();
  });
  connect(&model_, &MapsModel::progressed, this, qOverload<>(&QWidget::update));
  connect(&model_.workspace(), &Workspace::loading_changed, this, qOverload<>(&QWidget::update));
  connect(&model_.workspace().document(), &Document::focus_changed, this, [this] {
    describe();
    update();
  });
}

void MapsCanvas::describe() {
  setAccessibleDescription(
      QString::fromStdString(model_.readout(model_.workspace().document().focused())));
}

// ---- geometry -----------------------------------------------------------------------------------

void MapsCanvas::arrange() {
  const auto& trace = model_.workspace().trace();
  const QFontMetricsF metrics(label_font(font()));
  LabelSpace space;
  space.row = trace ? label_space(metrics, trace->query_token, model_.rows()) : 30;
  space.column = trace ? label_space(metrics, trace->key_token, model_.columns()) : 30;
  const auto& session = model_.workspace().document().session();
  space.own_bars = !session.maps.shared_limits || session.maps.reference >= 0;
  const double aspect =
      model_.rows() > 0 ? static_cast<double>(model_.columns()) / static_cast<double>(model_.rows())
                        : 1;
  const auto arranged = [&] {
    return arrange_panels(width(), height(), model_.panels().size(), std::clamp(aspect, 0.3, 3.0),
                          space);
  };
  layout_ = arranged();
  if (!layout_.panels.empty()) {  // In small maps long tokens are cut to keep the map large.
    const Box& cells = layout_.panels.front().cells;
    space.row = std::min(space.row, std::max(least_label_space, label_part * cells.width));
    space.column = std::min(space.column, std::max(least_label_space, label_part * cells.height));
    layout_ = arranged();
  }
  pictures_.resize(layout_.panels.size());
  if (!model_.camera_fits || layout_.panels.empty()) return;
  const Box& cells = layout_.panels.front().cells;
  model_.camera.fit(model_.rows(), model_.columns(), cells.width, cells.height);
}

void MapsCanvas::fit() {
  model_.camera_fits = true;
  update();
}

int MapsCanvas::panel_at(const QPointF& point) const {
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
    if (layout_.panels[i].cells.contains({point.x(), point.y()})) return static_cast<int>(i);
  }
  return -1;
}

std::optional<Focus> MapsCanvas::cell_at(const QPointF& point) const {
  const int index = panel_at(point);
  if (index < 0) return std::nullopt;
  const Box& box = layout_.panels[static_cast<std::size_t>(index)].cells;
  const double row = std::floor(model_.camera.row_at(point.y() - box.y, box.height));
  const double column = std::floor(model_.camera.column_at(point.x() - box.x, box.width));
  if (row < 0 || column < 0 || row >= static_cast<double>(model_.rows()) ||
      column >= static_cast<double>(model_.columns())) {
    return std::nullopt;
  }
  return Focus{static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)};
}

QPointF MapsCanvas::cell_centre(std::size_t panel, const Focus& cell) const {
  const Box& box = layout_.panels[panel].cells;
  return {box.x + model_.camera.x_of(static_cast<double>(cell.key) + 0.5, box.width),
          box.y + model_.camera.y_of(static_cast<double>(cell.query) + 0.5, box.height)};
}

// ---- painting -----------------------------------------------------------------------------------

void MapsCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), canvas_ground(palette()));
  arrange();
  if (model_.panels().empty()) {
    const Workspace& workspace = model_.workspace();
    draw_message(painter, workspace.loading() ? tr("reading the trace …")
                          : workspace.trace() ? tr("Add an operator to see its attention.")
                                              : tr("Open or drop a trace to see its attention."));
  }
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) draw_panel(painter, i);
  if (!layout_.panels.empty()) draw_bars(painter);
}

void MapsCanvas::draw_message(QPainter& painter, const QString& text) {
  painter.setPen(quiet_ink(palette()));
  painter.drawText(rect(), Qt::AlignCenter, text);
}

void MapsCanvas::draw_panel(QPainter& painter, std::size_t index) {
  const PanelPlace& place = layout_.panels[index];
  const MapPanel& panel = model_.shown(index);
  painter.setFont(font());
  draw_title(painter, place, panel, model_.cancelled(), model_.flat(panel));
  painter.setPen(hair_line(palette()));
  painter.drawRect(desktop_rect(place.cells).adjusted(-0.5, -0.5, 0.5, 0.5));
  if (!panel.pyramid || !panel.error.empty()) {
    painter.setPen(focus_colour());
    painter.drawText(desktop_rect(place.cells).adjusted(8, 8, -8, -8), Qt::TextWordWrap,
                     QString::fromStdString(panel.error));
    return;
  }
  painter.save();
  painter.setClipRect(desktop_rect(place.cells));
  draw_cells(painter, index);
  draw_grid(painter, place.cells);
  draw_focus(painter, place.cells);
  painter.restore();
  draw_labels(painter, place);
  draw_margins(painter, place, panel);
}

void MapsCanvas::draw_cells(QPainter& painter, std::size_t index) {
  const Box& box = layout_.panels[index].cells;
  const MapPanel& panel = model_.shown(index);
  model_.request_tiles(index, box.width, box.height);
  painter.drawImage(QPointF(box.x, box.y),
                    pictures_[index].draw(*panel.pyramid, panel.summary, model_.camera,
                                          model_.colour_choice(panel), model_.limits(panel),
                                          box.width, box.height, devicePixelRatioF()));
}

void MapsCanvas::draw_grid(QPainter& painter, const Box& cells) {
  if (model_.camera.scale < 14) return;
  draw_cell_grid(painter, cells, model_.camera, model_.rows(), model_.columns());
}

void MapsCanvas::draw_labels(QPainter& painter, const PanelPlace& place) {
  const auto& trace = model_.workspace().trace();
  if (!trace) return;
  const auto focus = model_.workspace().document().focused();
  painter.setFont(label_font(font()));
  draw_row_labels(painter, place, model_.camera, *trace, model_.rows(), focus ? focus->query : -1);
  draw_column_labels(painter, place, model_.camera, *trace, model_.columns(),
                     focus ? focus->key : -1);
}

void MapsCanvas::draw_margins(QPainter& painter, const PanelPlace& place, const MapPanel& panel) {
  if (panel.summary.row_entropy.empty()) return;
  draw_entropy(painter, place, model_.camera, panel);
  draw_column_sums(painter, place, model_.camera, panel);
}

void MapsCanvas::draw_focus(QPainter& painter, const Box& cells) {
  const Document& document = model_.workspace().document();
  draw_cell_mark(painter, cells, model_.camera, document.session().locked, true);
  draw_cell_mark(painter, cells, model_.camera, document.hovered(), false);
}

void MapsCanvas::draw_bars(QPainter& painter) {
  painter.setFont(label_font(font()));
  const auto draw = [&](const Box& box, const MapPanel& panel, const figure::Specials& used) {
    if (!panel.pyramid) return;
    draw_colour_scale(painter, box, model_.colour_choice(panel), model_.limits(panel), used,
                      QString::fromStdString(model_.value_name(panel.difference)));
  };
  if (layout_.shared_bar.width > 0) {
    figure::Specials used;
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      const figure::Specials one = model_.specials(model_.shown(i));
      used = {used.zero || one.zero, used.masked || one.masked, used.nan || one.nan};
    }
    return draw(layout_.shared_bar, model_.shown(0), used);
  }
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
    const MapPanel& panel = model_.shown(i);
    draw(layout_.panels[i].colour_bar, panel, model_.specials(panel));
  }
}

// ---- input --------------------------------------------------------------------------------------

void MapsCanvas::resizeEvent(QResizeEvent*) { arrange(); }

void MapsCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  Document& document = model_.workspace().document();
  if (press_ && (event->buttons() & Qt::LeftButton)) {
    dragged_ = dragged_ || (at - *press_).manhattanLength() > 4;
    if (dragged_) {
      model_.camera.pan(at.x() - last_.x(), at.y() - last_.y());
      model_.camera.clamp(model_.rows(), model_.columns());
      model_.camera_fits = false;
      setCursor(Qt::ClosedHandCursor);
      update();
    }
    last_ = at;
    return;
  }
  document.hover(cell_at(at));
}

void MapsCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || panel_at(event->position()) < 0) return;
  press_ = last_ = event->position();
  dragged_ = false;
}

void MapsCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !press_) return;
  unsetCursor();
  if (!dragged_) {
    if (const auto cell = cell_at(event->position())) {
      lock_pair(model_.workspace().document(), cell);
    }
  }
  press_.reset();
}

void MapsCanvas::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void MapsCanvas::wheelEvent(QWheelEvent* event) {
  const int index = panel_at(event->position());
  if (index < 0) return event->ignore();
  const Box& box = layout_.panels[static_cast<std::size_t>(index)].cells;
  const double least =
      0.5 * std::min(box.width / std::max<double>(1, static_cast<double>(model_.columns())),
                     box.height / std::max<double>(1, static_cast<double>(model_.rows())));
  model_.camera.zoom(std::exp2(event->angleDelta().y() / 240.0), event->position().x() - box.x,
                     event->position().y() - box.y, box.width, box.height, least);
  model_.camera.clamp(model_.rows(), model_.columns());
  model_.camera_fits = false;
  model_.workspace().document().hover(cell_at(event->position()));
  update();
  event->accept();
}

void MapsCanvas::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_R && !event->isAutoRepeat()) return model_.flip(true);
  if (event->key() == Qt::Key_F) return fit();
  if (!move_pair(model_.workspace().document(), *event, model_.rows(), model_.columns())) {
    QWidget::keyPressEvent(event);
  }
}

void MapsCanvas::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_R && !event->isAutoRepeat()) return model_.flip(false);
  QWidget::keyReleaseEvent(event);
}

void MapsCanvas::focusOutEvent(QFocusEvent* event) {
  model_.flip(false);
  QWidget::focusOutEvent(event);
}

void MapsCanvas::leaveEvent(QEvent*) { model_.workspace().document().hover(std::nullopt); }

bool MapsCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto cell = cell_at(help->pos());
    if (cell) {
      QToolTip::showText(help->globalPos(), QString::fromStdString(model_.readout(cell)), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace conelab::desktop
