#include "widgets/operators/number_field.h"

#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "core/base/parse_number.h"

namespace conelab::desktop {
namespace {

constexpr double steps_for_double = 8;  ///< Of a positive number.
constexpr int pixels_a_step = 6;
constexpr int wheel_notch = 120;

double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / unit) * unit;
}

}  // namespace

double stepped_number(Domain domain, double value, int steps) {
  switch (domain) {
    case Domain::positive:
    case Domain::moderate:
      return rounded(value * std::exp2(steps / steps_for_double));
    case Domain::non_negative:
      return std::max(0.0, rounded(value + 0.1 * steps));
    case Domain::whole:
      return std::max(1.0, std::round(value) + steps);
    case Domain::count:
      return std::max(0.0, std::round(value) + steps);
    default:
      return rounded(value + 0.1 * steps);
  }
}

NumberField::NumberField(Domain domain, double initial, QWidget* parent)
    : QLineEdit(parent), domain_(domain), initial_(initial) {
  connect(this, &QLineEdit::editingFinished, this, [this] {
    const QString now = text().trimmed();
    if (now != entered_) emit entered(entered_ = now, false);
  });
}

void NumberField::show_numbers(const QString& text) {
  entered_ = text;
  if (this->text() != text) setText(text);
}

void NumberField::follow_drags_of(QLabel* label) {
  label->setCursor(Qt::SizeHorCursor);
  label->installEventFilter(this);
}

void NumberField::step_from(const QString& start, int steps) {
  QStringList numbers;
  const std::string now = start.trimmed().toStdString();
  if (now.empty() && std::isnan(initial_)) return;
  const auto add = [&](double value) {
    numbers << QString::number(stepped_number(domain_, value, steps), 'g', 6);
  };
  if (now.empty()) {
    add(initial_);
  } else {
    for (const std::string_view part : split_commas(now)) {
      const std::optional<double> value = parse_number(part);
      if (!value) return;
      add(*value);
    }
  }
  setText(numbers.join(','));
  emit entered(entered_ = text(), true);
}

void NumberField::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Up) return step(1);
  if (event->key() == Qt::Key_Down) return step(-1);
  QLineEdit::keyPressEvent(event);
}

void NumberField::wheelEvent(QWheelEvent* event) {
  if (!hasFocus()) return event->ignore();
  step(event->angleDelta().y() >= 0 ? std::max(1, event->angleDelta().y() / wheel_notch)
                                    : std::min(-1, event->angleDelta().y() / wheel_notch));
  event->accept();
}

bool NumberField::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::MouseButtonPress) {
    drag_from_ = qRound(static_cast<QMouseEvent*>(event)->globalPosition().x());
    drag_steps_ = 0;
    drag_text_ = text();
    return true;
  }
  const auto* mouse =
      event->type() == QEvent::MouseMove ? static_cast<QMouseEvent*>(event) : nullptr;
  if (mouse == nullptr || !mouse->buttons().testFlag(Qt::LeftButton)) return false;
  const int steps = (qRound(mouse->globalPosition().x()) - drag_from_) / pixels_a_step;
  if (steps != drag_steps_) step_from(drag_text_, steps);
  drag_steps_ = steps;
  return true;
}

}  // namespace conelab::desktop
