#include "widgets/window/view_keys.h"

#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QCursor>
#include <QDockWidget>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLineF>
#include <QMainWindow>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QTabBar>
#include <QTextEdit>
#include <QToolButton>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>

#include "widgets/window/view.h"

namespace conelab::desktop {
namespace {

bool takes_text(const QObject* widget) {
  return qobject_cast<const QLineEdit*>(widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
         qobject_cast<const QTextEdit*>(widget) != nullptr;
}

/// Whether pages have a meaning in the widget. A choice, which may still have the focus when it has
/// been made, does not change by the keys of the next and previous layer.
bool takes_pages(const QObject* widget) {
  return qobject_cast<const QAbstractScrollArea*>(widget) != nullptr ||
         qobject_cast<const QAbstractSlider*>(widget) != nullptr ||
         (widget != nullptr && widget->property("takes-pages").toBool());
}

bool takes_arrows(const QObject* widget) {
  return takes_pages(widget) || qobject_cast<const QComboBox*>(widget) != nullptr ||
         qobject_cast<const QTabBar*>(widget) != nullptr;
}

bool is_page(int key) { return key == Qt::Key_PageUp || key == Qt::Key_PageDown; }

bool is_arrow(int key) {
  return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
}

bool is_under_pointer(const View& view) {
  const QWidget* under = QApplication::widgetAt(QCursor::pos());
  return under != nullptr && (under == view.widget || view.widget->isAncestorOf(under));
}

}  // namespace

ViewKeys::ViewKeys(const std::vector<View>& views, QObject* parent)
    : QObject(parent), views_(views) {
  qApp->installEventFilter(this);
}

bool ViewKeys::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    // The event comes to the parents of the focus too; the focus alone decides.
    if (keeps(QApplication::focusWidget(), key)) {
      event->accept();  // The widget gets the key, and no action.
      return true;
    }
  }
  // A view that floats has no window above it.
  if (event->type() == QEvent::KeyPress && (qobject_cast<QMainWindow*>(object) != nullptr ||
                                            qobject_cast<QDockWidget*>(object) != nullptr)) {
    // Nothing that has the focus has taken the key. Fields are left by it.
    const bool escape = static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    if (escape && !takes_text(QApplication::focusWidget())) {
      const auto deselects = [](const View& view) { return view.deselect && view.deselect(); };
      if (std::ranges::any_of(views_, deselects)) return true;
    }
  }
  if (event->type() == QEvent::KeyRelease && !static_cast<QKeyEvent*>(event)->isAutoRepeat()) {
    const QKeySequence released(static_cast<QKeyEvent*>(event)->key());
    for (const View& view : views_) {
      for (const ViewAction& action : view.actions) {
        if (action.release && action.keys == released) action.release();
      }
    }
  }
  return QObject::eventFilter(object, event);
}

bool ViewKeys::keeps(const QObject* focus, int key) const {
  if (!is_arrow(key) && !is_page(key)) return false;  // Fields for text accept letters themselves.
  const bool taken = is_page(key) ? takes_pages(focus) : takes_arrows(focus);
  const auto takes = [](const View& view) { return view.takes_arrows && is_under_pointer(view); };
  return takes_text(focus) || (taken && std::ranges::none_of(views_, takes));
}

void fit_under_pointer(const std::vector<View>& views) {
  const auto pointed = [](const View& view) { return view.fit && is_under_pointer(view); };
  const auto only = std::ranges::find_if(views, pointed);
  if (only != views.end()) return only->fit();
  for (const View& view : views) {
    if (view.fit) view.fit();
  }
}

namespace {

constexpr qsizetype longest_line = 90;  ///< Letters; a longer text is broken into lines.

/// Returns the tool tip of a widget, or of the item of a list below the pointer.
QString tip_at(const QWidget& widget, const QPoint& point) {
  const auto* view = qobject_cast<const QAbstractItemView*>(widget.parentWidget());
  if (view == nullptr || view->viewport() != &widget) return widget.toolTip();
  return view->indexAt(point).data(Qt::ToolTipRole).toString();
}

}  // namespace

ToolTips::ToolTips(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

/// Qt breaks the lines of rich text.
bool ToolTips::eventFilter(QObject* object, QEvent* event) {
  auto* widget = event->type() == QEvent::ToolTip ? qobject_cast<QWidget*>(object) : nullptr;
  if (widget == nullptr) return QObject::eventFilter(object, event);
  const auto& help = *static_cast<QHelpEvent*>(event);
  const QString tip = tip_at(*widget, help.pos());
  if (tip.size() <= longest_line || Qt::mightBeRichText(tip)) return false;
  const QString text = tip.toHtmlEscaped().replace('\n', "<br>");
  QToolTip::showText(help.globalPos(), "<qt>" + text + "</qt>", widget);
  return true;
}

namespace {

QString with_capital(QString name) {
  if (!name.isEmpty()) name[0] = name[0].toUpper();
  return name;
}

/// Adds an action with a name and its help, given what it does to a tool.
using Add = std::function<void(const QString& name, const QString& help, QObject& tool,
                               const std::function<void()>&)>;

void add_choices(QComboBox& box, const Add& add) {
  for (int i = 0; i < box.count(); ++i) {
    if (!box.model()->flags(box.model()->index(i, 0)).testFlag(Qt::ItemIsEnabled)) continue;
    const QString own = box.itemData(i, Qt::ToolTipRole).toString();
    add(with_capital(box.accessibleName()) + ": " + box.itemText(i),
        own.isEmpty() ? box.toolTip() : own, box, [&box, i] {
          box.setCurrentIndex(i);
          emit box.activated(i);
        });
  }
}

/// A symbol is no name; then the help says what the button does.
QString name_of(const QToolButton& button) {
  const QString text = button.text();
  return text.startsWith('$') ? button.toolTip() : text;
}

void add_button(QToolButton& button, const QString& title, const Add& add) {
  const auto named = [&](const QString& name) { return title + ": " + name; };
  if (button.menu() == nullptr) {
    return add(named(name_of(button)), button.toolTip(), button, [&button] { button.click(); });
  }
  emit button.menu()->aboutToShow();  // Menus may be filled then.
  for (QAction* entry : button.menu()->actions()) {
    if (entry->isSeparator() || !entry->isEnabled()) continue;
    add(named(entry->text()), entry->toolTip(), *entry, [entry] { entry->trigger(); });
  }
}

}  // namespace

QList<QAction*> tool_actions(QWidget& view, const QString& title,
                             const std::function<void()>& show_view, QObject* owner) {
  QList<QAction*> actions;
  const auto in_use = [&](const QWidget& tool) {
    return tool.isEnabledTo(&view) && tool.isVisibleTo(&view);
  };
  const Add add = [&](const QString& name, const QString& help, QObject& tool,
                      const std::function<void()>& run) {
    auto* action = new QAction(name, owner);
    action->setToolTip(help);
    QObject::connect(action, &QAction::triggered, &tool, [show_view, run] { show_view(), run(); });
    actions << action;
  };
  for (QComboBox* box : view.findChildren<QComboBox*>()) {
    if (in_use(*box)) add_choices(*box, add);
  }
  for (QToolButton* button : view.findChildren<QToolButton*>()) {
    const bool named = !button->text().isEmpty() && button->objectName() != "more-tools";
    if (named && in_use(*button)) add_button(*button, title, add);
  }
  for (QPushButton* button : view.findChildren<QPushButton*>()) {
    if (!in_use(*button)) continue;
    add(title + ": " + button->text(), button->toolTip(), *button, [button] { button->click(); });
  }
  return actions;
}

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
  if (event->type() == QEvent::Polish) {  // Tab leaves a table, whose cells have the arrows.
    if (auto* items = qobject_cast<QAbstractItemView*>(object)) items->setTabKeyNavigation(false);
    // The names of views are whole with large text, and those without a place are scrolled to.
    if (auto* tabs = qobject_cast<QTabBar*>(object)) tabs->setElideMode(Qt::ElideNone);
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
