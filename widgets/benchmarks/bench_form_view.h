// The view of a sweep's form: one field per axis with its help and, below it, its error; buttons to
// run, resume and cancel; progress.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "widgets/benchmarks/bench_model.h"

class QCheckBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace conelab::desktop {

class SteadyLabel;

class BenchFormView : public QWidget {
  Q_OBJECT

 public:
  explicit BenchFormView(BenchModel& model);

 signals:
  /// The command of this sweep should be copied to the clipboard.
  void command_wanted(const QString& command);

 private:
  using Text = std::function<std::string&(BenchChoice&)>;
  struct NameBoxes {
    const Axis* axis;
    std::vector<std::pair<std::string, QCheckBox*>> boxes;
  };

  void build_fields(QFormLayout* form);
  void build_actions(QVBoxLayout* column);
  void add_operators(QFormLayout* form, const Axis& axis);
  void add_operator(const std::string& label);
  void add_names(QFormLayout* form, const Axis& axis);
  QLineEdit* add_text(QFormLayout* form, const char* field, const QString& label,
                      const QString& help, const Text& member);
  void add_error(QFormLayout* form, const char* field);
  void toggle(const Axis& axis, const std::string& name, bool on,
              const std::vector<std::string>& order);
  void show_model();
  void show_operators();
  void show_devices();
  void show_progress();
  void choose_output();

  BenchModel& model_;
  QListWidget* operators_ = nullptr;
  QCheckBox* cold_ = nullptr;
  std::vector<NameBoxes> names_;
  std::vector<std::pair<Text, QLineEdit*>> texts_;
  std::map<std::string, QLabel*> errors_;
  QLineEdit* output_ = nullptr;
  SteadyLabel* extent_ = nullptr;  ///< The size of the sweep, or the progress of a run.
  QLabel* device_note_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton *run_ = nullptr, *resume_ = nullptr, *cancel_ = nullptr;
};

}  // namespace conelab::desktop
