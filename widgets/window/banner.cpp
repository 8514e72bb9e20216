#include "widgets/window/banner.h"

#include <QAction>
#include <QBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QToolButton>

#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {

// ---- the line -----------------------------------------------------------------------------------

ElidedLine::ElidedLine() { setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed); }

void ElidedLine::show_text(const QString& text) {
  text_ = text;
  setToolTip(text);
  setAccessibleName(text);
  update();
  emit fits_changed();
}

bool ElidedLine::fits() const { return fontMetrics().horizontalAdvance(text_) <= width(); }

QSize ElidedLine::sizeHint() const {
  return {fontMetrics().horizontalAdvance(text_), fontMetrics().height() + 4};
}

QSize ElidedLine::minimumSizeHint() const { return {80, sizeHint().height()}; }

void ElidedLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                   fontMetrics().elidedText(text_, Qt::ElideMiddle, width()));
}

void ElidedLine::resizeEvent(QResizeEvent*) { emit fits_changed(); }

// ---- the banner ---------------------------------------------------------------------------------

Banner::Banner() : QToolBar(tr("Message")) {
  setObjectName("banner");
  setMovable(false);
  toggleViewAction()->setVisible(false);  // The banner is shown by messages only.
  auto* row = named(new QWidget, "banner-row");
  row->setAttribute(Qt::WA_StyledBackground);
  auto* content = laid_out<QHBoxLayout>(row, {12, 0, 8, 0}, 6);
  line_ = named(new ElidedLine, "error-banner");
  whole_ = new QLabel;
  whole_->setWordWrap(true);
  whole_->setTextFormat(Qt::PlainText);
  whole_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  content->addWidget(line_, 1);
  content->addWidget(whole_, 1);
  offer_ = add_button(content, {}, {}, {}, this, [this] {
    hide();
    if (act_) act_();
  });
  details_ = tool_button(tr("Details"), {}, tr("The whole message, to be read and copied"), true);
  content->addWidget(details_);
  connect(details_, &QToolButton::toggled, this, &Banner::show_details);
  auto* close =
      add_button(content, QStringLiteral("✕"), {}, tr("Close the message"), this, &QWidget::hide);
  close->setAccessibleName(tr("Close the message"));
  for (QToolButton* button : {offer_, details_, close}) {
    content->setAlignment(button, Qt::AlignTop);
  }
  connect(line_, &ElidedLine::fits_changed, this, [this] {
    if (!details_->isChecked()) details_->setVisible(!line_->fits());
  });
  addWidget(row);
  hide();
}

void Banner::show_error(const QString& message) {
  act_ = {};
  offer_->setText({});
  show_message(message, true);
}

void Banner::show_notice(const QString& message, const QString& offer,
                         const std::function<void()>& act) {
  act_ = act;
  offer_->setText(offer);
  show_message(message, false);
}

void Banner::show_message(const QString& message, bool error) {
  error_ = error;
  offer_->setVisible(!offer_->text().isEmpty());
  details_->setChecked(false);
  show_details(false);
  whole_->setText(message);
  setAccessibleName(error ? tr("Error") : tr("Notice"));
  show_colours();
  show();
  line_->show_text(message);
}

void Banner::show_details(bool on) {
  line_->setVisible(!on);
  whole_->setVisible(on);
}

void Banner::show_colours() {
  const QString ground = error_ ? "#9c2f10" : "palette(alternate-base)";
  const QString ink = error_ ? "white" : "palette(window-text)";
  const QString hover = error_ ? "#b8482a" : "palette(midlight)";
  const QString edge = error_ ? "#9c2f10" : "palette(highlight)";
  // The padding of a tool bar applies to all sides; the margins are therefore set on the row.
  setStyleSheet(QStringLiteral("QToolBar { background: %1; padding: 2px; border: 0; }"
                               "QWidget#banner-row { border-left: 4px solid %4; }"
                               "QLabel, QToolButton, QWidget { color: %2; }"
                               "QToolButton { padding: 1px 8px; }"
                               "QToolButton:hover, QToolButton:checked { background: %3; }")
                    .arg(ground, ink, hover, edge));
}

QString Banner::text() const { return isHidden() ? QString() : line_->text(); }

JobBar::JobBar(JobPool& jobs) : jobs_(jobs) {
  auto* line = laid_out<QHBoxLayout>(this, {6, 0, 6, 0});
  title_ = new QLabel;
  bar_ = new QProgressBar;
  bar_->setRange(0, 1000);
  bar_->setTextVisible(false);
  bar_->setFixedWidth(140);
  bar_->setAccessibleName(tr("Progress"));
  line->addWidget(title_);
  line->addWidget(bar_);
  auto* cancel =
      tool_button(tr("cancel"), "jobs-cancel", tr("Cancel one of the running jobs, or all"));
  auto* menu = new QMenu(cancel);
  set_menu(*cancel, menu);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { fill_menu(*menu); });
  line->addWidget(cancel);
  // Short jobs are not shown, because the bar would flicker.
  poll_.setInterval(200);
  connect(&poll_, &QTimer::timeout, this, &JobBar::show_jobs);
  jobs_.on_change([this] {
    if (!poll_.isActive() && !jobs_.running().empty()) poll_.start();
  });
  hide();
}

void JobBar::fill_menu(QMenu& menu) {
  menu.clear();
  for (const auto& job : jobs_.running()) {
    const QString title = QString::fromStdString(job->title).replace('&', "&&");
    const int percent = static_cast<int>(100 * job->fraction);
    menu.addAction(percent > 0 ? tr("%1 (%2 %)").arg(title).arg(percent) : title, this,
                   [this, job] { jobs_.cancel_all(job.get()); });
  }
  menu.addSeparator();
  menu.addAction(tr("all jobs"), this, [this] { jobs_.cancel_all(); });
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
