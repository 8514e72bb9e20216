// Figures: a template, its keys, its width; a preview of exactly what is written; export.
//
// The figure is drawn by the program's own `conelab figure` (see backends.h) in a job, as a display
// list; the preview paints that list, and export writes it through the same sinks, so that the
// bytes are those of the command.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <string>

#include "core/figure/display_list.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/session/document.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;

namespace conelab::desktop {

/// Paints a display list on a white page, as large as fits.
class FigurePreview : public QWidget {
  Q_OBJECT

 public:
  explicit FigurePreview(QWidget* parent = nullptr);
  void show_list(std::shared_ptr<const figure::DisplayList> list);
  [[nodiscard]] const figure::DisplayList* list() const { return list_.get(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::shared_ptr<const figure::DisplayList> list_;
};

class FiguresView : public QWidget {
  Q_OBJECT

 public:
  using Draw = std::function<figure::DisplayList(const FigureChoice&)>;
  FiguresView(Document& document, JobPool& jobs, Draw draw, QWidget* parent = nullptr);

  [[nodiscard]] FigurePreview& preview() { return *preview_; }
  [[nodiscard]] QString message() const;
  /// While it draws, the preview is still the figure before, and nothing is exported.
  [[nodiscard]] bool drawing() const { return job_.active(); }
  /// The session's figure; without an input of its own, of the open trace.
  [[nodiscard]] FigureChoice wanted() const;
  /// Writes what is previewed; .svg, .pdf or .png by the ending. Fails with `FILE: why`, also while
  /// it is being drawn.
  void export_to(const QString& file);

 signals:
  void command_wanted();

 private:
  void build_form(QWidget* side);
  void build_keys();
  void show_session();
  void redraw();
  void export_dialog();
  void copy_image();
  void edit(const QString& what, const std::function<void(FigureChoice&)>& change);

  Document& document_;
  JobPool& jobs_;
  Draw draw_;
  FigurePreview* preview_;
  QComboBox* name_ = nullptr;
  QLineEdit *width_ = nullptr, *input_ = nullptr;
  QLabel* message_ = nullptr;
  QWidget* keys_ = nullptr;
  QWidget* keys_place_ = nullptr;
  std::string keys_of_;
  std::vector<std::pair<std::string, QLineEdit*>> fields_;
  FigureChoice drawn_;
  JobHandle job_;
};

}  // namespace conelab::desktop
