// The tree of an open file: its groups and arrays with shapes, types and invalid values. The file
// is read in a job.
#pragma once

#include <QWidget>
#include <memory>

#include "core/files/inspect.h"
#include "widgets/trace/workspace.h"

class QLabel;
class QScrollArea;
class QTreeWidget;
class QTreeWidgetItem;

namespace conelab::desktop {

class DataView : public QWidget {
  Q_OBJECT

 public:
  explicit DataView(Workspace& workspace);

  /// Reads the content of a file in a job and shows it.
  void show_file(const QString& file);
  /// Passes the content of that file if it has been read already; null if not.
  void know(const QString& file, std::shared_ptr<const Inspection> content);
  [[nodiscard]] QTreeWidget& tree() { return *tree_; }

 signals:
  /// The user chose a group that contains a trace, which is being opened.
  void trace_opened();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void tell(const QString& text);
  void fit_details();
  void show_inspection(std::shared_ptr<const Inspection> shown);
  void show_details(QTreeWidgetItem* item);
  void mark_open_group();
  void show_nothing_of_trace();
  /// Returns the name of the arrays that are q in the file.
  [[nodiscard]] std::string query_name() const;

  Workspace& workspace_;
  QTreeWidget* tree_;
  QLabel* details_;
  QScrollArea* details_space_;
  JobHandle job_;
  QString file_, trace_file_;  ///< The file that is shown, and that of the last trace.
  std::shared_ptr<const Inspection> inspection_;
  std::string marked_group_;       ///< The group that was marked as open last.
  std::string shown_query_ = "q";  ///< The groups with an array of this name can be opened.
  QString known_file_;             ///< The file of `known_`, which is shown once.
  std::shared_ptr<const Inspection> known_;
};

}  // namespace conelab::desktop
