// Rules of input that hold for every form of the window.
//
// The wheel changes a choice, a number or a slider only if that has the keyboard focus, and never
// gives it the focus: scrolling a panel changes nothing, not even the focused field that comes
// under the pointer. Undo and redo in a text field first take back what has been typed and not yet
// entered; after that they are those of the session. Escape takes it back too, and leaves the
// field, so that the keys are those of the views again.
#pragma once

#include <QObject>
#include <QPointF>
#include <optional>

namespace conelab::desktop {

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
