// All heads as small maps with a score each. Pointing at a map shows its numbers and the pair under
// the pointer; a click opens its layer and head as a large map, the context menu compares it with
// the open one.
#pragma once

#include <QWidget>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/drawing/display_list.h"
#include "widgets/maps/heads_model.h"
#include "widgets/maps/map_raster.h"

namespace conelab::desktop {

// The positions of the small maps of all heads, their labels and the titles of their rows.

/// The position of one small map, in pixels.
struct HeadPlace {
  std::size_t row = 0, head = 0;  ///< In a list: 0, and the position in the list.
  figure::Box cells;
  figure::Box label;  ///< Above the cells or right of them.
};

/// The positions of all small maps.
struct HeadGrid {
  std::vector<figure::Box> titles;   ///< [row]; empty for a list.
  std::vector<figure::Box> columns;  ///< [head] Above the first row, if every row is one line.
  std::vector<HeadPlace> maps;
  double width = 0, height = 0;  ///< Size of a map.
  double bottom = 0;             ///< Where the grid ends.
  /// Returns the index of the map at a point; absent if there is none.
  [[nodiscard]] std::optional<std::size_t> at(figure::Point point) const;
};

/// The widths that texts need, in pixels, measured by the caller, who knows the fonts.
struct HeadSpace {
  double title = 60;  ///< The widest title of a row.
  double score = 28;  ///< The widest score.
  double name = 60;   ///< The widest name of a head in a list.
};

/// Arranges rows with `heads` [row] heads each, so that the maps are largest: either each row is
/// one line with its title at the left and the heads' numbers on top, or a block of several lines
/// below its title. `aspect` is the width of a map divided by its height. Maps are at least 18
/// pixels high; if they do not fit, the grid is higher than the canvas.
[[nodiscard]] HeadGrid arrange_heads(double width, double height,
                                     const std::vector<std::size_t>& heads, double aspect,
                                     const HeadSpace& space);

/// Arranges `count` heads line by line, each below its name and its score. The maps are at least as
/// wide as a name.
[[nodiscard]] HeadGrid arrange_head_list(double width, double height, std::size_t count,
                                         double aspect, const HeadSpace& space);

class HeadsCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit HeadsCanvas(HeadsModel& model);

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
