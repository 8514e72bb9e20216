// Figures: a template, its keys, its width; a preview of exactly what is written; export.
//
// The figure is drawn by the program's own `conelab figure` (see backends.h) in a job, as a display
// list; the preview paints that list, and export writes it through the same sinks, in a job as
// well, so that the bytes are those of the command.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "widgets/figures/figure_preview.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/session/document.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace conelab::desktop {

class FigureFields;

class FiguresView : public QWidget {
  Q_OBJECT

 public:
  /// The figure; stops where the second argument says so.
  using Draw =
      std::function<figure::DisplayList(const FigureChoice&, const std::function<bool()>&)>;
  FiguresView(Document& document, JobPool& jobs, Draw draw, QWidget* parent = nullptr);

  [[nodiscard]] FigurePreview& preview() { return *preview_; }
  [[nodiscard]] QString message() const;
  /// While it draws, the preview is still the figure before, and nothing is exported.
  [[nodiscard]] bool drawing() const { return job_.active(); }
  /// The session's figure; without an input of its own, of the open trace.
  [[nodiscard]] FigureChoice wanted() const;
  /// Where `Export` writes to.
  [[nodiscard]] QString output() const;
  /// Writes what is previewed, in a job; .svg, .pdf or .png by the ending. Fails while it is being
  /// drawn; what else is wrong is said by the message. Nothing while another is being written.
  void export_to(const QString& file);
  /// A file or the clipboard is being written.
  [[nodiscard]] bool exporting() const { return export_job_.active(); }

 signals:
  void command_wanted();

 private:
  void build_form(QWidget* side);
  void build_files(QVBoxLayout* column);
  void build_actions(QVBoxLayout* column);
  void build_preview(QWidget* place);
  void build_keys();
  void show_session();
  void redraw();
  void show_size();
  void say(const QString& message);
  void choose_input();
  void choose_output();
  void export_asking();
  void say_written(const QString& file);
  void copy(const char* kind);
  void take_copy(const std::vector<std::uint8_t>& bytes, bool svg);
  void edit(const QString& what, const std::function<void(FigureChoice&)>& change);

  Document& document_;
  JobPool& jobs_;
  Draw draw_;
  FigurePreview* preview_ = nullptr;
  QComboBox *name_ = nullptr, *width_ = nullptr;
  QLineEdit *input_ = nullptr, *output_ = nullptr;
  QLabel *message_ = nullptr, *about_ = nullptr;
  QLabel *size_ = nullptr, *points_ = nullptr;  ///< Of the figure, in two units.
  FigureFields* keys_ = nullptr;
  QWidget* keys_place_ = nullptr;
  std::string keys_of_;
  QString written_;  ///< May be overwritten without asking.
  FigureChoice drawn_;
  JobHandle job_, export_job_;
};

}  // namespace conelab::desktop
