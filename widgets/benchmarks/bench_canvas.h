// The picture of a benchmark on a white page; pointing at a case shows its numbers.
#pragma once

#include <QWidget>
#include <optional>

#include "widgets/benchmarks/bench_model.h"

namespace conelab::desktop {

class BenchCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit BenchCanvas(BenchModel& model, QWidget* parent = nullptr);

  [[nodiscard]] const BenchPicture& picture() const { return picture_; }
  /// Returns the width of the picture in points: that of the widget at a size with legible text,
  /// between one and two columns of a journal.
  [[nodiscard]] double page_width() const;
  /// Returns the longest text that pointing at a case shows.
  [[nodiscard]] QString longest_text() const;
  /// Returns the position of a case in the widget.
  [[nodiscard]] QPointF place_of(const BenchSpot& spot) const;

 signals:
  void pointed(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void redraw();
  void point_at(std::optional<std::size_t> spot);
  [[nodiscard]] double scale() const;
  [[nodiscard]] QPointF origin() const;

  BenchModel& model_;
  BenchPicture picture_;
  std::optional<std::size_t> spot_;
};

}  // namespace conelab::desktop
