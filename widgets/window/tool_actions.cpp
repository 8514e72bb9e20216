#include "widgets/window/tool_actions.h"

#include <QAction>
#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

namespace conelab::desktop {
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

}  // namespace conelab::desktop
