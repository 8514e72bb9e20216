// The preview of a figure: its display list on a white page, fitted to the view or in real size.
//
// The page is painted to an image in a job, so that a large figure does not block the window. Until
// the new image is ready, the old one is scaled.
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

  /// Sets the size of the page relative to its real size on this screen; 0 fits it to the view.
  void set_zoom(double zoom);
  /// Returns the pixels per point.
  [[nodiscard]] double scale() const;
  /// Returns the pixels per point at which a centimetre of the figure is a centimetre on the
  /// screen.
  [[nodiscard]] double real_scale() const;
  /// Returns whether the screen shows the current figure at the current size.
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
  QSize asked_;  ///< The size of the image that is being painted.
  double zoom_ = 0;
  JobHandle job_;
};

}  // namespace conelab::desktop
