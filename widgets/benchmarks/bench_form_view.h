// The form of a sweep with errors below its fields; buttons to run, resume and cancel; progress.
#pragma once

#include <QWidget>

#include "widgets/benchmarks/bench_model.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace conelab::desktop {

class FieldForm;
class SteadyLabel;

class BenchFormView : public QWidget {
  Q_OBJECT

 public:
  explicit BenchFormView(BenchModel& model);

 signals:
  /// The command of this sweep should be copied to the clipboard.
  void command_wanted(const QString& command);

 private:
  void build_actions(QVBoxLayout* column);
  void show_model();
  void show_devices();
  void show_progress();

  BenchModel& model_;
  FieldForm* form_;
  SteadyLabel* extent_ = nullptr;  ///< The size of the sweep, or the progress of a run.
  QLabel* device_note_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton *run_ = nullptr, *resume_ = nullptr, *cancel_ = nullptr;
};

}  // namespace conelab::desktop
