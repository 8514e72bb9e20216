// The sheet of shortcuts (?): keys of the window's actions and of the views.
#pragma once

#include <QAction>
#include <QDialog>
#include <QList>

namespace conelab::desktop {

class ShortcutSheet : public QDialog {
  Q_OBJECT

 public:
  ShortcutSheet(const QList<QAction*>& actions, QWidget* parent);
};

}  // namespace conelab::desktop
