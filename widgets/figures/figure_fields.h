// The parameters of a figure as a form: a list for a limited set of values, otherwise a text field.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/figure/figure_table.h"

class QComboBox;
class QFormLayout;
class QLineEdit;

namespace conelab::desktop {

class FigureFields : public QWidget {
  Q_OBJECT

 public:
  explicit FigureFields(const figure::FigureInfo& info, QWidget* parent = nullptr);

  /// Shows the values that are set; the other fields show their defaults.
  void show_values(const figure::Parameters& values);

 signals:
  /// The user edited a field. `value` is empty for the default.
  void edited(const QString& key, const QString& value);

 private:
  using Show = std::function<void(const QString&)>;
  [[nodiscard]] QComboBox* add_choice(QFormLayout* form, const figure::FigureKey& row);
  [[nodiscard]] QLineEdit* add_line(QFormLayout* form, const figure::FigureKey& row);
  void add_operators(QLineEdit* line, const QString& key, const QString& initial);

  /// For each key, the function that shows a value.
  std::vector<std::pair<std::string, Show>> fields_;
};

}  // namespace conelab::desktop
