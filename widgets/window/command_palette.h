// Every action of the window by typing a few of its letters (Ctrl+Shift+P).
#pragma once

#include <QAction>
#include <QDialog>
#include <QList>

class QLineEdit;
class QListWidget;

namespace conelab::desktop {

/// How well `typed` fits `name`: its letters must occur in order; runs and word beginnings count
/// more. Negative: not at all.
[[nodiscard]] int match_score(const QString& typed, const QString& name);

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  CommandPalette(const QList<QAction*>& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void filter(const QString& typed);
  void run();

  QList<QAction*> actions_;
  QLineEdit* field_;
  QListWidget* list_;
};

/// An action's text as a person reads it, without mnemonics and ellipsis.
[[nodiscard]] QString action_name(const QAction& action);

}  // namespace conelab::desktop
