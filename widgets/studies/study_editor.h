// A study while it is edited: its keys as a table in which values are changed, the TOML beside it,
// and what is wrong at the lines of both.
#pragma once

#include <QTimer>
#include <QWidget>
#include <string>
#include <vector>

#include "core/study/study_file.h"
#include "widgets/jobs/job_pool.h"

class QLabel;
class QPlainTextEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace conelab::desktop {

/// A line of TOML that gives a key its value, or opens a block.
struct StudyLine {
  int line = 0;               ///< Counted from 1.
  std::string key;            ///< Of a block, its name in brackets.
  std::string value;          ///< As it is written; of a block, nothing.
  std::string before, after;  ///< The rest of the line: "key = " and a comment.
  bool block = false;
  bool whole = true;  ///< Whether the value ends in its line.
};
/// Returns the lines of a study that are of this kind.
[[nodiscard]] std::vector<StudyLine> study_lines(const std::string& text);

class StudyEditor : public QWidget {
  Q_OBJECT

 public:
  explicit StudyEditor(JobPool& jobs);
  /// Shows the content of a file; what was changed and not saved stays if it is of the same file. A
  /// study that `ships` is saved as another file.
  void edit(const std::string& file, bool ships);
  [[nodiscard]] bool changed() const;

 signals:
  void saved(const QString& file);

 private:
  void check();
  void show_keys();
  void show_errors(const std::vector<StudyError>& errors);
  void take_value(QTreeWidgetItem* item);
  void go_to(QTreeWidgetItem* item);
  void save();
  [[nodiscard]] std::string text() const;

  JobPool& jobs_;
  std::string file_;
  bool ships_ = false;
  QTreeWidget* keys_ = nullptr;
  QPlainTextEdit* text_ = nullptr;
  QLabel* message_ = nullptr;
  QTimer checking_;
  JobHandle job_;
};

}  // namespace conelab::desktop
