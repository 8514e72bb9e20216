// The view of figures: a template with its parameters and width, an exact preview, and export.
//
// The figure is drawn by the function behind `conelab figure` (see backends.h) in a job, as a
// display list. The preview paints this list. Export writes it with the same code as the command,
// also in a job, so that the bytes are equal.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"
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
  /// Draws a figure. It stops if the second argument returns true.
  using Draw =
      std::function<figure::DisplayList(const FigureChoice&, const std::function<bool()>&)>;
  FiguresView(Document& document, JobPool& jobs, Draw draw);

  [[nodiscard]] FigurePreview& preview() { return *preview_; }
  [[nodiscard]] QString message() const;
  /// Returns whether a figure is being drawn. Meanwhile the preview shows the previous one, and
  /// nothing can be exported.
  [[nodiscard]] bool drawing() const { return job_.active(); }
  /// Returns the session's figure. If it has no input, its input is the open trace.
  [[nodiscard]] FigureChoice wanted() const;
  /// Returns the file that `Export` writes.
  [[nodiscard]] QString output() const;
  /// Writes the previewed figure in a job; the extension .svg, .pdf or .png selects the format.
  /// Throws while the figure is being drawn; other errors appear as the message. Does nothing while
  /// another figure is being written.
  void export_to(const QString& file);
  /// Returns whether a file or the clipboard is being written.
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
  /// Returns whether an existing file may be overwritten: asks, unless this run has written the
  /// same figure to it. Throws if the file is not a figure of this program.
  [[nodiscard]] bool may_replace(const QString& file);
  void say_written(const QString& file, bool replaces);
  void copy(bool svg);
  void take_copy(const std::vector<std::uint8_t>& bytes, bool svg);
  void edit(const QString& what, const std::function<void(FigureChoice&)>& change);

  Document& document_;
  JobPool& jobs_;
  Draw draw_;
  FigurePreview* preview_ = nullptr;
  QComboBox *name_ = nullptr, *width_ = nullptr;
  QLineEdit *input_ = nullptr, *output_ = nullptr;
  QLabel *message_ = nullptr, *about_ = nullptr;
  QLabel *size_ = nullptr, *points_ = nullptr;  ///< The size of the figure in two units.
  FigureFields* keys_ = nullptr;
  QWidget* keys_place_ = nullptr;
  std::string keys_of_;
  /// What the files of this run show, without what only changes the look (subject_of).
  std::map<QString, FigureChoice> written_;
  FigureChoice drawn_;
  JobHandle job_, export_job_;
};

}  // namespace conelab::desktop
