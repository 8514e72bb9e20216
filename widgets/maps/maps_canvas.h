// The attention maps on the screen: panels under one camera, with labels, margins, colour bars, the
// focused pair and the selected region.
//
// The wheel zooms about the pointer, dragging moves the maps, dragging with Shift selects a region,
// a click locks a pair. The handles of a colour bar set the limits of the colours; a double-click
// on the bar sets them back. The keys are those of the window (view_table.cpp).
#pragma once

#include <QWidget>

#include "widgets/maps/colour_scale.h"
#include "widgets/maps/map_layout.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/map_region.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

class MapsCanvas : public QWidget {
  Q_OBJECT

 public:
  MapsCanvas(MapsModel& model, MapRegionModel& region);

  /// A colour bar with the panel that it belongs to; a shared one belongs to the first that
  /// has a map.
  struct Bar {
    std::size_t panel = 0;
    Box box;
    ColourScale scale;
    ScalePlace place;
  };
  /// Returns the bars that have colours.
  [[nodiscard]] std::vector<Bar> bars() const;

  /// Returns the position of a cell, for tests and help.
  [[nodiscard]] QPointF cell_centre(std::size_t panel, const Focus& cell) const;
  /// Returns the cell at a point of the canvas; absent outside the matrices.
  [[nodiscard]] std::optional<Focus> cell_at(const QPointF& point) const;
  /// Returns the places of the panels.
  [[nodiscard]] const MapLayout& places() const { return layout_; }

  void fit();
  /// Moves the camera to a cell if that is outside the visible part; nearer, if `readable` and the
  /// names of tokens have no space there.
  void reveal(const Focus& cell, bool readable = false);

  /// The height at which the maps can be read at this width; a lower view scrolls, unless all of
  /// them are nearly as large in it.
  [[nodiscard]] QSize minimumSizeHint() const override { return {320, readable_height_}; }
  [[nodiscard]] QSize sizeHint() const override { return {900, 620}; }

 signals:
  /// A cell was revealed at this point of the canvas.
  void shown_at(const QPointF& point);
  /// The user wants the menu of a panel, at a cell or outside the matrix.
  void menu_wanted(std::size_t panel, const std::optional<conelab::desktop::Focus>& cell,
                   const QPoint& at);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// A handle of a bar: that of the upper limit or of the lower one.
  struct Handle {
    Bar bar;
    bool high = false;
  };
  void arrange();
  void keep_readable();
  /// Returns whether a title does not fit in one line of this width.
  [[nodiscard]] bool titles_are_cut(double width) const;
  [[nodiscard]] LabelSpace label_spaces();
  [[nodiscard]] double aspect() const;
  [[nodiscard]] int panel_at(const QPointF& point) const;
  /// Returns the cell of the kept row or column at a point of its profile.
  [[nodiscard]] std::optional<Focus> cell_of_profile(const QPointF& point) const;
  [[nodiscard]] bool is_listed(const QPointF& point) const;
  [[nodiscard]] std::optional<Bar> bar_at(const QPointF& point) const;
  [[nodiscard]] std::optional<Handle> handle_at(const QPointF& point) const;
  void drag_handle(double x);
  void drag_region(const QPointF& at);
  void draw_panel(QPainter& painter, std::size_t index);
  void draw_cells(QPainter& painter, std::size_t index);
  void draw_labels(QPainter& painter, const PanelPlace& place, const MapPanel& panel);
  void draw_margins(QPainter& painter, const PanelPlace& place, const MapPanel& panel);
  /// Lists the largest keys of the kept row, where the layout leaves an empty place.
  void draw_largest_keys(QPainter& painter);
  void draw_focus(QPainter& painter, const Box& cells, const MapPanel& panel);
  [[nodiscard]] QString help_at(const QPointF& point) const;
  /// Makes the pair at a point, if there is one, that under the pointer.
  void hover(const QPointF& point);

  /// Labels whose width was measured, which takes long, and the width.
  struct Measured {
    std::vector<std::string> labels;
    std::int64_t count = -1;
    QFont font;
    double space = 0;
  };

  MapsModel& model_;
  MapRegionModel& region_;
  Measured measured_[2];  ///< Of rows, of columns.
  MapLayout layout_;
  std::vector<MapPicture> pictures_;
  std::optional<QPointF> press_;  ///< Where the left button was pressed, until it is released.
  QPointF last_;
  bool dragged_ = false;
  int readable_height_ = 240;
  std::optional<Handle> handle_;        ///< The handle that is dragged.
  std::optional<MapRegion> selecting_;  ///< The region that is dragged.
  std::optional<Focus> corner_;         ///< The cell where that began.
  int corner_panel_ = 0;
  /// The largest keys that are listed, and the places of those that are drawn.
  struct Largest {
    std::shared_ptr<MapPyramid> pyramid;
    std::int64_t query = -1;
    std::vector<std::pair<std::int64_t, double>> keys;
  };
  std::vector<Largest> largest_;
  std::vector<std::pair<QRectF, Focus>> listed_;
};

}  // namespace conelab::desktop
