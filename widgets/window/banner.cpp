#include "widgets/window/banner.h"

#include <QAction>
#include <QLabel>
#include <QLayout>
#include <QPainter>
#include <QToolButton>

namespace conelab::desktop {

// ---- the line -----------------------------------------------------------------------------------

ElidedLine::ElidedLine(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

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

Banner::Banner(QWidget* parent) : QToolBar(tr("Message"), parent) {
  setObjectName("banner");
  setMovable(false);
  setIconSize({12, 12});
  layout()->setContentsMargins(0, 0, 0, 0);
  line_ = new ElidedLine;
  line_->setObjectName("error-banner");
  line_place_ = addWidget(line_);
  whole_ = new QLabel;
  whole_->setWordWrap(true);
  whole_->setTextFormat(Qt::PlainText);
  whole_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  whole_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  whole_place_ = addWidget(whole_);
  offer_ = addAction(QString());
  connect(offer_, &QAction::triggered, this, [this] {
    hide();
    if (act_) act_();
  });
  details_ = addAction(tr("Details"));
  details_->setCheckable(true);
  details_->setToolTip(tr("The whole message, to be read and copied"));
  connect(details_, &QAction::toggled, this, &Banner::show_details);
  QAction* close = addAction(QStringLiteral("✕"));
  close->setObjectName("banner-close");
  close->setToolTip(tr("Close the message"));
  connect(close, &QAction::triggered, this, &QWidget::hide);
  widgetForAction(close)->setAccessibleName(tr("Close the message"));
  connect(line_, &ElidedLine::fits_changed, this, [this] {
    if (!details_->isChecked()) details_->setVisible(!line_->fits());
  });
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
  line_place_->setVisible(!on);
  whole_place_->setVisible(on);
  // Styles give tool bars more room than a line needs.
  setMaximumHeight(on ? QWIDGETSIZE_MAX : fontMetrics().height() + 14);
}

void Banner::show_colours() {
  const QString ground = error_ ? "#9c2f10" : "palette(alternate-base)";
  const QString ink = error_ ? "white" : "palette(window-text)";
  const QString hover = error_ ? "#b8482a" : "palette(midlight)";
  const QString edge = error_ ? "#9c2f10" : "palette(highlight)";
  setStyleSheet(
      QStringLiteral("QToolBar { background: %1; padding: 0 10px; border: 0; spacing: 4px;"
                     "  border-left: 4px solid %4; }"
                     "QLabel, QToolButton, QWidget { color: %2; }"
                     "QToolButton { padding: 1px 8px; }"
                     "QToolButton:hover, QToolButton:checked { background: %3; }")
          .arg(ground, ink, hover, edge));
}

QString Banner::text() const { return isHidden() ? QString() : line_->text(); }

}  // namespace conelab::desktop
