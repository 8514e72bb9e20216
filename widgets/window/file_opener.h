// Opens files of every kind, any number at once, in the views that show them.
//
// Traces are opened in the maps, and so is a result of attend, as it is stored; results of tree are
// opened in the figures, benchmarks and studies in their views; a session replaces the session; of
// other files the content is shown. Of arrays without a q, the user says which of them is q, k and
// v. Several results of attend are shown in one figure, and of two benchmarks the second is
// compared with the first. If a view can show only one file, it shows the first, and a notice names
// the others.
#pragma once

#include <QDialog>
#include <QObject>
#include <QStringList>
#include <functional>
#include <vector>

#include "widgets/jobs/job_pool.h"
#include "widgets/window/file_kind.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace conelab::desktop {

class MainWindow;
class Workspace;
struct View;
struct ViewRow;

class FileOpener : public QObject {
  Q_OBJECT

 public:
  /// The window and its `views` must outlive the opener.
  FileOpener(MainWindow& window, const std::vector<View>& views);

  /// Opens files. Files of earlier calls that are not open yet are opened as well, after these.
  void open(const QStringList& files);
  /// Looks for the arrays of a file that is to be compared, and whose arrays have other names than
  /// q, k and v. `take` is called with the file if it holds some.
  void find_arrays(const QString& file, const std::function<void(const FoundFile&)>& take);

 private:
  using Files = std::vector<FoundFile>;
  struct Found {
    Files files;
    QStringList errors;

    /// Adds a file unless it is already present under another name.
    void add(const FoundFile& file);
  };
  static Found find_all(const QStringList& files, const PoolContext& context);
  void take(const Found& found);
  void show_trace(const Files& traces);
  void show_stored(const Files& files);
  /// Shows files of the kinds that views name.
  void show_in_views(const Files& files);
  void show_figure(const Files& files);
  void show_content(const Files& files);
  void report(const Found& found);

  MainWindow& window_;
  Workspace& workspace_;
  const std::vector<View>& views_;
  QStringList pending_;
  JobHandle job_, arrays_job_;
  /// Returns the row of the view that names the file's kind; null if there is none.
  [[nodiscard]] const ViewRow* own_view(const FoundFile& file) const;
  [[nodiscard]] const char* view_of(const FoundFile& file) const;
  /// Returns whether the file is a result that a figure can draw and no view names.
  [[nodiscard]] bool is_drawn(const FoundFile& file) const;
  [[nodiscard]] QString places_text() const;
  [[nodiscard]] QString result_text() const;
  [[nodiscard]] QString name_of(const FoundFile& file) const;

  Files shown_;         ///< The files of the current call that are shown.
  QString stored_map_;  ///< Of these, the result that the maps show; or empty.
};

// Asks which arrays of a file are q, k and v, if none of them has these names.

class ArraysDialog : public QDialog {
  Q_OBJECT

 public:
  /// Opens the dialog, which deletes itself when it is closed. `file` has to be of arrays.
  ArraysDialog(const FoundFile& file, QWidget* parent);

 signals:
  /// The user has chosen: `group` and names as Workspace::open takes them.
  void chosen(const QString& file, const QString& group, const ArrayNames& arrays);

 private:
  QComboBox* add_choice(const QString& name, const std::string& guess, bool optional);
  [[nodiscard]] ArrayNames names() const;
  void show_problem();
  void choose();

  FoundFile file_;
  QComboBox *query_, *key_, *value_;
  QLabel* problem_;
  QPushButton* open_;
};

}  // namespace conelab::desktop
