// Colours that a widget has taken from the palette, taken anew when another theme is chosen.
#pragma once

#include <QEvent>
#include <QWidget>
#include <functional>
#include <utility>

namespace conelab::desktop {

/// Calls `recolour` after the palette or the style of its parent has changed: once for all changes
/// of a moment, and when every widget has been told of them.
class PaletteFollower : public QObject {
 public:
  PaletteFollower(QWidget* parent, std::function<void()> recolour)
      : QObject(parent), recolour_(std::move(recolour)) {
    parent->installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    const QEvent::Type type = event->type();
    const bool changed = type == QEvent::PaletteChange || type == QEvent::StyleChange;
    if (changed && !std::exchange(waits_, true)) {
      QMetaObject::invokeMethod(
          this, [this] { waits_ = false, recolour_(); }, Qt::QueuedConnection);
    }
    return QObject::eventFilter(object, event);
  }

 private:
  std::function<void()> recolour_;
  bool waits_ = false;
};

/// Calls `recolour` now and whenever the palette of `widget` has changed.
inline void follow_palette(QWidget* widget, std::function<void()> recolour) {
  recolour();
  new PaletteFollower(widget, std::move(recolour));
}

}  // namespace conelab::desktop
