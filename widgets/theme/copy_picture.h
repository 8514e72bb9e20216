// Copying what a canvas shows, for its menu.
#pragma once

#include <QClipboard>
#include <QGuiApplication>
#include <QWidget>

namespace conelab::desktop {

inline void copy_picture(QWidget& canvas) {
  QGuiApplication::clipboard()->setPixmap(canvas.grab());
}

}  // namespace conelab::desktop
