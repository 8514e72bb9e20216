// The picture of a benchmark on a white page, and the case that is pointed at.
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
  /// The width in points at which the picture is drawn: that of the widget at a size at which its
  /// text is well read, between a journal's column and two.
  [[nodiscard]] double page_width() const;
  /// Where a spot is in the widget.
  [[nodiscard]] QPointF place_of(const BenchSpot& spot) const;
  /// The exact numbers of the case that was pointed at last; empty before.
  [[nodiscard]] const QString& pointed_text() const { return text_; }

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
  QString text_;
};

}  // namespace conelab::desktop
