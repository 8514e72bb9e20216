// Lists of the actions of the window: the command palette, which finds an action by some of its
// letters (Ctrl+Shift+P), and the list of shortcuts (?).
#pragma once

#include <QAction>
#include <QDialog>
#include <QList>
#include <vector>

class QLineEdit;
class QListWidget;

namespace conelab::desktop {

struct View;

/// Returns how well `typed` matches `name`. Its letters must occur in order; consecutive letters
/// and beginnings of words score higher. Negative if they do not match.
[[nodiscard]] int match_score(const QString& typed, const QString& name);
/// Returns how many of the words of `typed` are in `name`, in any order. Negative if a word is
/// neither in the name nor in `help`.
[[nodiscard]] int help_score(const QString& typed, const QString& name, const QString& help);

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  CommandPalette(const QList<QAction*>& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void filter(const QString& typed);
  [[nodiscard]] int row_height() const;
  void run();

  QList<QAction*> actions_;
  QLineEdit* field_;
  QListWidget* list_;
};

/// Returns the text of an action without mnemonics and ellipsis.
[[nodiscard]] QString action_name(const QAction& action);

/// The list of shortcuts: keys of the actions of the window, and gestures of the views.
class ShortcutSheet : public QDialog {
  Q_OBJECT

 public:
  ShortcutSheet(const QList<QAction*>& actions, const std::vector<View>& views, QWidget* parent);
};

}  // namespace conelab::desktop
