// A form that is made from rows of fields (core/job/job_field.h): those of a job, of a sweep, or
// of a figure. A choice is a list, a list of few names is a row of check boxes, one of many names a
// list of them, yes or no a check box, and anything else a line of text.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/job/job_field.h"

class QFormLayout;
class QLabel;
class QLineEdit;

namespace conelab::desktop {

/// What is typed in a form, by field; absent: the default.
using FieldTexts = std::map<std::string, std::string>;

class FieldForm : public QWidget {
  Q_OBJECT

 public:
  /// `object` begins the names of the fields as objects: "job-field-".
  FieldForm(const std::vector<JobField>& fields, QString object);

  void show_texts(const FieldTexts& texts);
  /// Shows errors below their fields, in place of those that were shown before.
  void show_errors(const FieldTexts& errors);
  /// What exists already is asked about when a file to write is chosen, unless this is false.
  bool asks_to_overwrite = true;

 signals:
  /// The user has changed a field. An empty text is the default, or no name of a list of names.
  /// `done` is false while the text is being typed.
  void edited(const QString& field, const QString& text, bool done);

 private:
  using Show = std::function<void(const std::string* text)>;
  void add(const JobField& field);
  [[nodiscard]] QWidget* flag(const JobField& field);
  [[nodiscard]] QWidget* choice(const JobField& field);
  [[nodiscard]] QWidget* few_names(const JobField& field);
  [[nodiscard]] QWidget* many_names(const JobField& field);
  [[nodiscard]] QWidget* line(const JobField& field);
  void add_browsing(QLineEdit* edit, const JobField& field);
  void add_operators(QLineEdit* edit, const JobField& field);

  QString object_;
  QFormLayout* form_;
  std::map<std::string, Show> shows_;
  std::map<std::string, QWidget*> fields_;
  std::map<std::string, QLabel*> errors_;
};

/// Returns whether the text of a field is a list of names that are offered.
[[nodiscard]] bool offers_names(const JobField& field);
/// Returns the names of a list; none where the text is no list.
[[nodiscard]] std::vector<std::string> names_in(const std::string& text);

}  // namespace conelab::desktop
