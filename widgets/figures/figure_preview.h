// The figure as it will be written: its display list on a white page, as large as fits or at its
// real size.
//
// The page is painted to an image in a job and the window only shows that image, so that a figure
// of a large map does not hold the window up; while a new one is painted, the old one is scaled.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>

#include "core/figure/display_list.h"
#include "widgets/jobs/job_pool.h"

namespace conelab::desktop {

class FigurePreview : public QWidget {
  Q_OBJECT

 public:
  explicit FigurePreview(JobPool& jobs, QWidget* parent = nullptr);

  void show_list(std::shared_ptr<const figure::DisplayList> list);
  [[nodiscard]] const std::shared_ptr<const figure::DisplayList>& list() const { return list_; }

  /// How large the page is against its real size on this screen; 0: as large as fits.
  void set_zoom(double zoom);
  /// Pixels a point.
  [[nodiscard]] double scale() const;
  /// Pixels a point at which a centimetre of the figure is a centimetre of the screen.
  [[nodiscard]] double real_scale() const;
  /// Whether what is on the screen is this figure at this size.
  [[nodiscard]] bool sharp() const;
  [[nodiscard]] const QImage& picture() const { return picture_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QSize picture_size() const;
  void fit_size();
  void start();

  JobPool& jobs_;
  std::shared_ptr<const figure::DisplayList> list_, painted_;
  QImage picture_;
  QSize asked_;  ///< Of the picture that is being painted.
  double zoom_ = 0;
  JobHandle job_;
};

}  // namespace conelab::desktop
