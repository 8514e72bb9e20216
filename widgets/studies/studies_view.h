// The studies view: the jobs of a study with their states and times, its run, its results and its
// report.
#pragma once

#include <QWidget>

#include "widgets/studies/study_editor.h"
#include "widgets/studies/study_model.h"

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QProgressBar;
class QStackedWidget;
class QTextBrowser;
class QToolButton;

namespace conelab::desktop {

class TextTableView;

class StudiesView : public QWidget {
  Q_OBJECT

 public:
  StudiesView(Document& document, JobPool& jobs, StudyBackend backend);

  [[nodiscard]] StudyModel& model() { return model_; }
  /// Returns whether a study was changed and not saved.
  [[nodiscard]] bool edited() const { return editor_->changed(); }

 signals:
  /// The user wants to see a result in HDF5. `name` says of which job it is.
  void file_wanted(const QString& file, const QString& name);
  /// The user wants to see a figure or a report, which other programs show.
  void page_wanted(const QString& file);
  void command_wanted(const QString& command);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build_tools(QHBoxLayout* line);
  void show_model();
  void show_progress();
  void open_dialog();
  void open_result(int row);
  void show_report(const QString& page);

  StudyModel model_;
  QToolButton *list_ = nullptr, *run_quick_ = nullptr;
  QToolButton *run_ = nullptr, *cancel_ = nullptr, *report_ = nullptr, *copy_ = nullptr;
  QToolButton* edit_ = nullptr;
  QCheckBox* quick_ = nullptr;
  QProgressBar* bar_ = nullptr;
  QLabel *title_ = nullptr, *message_ = nullptr;
  TextTableView* table_ = nullptr;
  QStackedWidget* pages_ = nullptr;  ///< The table, the report, and the study itself.
  StudyEditor* editor_ = nullptr;
  QTextBrowser* page_ = nullptr;
};

}  // namespace conelab::desktop
