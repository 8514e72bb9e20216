// The keys of the views, which work wherever the keyboard focus is: this decides which keys are
// left to the widget that has the focus, and passes on Escape and the release of keys.
//
// Fields for text keep all their keys. Lists, choices, sliders and tables keep arrows and pages,
// unless the pointer is over a view that takes them.
#pragma once

#include <QAction>
#include <QList>
#include <QObject>
#include <QPointF>
#include <functional>
#include <optional>
#include <vector>

class QWidget;
class QObject;
class QString;

namespace conelab::desktop {

struct View;

class ViewKeys : public QObject {
  Q_OBJECT

 public:
  ViewKeys(const std::vector<View>& views, QObject* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  [[nodiscard]] bool keeps(const QObject* focus, int key) const;

  const std::vector<View>& views_;
};

/// Fits the view under the pointer, otherwise all views.
void fit_under_pointer(const std::vector<View>& views);

// Long tool tips break into several lines: Qt shows plain text in one line, however wide the screen
// would have to be.

class ToolTips : public QObject {
 public:
  /// Watches all widgets of the application as long as it lives.
  explicit ToolTips(QObject* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
};

// The tools of a view as actions for the command palette: whatever stands in a tool bar can be
// found by its name, and a new tool needs no line for that.

/// Returns an action for each entry of each box of choices ("Scale: log"), for each button and for
/// each entry of a button's menu ("Maps: profiles", where `title` is "Maps"), as far as they are
/// enabled and have a meaning in what the view shows now. Triggering one does what a click does.
/// `show_view` is called first. `owner` owns the actions, which must be used before the view
/// changes.
[[nodiscard]] QList<QAction*> tool_actions(QWidget& view, const QString& title,
                                           const std::function<void()>& show_view, QObject* owner);

// Rules of input that hold for every form of the window.
//
// The wheel changes a choice, a number or a slider only if that has the keyboard focus, and never
// gives it the focus: scrolling a panel changes nothing, not even the focused field that comes
// under the pointer. Undo and redo in a text field first take back what has been typed and not yet
// entered; after that they are those of the session. Escape takes it back too, and leaves the
// field, so that the keys are those of the views again.

class InputRules : public QObject {
 public:
  /// Watches all widgets of the application as long as it lives.
  explicit InputRules(QObject* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  /// The place on the screen where the wheel was last turned over a widget without the focus. It is
  /// absent after the focus has moved.
  std::optional<QPointF> scrolled_at_;
};

}  // namespace conelab::desktop
