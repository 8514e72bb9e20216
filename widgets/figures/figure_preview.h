// The preview of a figure: its display list on a white page, fitted to the view or in real size.
//
// The page is painted to an image in a job, so that a large figure does not block the window. Until
// the new image is ready, the old one is scaled.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/source/figure_table.h"
#include "widgets/forms/field_form.h"
#include "widgets/jobs/job_pool.h"

class QToolButton;

namespace conelab::desktop {

class FigurePreview : public QWidget {
  Q_OBJECT

 public:
  explicit FigurePreview(JobPool& jobs);

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

// The parameters of a figure as a form: a list for a limited set of values, otherwise a text field.
// They stand in groups (figure::KeyGroup), of which that of the rarely used keys is folded.

class FigureFields : public QWidget {
  Q_OBJECT

 public:
  explicit FigureFields(const figure::FigureInfo& info);

  /// Shows the values that are set; the other fields show their defaults.
  void show_values(const figure::Parameters& values);

 signals:
  /// The user edited a field. `value` is empty for the default.
  void edited(const QString& key, const QString& value);

 private:
  [[nodiscard]] QWidget* title_of(figure::KeyGroup group, QWidget* form);

  std::vector<FieldForm*> forms_;
  std::set<std::string> rare_keys_;
  QToolButton* rare_ = nullptr;  ///< Shows the rarely used keys; null if there are none.
  figure::Parameters shown_;
};

}  // namespace conelab::desktop
