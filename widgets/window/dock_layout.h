// The docks of the main window: their arrangement, which one is in front, and their widths.
//
// Docks at the left are panels that keep their width. The others share what the window gains or
// loses in proportion to their widths. All widths are computed from those that the user or a
// session set last, so that a window that is enlarged and shrunk again looks as before.
//
// While a view that needs the whole window is in front, the docks beside it fold away; they come
// back where they were when another view is.
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
  /// Makes these views, by the names of their docks, need the whole window.
  void make_wide(const QStringList& names) { wide_ = names; }
  /// Deletes the docks with their views.
  void clear();

  /// Makes the current arrangement, with these widths, the default one.
  void make_usual(const QHash<QDockWidget*, int>& widths);
  void restore_usual();
  /// Shows a dock by its name, in front of those at the same position.
  void raise(const QString& name);
  void hide(const QString& name);
  /// Makes a dock at least so high, at the cost of those below it, but not above half the window.
  void make_high(const QString& name, int height);
  /// Shows only the dock in front in the whole window, or restores the others.
  void toggle_single();

  /// Returns position and size of the window and its docks. `restore` returns false if the bytes
  /// are invalid.
  [[nodiscard]] QByteArray state() const;
  bool restore(const QByteArray& state);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Widths {
    int window = 0;  ///< 0 if unknown.
    int fixed = 0;   ///< The part that the panels and the gaps between docks take.
    QHash<QDockWidget*, int> docks;
  };
  [[nodiscard]] bool is_panel(QDockWidget* dock) const;
  /// Returns the dock with the keyboard focus, otherwise the first visible one.
  [[nodiscard]] QDockWidget* in_front() const;
  /// Arranges the docks as in `state`. The banner is not part of it and does not change.
  bool arrange(const QByteArray& state);
  void restore_state(const QByteArray& state);
  void measure();
  void share_width();
  /// Folds the docks beside a view that needs the whole window, or brings them back.
  void follow_front();
  void fold_beside(QDockWidget* front);
  void unfold();
  void forget_folded();

  QMainWindow& window_;
  QList<QDockWidget*> docks_;
  QByteArray usual_;
  QByteArray before_single_;  ///< The arrangement before one dock filled the window; or empty.
  QByteArray shown_later_;    ///< A state that was restored before the window was visible.
  QStringList wide_;          ///< The views that need the whole window.
  QByteArray unfolded_;       ///< The arrangement before docks were folded; empty if none are.
  QList<QDockWidget*> folded_, seen_;  ///< Those that were folded; of these, the visible ones.
  Widths unfolded_widths_;
  Widths given_, usual_widths_;
  int shared_width_ = 0;  ///< The width of the window that was distributed last.
  bool sharing_ = false;
  QTimer measuring_, following_;
};

/// Returns the size of the window when it is first shown: it fits on the screen with its frame,
/// whose title is above the window.
[[nodiscard]] QSize first_size(const QWidget& window);

}  // namespace conelab::desktop
