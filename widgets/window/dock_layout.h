// The docks of the main window: where they are, which is in front, and how wide they are.
//
// Docks at the left are panels that keep their width; the others share what the window gains or
// loses in proportion to their widths. All is computed from the widths that a person or a session
// last gave them, so that a window that is enlarged and shrunk again looks as before.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QObject>
#include <QTimer>

class QDockWidget;
class QMainWindow;

namespace conelab::desktop {

class DockLayout : public QObject {
  Q_OBJECT

 public:
  explicit DockLayout(QMainWindow& window);

  QDockWidget* add(const QString& name, const QString& title, QWidget* view,
                   Qt::DockWidgetArea area);
  [[nodiscard]] const QList<QDockWidget*>& docks() const { return docks_; }
  /// Deletes them with their views.
  void clear();

  /// The arrangement as it is now, at these widths, is the usual one.
  void make_usual(const QHash<QDockWidget*, int>& widths);
  void restore_usual();
  /// Shows a dock by its name, in front of those that share its place.
  void raise(const QString& name);
  /// The dock in front takes the whole window, or gives it back.
  void toggle_single();

  /// Place and size of the window and its docks; restoring is false where the bytes say nothing.
  [[nodiscard]] QByteArray state() const;
  bool restore(const QByteArray& state);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Widths {
    int window = 0;  ///< 0: not known.
    int fixed = 0;   ///< What of it the panels and the gaps between docks take.
    QHash<QDockWidget*, int> docks;
  };
  [[nodiscard]] bool is_panel(QDockWidget* dock) const;
  /// The one that has the keyboard, else the first that is seen.
  [[nodiscard]] QDockWidget* in_front() const;
  /// Docks as in `state`; a bar with a message stays as it is, which is no part of an arrangement.
  bool arrange(const QByteArray& state);
  void restore_state(const QByteArray& state);
  void measure();
  void share_width();

  QMainWindow& window_;
  QList<QDockWidget*> docks_;
  QByteArray usual_;
  QByteArray before_single_;  ///< The arrangement before one view took all; empty: none did.
  QByteArray shown_later_;    ///< A state restored before the window was seen.
  Widths given_, usual_widths_;
  int shared_width_ = 0;  ///< The window's width that is shared out.
  bool sharing_ = false;
  QTimer measuring_;
};

}  // namespace conelab::desktop
