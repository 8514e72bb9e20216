#include "widgets/window/guide.h"

#include <QBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QTimer>
#include <QToolButton>

#include "widgets/maps/maps_model.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QLabel* wrapped_label() {
  auto* label = new QLabel;
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  return label;
}

void set_bold(QLabel& label, bool bold) {
  QFont font = label.font();
  font.setBold(bold);
  label.setFont(font);
}

}  // namespace

Guide::Guide(Document& document, MapsModel& maps, QWidget* parent)
    : QWidget(parent), document_(document), maps_(maps) {
  setObjectName("guide");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  scroll_ = new QScrollArea;
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setAccessibleName(tr("Steps of the example"));
  auto* page = new QWidget;
  list_ = new QVBoxLayout(page);
  list_->setContentsMargins(12, 8, 12, 8);
  list_->setSpacing(8);
  question_ = wrapped_label();
  question_->setObjectName("guide-question");
  question_->setText(tr("Open an example from the welcome page."));
  set_bold(*question_, true);
  list_->addWidget(question_);
  answer_ = wrapped_label();
  answer_->setObjectName("guide-answer");
  set_bold(*answer_, true);
  answer_->hide();
  list_->addWidget(answer_);
  list_->addStretch(1);
  scroll_->setWidget(page);
  column->addWidget(scroll_, 1);
  auto* close = new QToolButton;
  close->setText(tr("Close the guide"));
  close->setObjectName("guide-close");
  connect(close, &QToolButton::clicked, this, &Guide::closed);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 0, 12, 8);
  row->addWidget(close);
  row->addStretch(1);
  column->addLayout(row);
  connect(&document_, &Document::changed, this, &Guide::check_steps);
  connect(&document_, &Document::focus_changed, this, &Guide::check_steps);
  connect(&maps_, &MapsModel::progressed, this, &Guide::check_steps);
  follow_palette(this, [this] { show_steps(); });
}

void Guide::start(const Example& example) {
  example_ = example;
  done_ = 0;
  qDeleteAll(steps_);
  steps_.clear();
  for (std::size_t i = 0; i < example_.steps.size(); ++i) {
    steps_.push_back(wrapped_label());
    steps_.back()->setObjectName(QStringLiteral("guide-step-%1").arg(i + 1));
    list_->insertWidget(static_cast<int>(i) + 1, steps_.back());
  }
  question_->setText(QString::fromUtf8(example_.question));
  answer_->setText(QString::fromUtf8(example_.answer));
  show_steps();
}

/// Steps are done in their order; one event may finish several of them.
void Guide::check_steps() {
  const std::size_t before = done_;
  const GuideView view{document_, maps_.flipped()};
  while (done_ < example_.steps.size() && example_.steps[done_].done(view)) ++done_;
  if (done_ != before) show_steps();
}

void Guide::show_steps() {
  QPalette quiet = palette();
  quiet.setColor(QPalette::WindowText, quiet_ink(quiet));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const QString tick = i < done_ ? QStringLiteral("✓ ") : QString();
    const QString text = QString::fromUtf8(example_.steps[i].text);
    steps_[i]->setText(tick + tr("%1. %2").arg(i + 1).arg(text));
    steps_[i]->setPalette(i == done_ ? palette() : quiet);
    steps_[i]->setVisible(i <= done_);
  }
  answer_->setVisible(!steps_.empty() && finished());
  QTimer::singleShot(0, this, &Guide::show_current);
}

/// Scrolls to the step that comes next, or to the answer.
void Guide::show_current() {
  if (steps_.empty()) return;
  scroll_->ensureWidgetVisible(finished() ? answer_ : steps_[done_], 0, 8);
}

void Guide::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  show_current();
}

}  // namespace conelab::desktop
