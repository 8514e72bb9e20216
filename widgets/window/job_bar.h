// The running jobs in the status bar: title, progress, cancel.
#pragma once

#include <QTimer>
#include <QWidget>

#include "widgets/jobs/job_pool.h"

class QLabel;
class QProgressBar;

namespace conelab::desktop {

class JobBar : public QWidget {
  Q_OBJECT

 public:
  explicit JobBar(JobPool& jobs, QWidget* parent = nullptr);

 private:
  void show_jobs();

  JobPool& jobs_;
  QLabel* title_;
  QProgressBar* bar_;
  QTimer poll_;
};

}  // namespace conelab::desktop
