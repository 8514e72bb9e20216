// All heads as small maps with a score each. Pointing at a map shows its numbers and the pair under
// the pointer; a click opens its layer and head as a large map, the context menu compares it with
// the open one.
#pragma once

#include <QWidget>
#include <map>

#include "widgets/maps/heads_layout.h"
#include "widgets/maps/heads_model.h"
#include "widgets/maps/map_raster.h"

namespace conelab::desktop {

class HeadsCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit HeadsCanvas(HeadsModel& model, QWidget* parent = nullptr);

  [[nodiscard]] const HeadGrid& grid() const { return grid_; }
  /// Returns the head of a map of the grid.
  [[nodiscard]] const HeadAt& head(std::size_t index) const { return heads_[index]; }
  /// Returns a description of what is under the pointer; empty if there is nothing.
  [[nodiscard]] QString pointed() const;
  /// The height that the smallest maps need at this width.
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void pointed_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void arrange();
  [[nodiscard]] HeadGrid arranged(double height) const;
  [[nodiscard]] HeadSpace space() const;
  void draw_titles(QPainter& painter);
  void draw_map_of(QPainter& painter, std::size_t index);
  void draw_label(QPainter& painter, std::size_t index);
  void draw_errors(QPainter& painter);
  void draw_legend(QPainter& painter);
  void draw_frame(QPainter& painter, std::size_t index);
  void draw_pair(QPainter& painter, const figure::Box& cells, const MapCamera& camera);
  [[nodiscard]] bool is_open(const HeadAt& at) const;
  [[nodiscard]] MapCamera camera(const HeadRow& row) const;
  [[nodiscard]] std::optional<Focus> pair_at(const QPointF& point) const;

  HeadsModel& model_;
  HeadGrid grid_;
  std::vector<HeadAt> heads_;  ///< [map of the grid]
  figure::Limits scores_;      ///< Limits of the chosen score, for its bars.
  int needed_height_ = 0;      ///< The height that the layout was last told to be the least.
  /// A picture and its map, which is kept so that no other map takes its address.
  struct Picture {
    std::shared_ptr<const SmallMap> of;
    MapPicture picture;
  };
  std::map<std::pair<std::size_t, std::size_t>, Picture> pictures_;  ///< By row and head.
  std::optional<std::size_t> under_;                                 ///< Index into grid_.maps.
};

}  // namespace conelab::desktop
