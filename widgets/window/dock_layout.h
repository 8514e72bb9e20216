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
#include <vector>

#include "widgets/window/view.h"

class QDockWidget;
class QMainWindow;

namespace conelab::desktop {

class DockLayout : public QObject {
  Q_OBJECT

 public:
  explicit DockLayout(QMainWindow& window);

  /// Adds the dock of a view, at the place that its row names.
  void add(const ViewRow& row, QWidget* view);
  [[nodiscard]] const QList<QDockWidget*>& docks() const { return docks_; }
  /// Deletes the docks with their views.
  void clear();

  /// Sizes the window and the docks of these rows, and makes that the default arrangement.
  void make_usual(const std::vector<ViewRow>& rows);
  void restore_usual();
  /// Shows a view by its name, in front of those at the same position, and at least so high, at the
  /// cost of those below it, but not above half the window.
  void raise(const QString& name, int height = 0);
  void hide(const QString& name);
  /// Returns whether a widget is in no view, or in one that is not behind another.
  [[nodiscard]] bool shows(const QWidget& widget) const;
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
  [[nodiscard]] QDockWidget* named(const QString& name) const;
  /// Returns the dock with the keyboard focus, otherwise the first visible one.
  [[nodiscard]] QDockWidget* in_front() const;
  /// Arranges the docks as in `state`. The banner is not part of it and does not change.
  bool arrange(const QByteArray& state);
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
  QList<QDockWidget*> wide_;  ///< Those that need the whole window.
  /// The first panel, the first and the last view to its right, and the one in front of the tabs.
  QDockWidget *panel_ = nullptr, *main_ = nullptr, *last_ = nullptr, *front_ = nullptr;
  QByteArray unfolded_;  ///< The arrangement before docks were folded; empty if none are.
  QList<QDockWidget*> folded_, seen_;  ///< Those that were folded; of these, the visible ones.
  Widths unfolded_widths_;
  Widths given_, usual_widths_;
  int shared_width_ = 0;  ///< The width of the window that was distributed last.
  bool sharing_ = false;
  QTimer measuring_, following_;
};

}  // namespace conelab::desktop
