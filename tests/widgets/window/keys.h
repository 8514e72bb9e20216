// Keys as they come from a keyboard: the application's shortcuts see them first.
#pragma once

#include <QApplication>
#include <QCursor>
#include <QTest>
#include <QWidget>

#include "tests/widgets/driving.h"

namespace conelab::desktop {

/// The key goes to the widget with the focus, or to the window if there is none.
inline void type_key(QWidget& window, Qt::Key key, Qt::KeyboardModifiers held = Qt::NoModifier) {
  QWidget* focus = QApplication::focusWidget();
  QTest::keyClick(focus != nullptr ? focus : &window, key, held);
  pump(20);
}

inline void type_text(QWidget& field, const QString& text) {
  QTest::keyClicks(&field, text);
  pump(20);
}

/// Moves the real pointer into the middle of a widget.
inline void point_into(const QWidget& widget) {
  QCursor::setPos(widget.mapToGlobal(widget.rect().center()));
  pump(30);
}

}  // namespace conelab::desktop
