#include "widgets/window/input_rules.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLineF>
#include <QMainWindow>
#include <QScrollBar>
#include <QWheelEvent>

namespace conelab::desktop {
namespace {

/// How many entries of a list are seen at once, if the screen is high enough: all heads of usual
/// models, and what follows them.
constexpr int most_entries = 24;

/// Whether the wheel would change the widget's value.
bool has_value(const QObject* object) {
  if (qobject_cast<const QScrollBar*>(object) != nullptr) return false;
  return qobject_cast<const QComboBox*>(object) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(object) != nullptr ||
         qobject_cast<const QAbstractSlider*>(object) != nullptr;
}

/// Returns whether the pointer has moved by a few pixels at most, as it does while the wheel turns.
bool stays_at(const std::optional<QPointF>& place, const QPointF& now) {
  constexpr double farthest = 4;  // Pixels.
  return place && QLineF(*place, now).length() <= farthest;
}

/// Returns whether the wheel changes the widget's value while it has the focus.
bool takes_wheel(const QObject* object) {
  return has_value(object) || qobject_cast<const QLineEdit*>(object) != nullptr;
}

/// Without text that has been typed and not entered, undo and redo are left to the session.
bool leaves_undo(const QLineEdit& field, const QKeyEvent& key) {
  if (field.isModified()) return false;
  return key.matches(QKeySequence::Undo) || key.matches(QKeySequence::Redo);
}

bool enters_text(const QEvent& event) {
  if (event.type() == QEvent::FocusOut) return true;
  if (event.type() != QEvent::KeyPress) return false;
  const int key = static_cast<const QKeyEvent&>(event).key();
  return key == Qt::Key_Return || key == Qt::Key_Enter;
}

/// The text of a field before what has been typed and not entered, as a property.
constexpr const char* entered_text = "entered-text";

bool changes_text(const QEvent& event) {
  return event.type() == QEvent::KeyPress || event.type() == QEvent::InputMethod ||
         event.type() == QEvent::ContextMenu;
}

/// Escape that no field and no view has taken has come to the window.
bool leaves_field(const QObject* object, const QEvent& event) {
  if (event.type() != QEvent::KeyPress) return false;
  const auto* window = qobject_cast<const QMainWindow*>(object);
  return window != nullptr && static_cast<const QKeyEvent&>(event).key() == Qt::Key_Escape;
}

/// Takes back what has been typed and not entered, and gives the keys back to the views.
bool leave(QLineEdit& field) {
  if (field.isModified()) field.setText(field.property(entered_text).toString());
  field.clearFocus();
  return true;
}

}  // namespace

InputRules::InputRules(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool InputRules::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::Polish && has_value(object)) {
    auto* widget = static_cast<QWidget*>(object);
    if (widget->focusPolicy() == Qt::WheelFocus) widget->setFocusPolicy(Qt::StrongFocus);
    if (auto* list = qobject_cast<QComboBox*>(object)) list->setMaxVisibleItems(most_entries);
  }
  if (event->type() == QEvent::FocusIn) scrolled_at_.reset();
  if (event->type() == QEvent::Wheel && object->isWidgetType()) {
    const QPointF at = static_cast<QWheelEvent*>(event)->globalPosition();
    const QWidget* focus = QApplication::focusWidget();
    // The text of a number's field is a widget within it.
    if (focus == nullptr ||
        (object != focus && !focus->isAncestorOf(static_cast<QWidget*>(object)))) {
      scrolled_at_ = at;
    } else if (object == focus && stays_at(scrolled_at_, at) && takes_wheel(object)) {
      event->ignore();  // The panel has brought the field under the pointer, and scrolls on.
      return true;
    }
  }
  if (event->type() == QEvent::Wheel && has_value(object) &&
      !static_cast<QWidget*>(object)->hasFocus()) {
    event->ignore();  // The panel around it scrolls.
    return true;
  }
  auto* focused = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  if (focused != nullptr && leaves_field(object, *event)) return leave(*focused);
  auto* field = qobject_cast<QLineEdit*>(object);
  if (field != nullptr && changes_text(*event) && !field->isModified()) {
    field->setProperty(entered_text, field->text());
  }
  if (field != nullptr && event->type() == QEvent::ShortcutOverride &&
      leaves_undo(*field, *static_cast<QKeyEvent*>(event))) {
    event->ignore();
    return true;
  }
  if (field != nullptr && enters_text(*event)) {  // Once the field has seen the event.
    QMetaObject::invokeMethod(
        field, [field] { field->setModified(false); }, Qt::QueuedConnection);
  }
  return QObject::eventFilter(object, event);
}

}  // namespace conelab::desktop
