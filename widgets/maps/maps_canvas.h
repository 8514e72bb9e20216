// The attention maps on the screen: panels under one camera, with labels, margins, colour bars and
// the focused pair.
//
// The wheel zooms about the pointer, dragging moves the maps, a click locks a pair, arrow keys move
// it, F shows everything, and holding R shows the reference in every panel.
#pragma once

#include <QWidget>

#include "widgets/maps/map_layout.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

class MapsCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit MapsCanvas(MapsModel& model, QWidget* parent = nullptr);

  /// Returns the position of a cell, for tests and help.
  [[nodiscard]] QPointF cell_centre(std::size_t panel, const Focus& cell) const;
  /// Returns the cell at a point of the canvas; absent outside the matrices.
  [[nodiscard]] std::optional<Focus> cell_at(const QPointF& point) const;

  void fit();

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 240}; }
  [[nodiscard]] QSize sizeHint() const override { return {900, 620}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void arrange();
  [[nodiscard]] int panel_at(const QPointF& point) const;
  void draw_panel(QPainter& painter, std::size_t index);
  void draw_cells(QPainter& painter, std::size_t index);
  void draw_grid(QPainter& painter, const Box& cells);
  void draw_labels(QPainter& painter, const PanelPlace& place);
  void draw_margins(QPainter& painter, const PanelPlace& place, const MapPanel& panel);
  void draw_focus(QPainter& painter, const Box& cells);
  void draw_bars(QPainter& painter);
  void draw_message(QPainter& painter, const QString& text);
  void describe();

  MapsModel& model_;
  MapLayout layout_;
  std::vector<MapPicture> pictures_;
  std::optional<QPointF> press_;  ///< Where the left button was pressed, until it is released.
  QPointF last_;
  bool dragged_ = false;
};

}  // namespace conelab::desktop
