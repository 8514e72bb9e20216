// All heads as small maps. Pointing at a map shows its numbers and the pair under the pointer; a
// click makes its head the head of all views.
#pragma once

#include <QWidget>

#include "widgets/maps/heads_model.h"
#include "widgets/maps/map_layout.h"
#include "widgets/maps/map_raster.h"

namespace conelab::desktop {

class HeadsCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit HeadsCanvas(HeadsModel& model, QWidget* parent = nullptr);

  [[nodiscard]] const HeadGrid& grid() const { return grid_; }
  /// Returns a description of what is under the pointer; empty if there is nothing.
  [[nodiscard]] QString pointed() const;
  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 240}; }

 signals:
  void pointed_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void arrange();
  void draw_map_of(QPainter& painter, std::size_t index, const MapCamera& camera);
  void draw_legend(QPainter& painter);
  void draw_frame(QPainter& painter, std::size_t index);
  void draw_pair(QPainter& painter, const figure::Box& cells, const MapCamera& camera);
  [[nodiscard]] MapCamera camera() const;
  void choose_head(std::size_t head);

  HeadsModel& model_;
  HeadGrid grid_;
  std::vector<MapPicture> pictures_;
  std::optional<std::size_t> under_;  ///< Index into grid_.maps.
};

}  // namespace conelab::desktop
