// Asks which arrays of a file are q, k and v, if none of them has these names.
#pragma once

#include <QDialog>

#include "widgets/window/file_kind.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace conelab::desktop {

class ArraysDialog : public QDialog {
  Q_OBJECT

 public:
  /// The kind of `file` must be `arrays`. The dialog deletes itself when it is closed.
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
