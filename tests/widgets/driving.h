// Driving widgets as a person does: real events, and waiting for what follows.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QMouseEvent>
#include <QThread>
#include <QWheelEvent>
#include <QWidget>
#include <algorithm>
#include <functional>
#include <string>

#include "tests/helpers/slowness.h"

namespace conelab::desktop {

using fixtures::slowness;

/// True once `ready` holds; false after `milliseconds` in which this process could run: one that
/// was stopped meanwhile, or got no processor, has not waited in vain.
inline bool wait_for(const std::function<bool()>& ready, int milliseconds = 20000 * slowness) {
  constexpr qint64 nanoseconds = 1000000, longest_turn = 500 * nanoseconds;
  qint64 waited = 0;
  while (waited < milliseconds * nanoseconds) {
    QElapsedTimer turn;
    turn.start();
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    if (ready()) return true;
    QThread::usleep(500);  // What is waited for may need the processor.
    waited += std::min(turn.nsecsElapsed(), longest_turn);
  }
  return ready();
}

/// The processor time of this process (RUSAGE_SELF) or of its children (RUSAGE_CHILDREN).
inline double processor_seconds(int who) {
  rusage used{};
  getrusage(who, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

inline void pump(int milliseconds = 60) {
  wait_for([] { return false; }, milliseconds);
}

inline bool has_display() { return QGuiApplication::platformName() == "xcb"; }
#define REQUIRE_DISPLAY() \
  if (!has_display()) GTEST_SKIP() << "needs a display"

/// Shows a window and makes it the active one, also without a window manager.
inline void show_active(QWidget& window) {
  window.show();
  window.activateWindow();
  QApplication::setActiveWindow(&window);
  wait_for([&] { return window.isVisible() && window.isActiveWindow(); }, 1000);
  pump(30);
}

inline void send_mouse(QWidget& widget, QEvent::Type type, QPointF at, Qt::MouseButton button,
                       Qt::MouseButtons buttons) {
  QMouseEvent event(type, at, widget.mapToGlobal(at), button, buttons, Qt::NoModifier);
  QApplication::sendEvent(&widget, &event);
}

inline void move_to(QWidget& widget, QPointF at, Qt::MouseButtons buttons = Qt::NoButton) {
  send_mouse(widget, QEvent::MouseMove, at, Qt::NoButton, buttons);
}

inline void click(QWidget& widget, QPointF at) {
  move_to(widget, at);
  send_mouse(widget, QEvent::MouseButtonPress, at, Qt::LeftButton, Qt::LeftButton);
  send_mouse(widget, QEvent::MouseButtonRelease, at, Qt::LeftButton, Qt::NoButton);
}

inline void drag(QWidget& widget, QPointF from, QPointF to, int steps = 6) {
  move_to(widget, from);
  pump(30);
  send_mouse(widget, QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
  pump(30);
  for (int i = 1; i <= steps; ++i) {
    move_to(widget, from + (to - from) * i / steps, Qt::LeftButton);
    pump(15);
  }
  send_mouse(widget, QEvent::MouseButtonRelease, to, Qt::LeftButton, Qt::NoButton);
  pump(30);
}

inline void turn_wheel(QWidget& widget, QPointF at, int notches) {
  QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&widget, &event);
}

inline void press_key(QWidget& widget, int key, Qt::KeyboardModifiers held = Qt::NoModifier,
                      const QString& text = {}) {
  QKeyEvent press(QEvent::KeyPress, key, held, text), release(QEvent::KeyRelease, key, held, text);
  QApplication::sendEvent(&widget, &press);
  QApplication::sendEvent(&widget, &release);
}

/// Brings what jobs tell into the thread of the windows.
inline void deliver(std::function<void()> call) {
  QMetaObject::invokeMethod(qApp, std::move(call), Qt::QueuedConnection);
}

/// Writes a file's own bytes anew, as a program does that saves it.
inline void rewrite_file(const QString& path) {
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadWrite));
  const QByteArray bytes = file.readAll();
  file.seek(0);
  file.write(bytes);
}

inline std::string shipped_trace() { return CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5"; }

}  // namespace conelab::desktop
