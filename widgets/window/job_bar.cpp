#include "widgets/window/job_bar.h"

#include <QBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>

namespace conelab::desktop {

JobBar::JobBar(JobPool& jobs, QWidget* parent) : QWidget(parent), jobs_(jobs) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(6, 0, 6, 0);
  title_ = new QLabel;
  bar_ = new QProgressBar;
  bar_->setRange(0, 1000);
  bar_->setTextVisible(false);
  bar_->setFixedWidth(140);
  bar_->setAccessibleName(tr("Progress"));
  auto* cancel = new QToolButton;
  cancel->setText(tr("cancel all"));
  line->addWidget(title_);
  line->addWidget(bar_);
  line->addWidget(cancel);
  connect(cancel, &QToolButton::clicked, this, [this] { jobs_.cancel_all(); });
  // Short jobs are not shown, because the bar would flicker.
  poll_.setInterval(200);
  connect(&poll_, &QTimer::timeout, this, &JobBar::show_jobs);
  jobs_.on_change([this] {
    if (!poll_.isActive() && !jobs_.running().empty()) poll_.start();
  });
  hide();
}

void JobBar::show_jobs() {
  const auto running = jobs_.running();
  setVisible(!running.empty());
  if (running.empty()) return poll_.stop();
  const std::size_t others = running.size() - 1;
  QString text = QString::fromStdString(running.front()->title);
  if (others > 0) text += tr("  and %n more", nullptr, static_cast<int>(others));
  title_->setText(text);
  bar_->setValue(static_cast<int>(1000 * running.front()->fraction));
}

}  // namespace conelab::desktop
