// The tree of an opened file: groups and arrays with extents, types, health; read in a job.
#pragma once

#include <QWidget>
#include <memory>

#include "core/files/inspect.h"
#include "widgets/trace/workspace.h"

class QLabel;
class QTreeWidget;
class QTreeWidgetItem;

namespace conelab::desktop {

class DataView : public QWidget {
  Q_OBJECT

 public:
  explicit DataView(Workspace& workspace, QWidget* parent = nullptr);

  /// Reads a file's content in a job and shows it.
  void show_file(const QString& file);
  /// What that file holds, as it has been looked into already; null: nobody has.
  void know(const QString& file, std::shared_ptr<const Inspection> content);
  [[nodiscard]] QTreeWidget& tree() { return *tree_; }

 signals:
  /// A group that holds a trace was chosen.
  void trace_wanted(const QString& file, const QString& group);

 private:
  void show_inspection(std::shared_ptr<const Inspection> shown);
  void show_details(QTreeWidgetItem* item);
  void mark_open_group();

  Workspace& workspace_;
  QTreeWidget* tree_;
  QLabel* details_;
  JobHandle job_;
  QString file_;
  std::shared_ptr<const Inspection> inspection_;
  QString known_file_;  ///< That `known_` is of, which is shown once.
  std::shared_ptr<const Inspection> known_;
};

}  // namespace conelab::desktop
