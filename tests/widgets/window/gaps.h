// How long the window's thread was not free: a timer of 5 ms that looks at how late it is.
//
// What is not the program's is taken off, so that neither a busy machine nor a display without a
// GPU is held against it: the time that the thread was ready and others had the processor
// (schedstat(5) of Linux), and what it slept while a finished frame went to the display.
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QTimer>
#include <algorithm>
#include <fstream>

namespace conelab::desktop {

class Gaps : public QObject {
 public:
  Gaps() {
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.setInterval(5);
    connect(&timer_, &QTimer::timeout, this, [this] { tick(); });
    clock_.start();
    before_ = now();
    qApp->installEventFilter(this);
    timer_.start();
  }
  /// Milliseconds, of the longest turn so far.
  [[nodiscard]] double longest() const { return longest_; }
  [[nodiscard]] int ticks() const { return ticks_; }

 protected:
  /// Delivers frames itself, to see how long that slept.
  bool eventFilter(QObject* receiver, QEvent* event) override {
    if (event->type() != QEvent::UpdateRequest || delivering_) return false;
    delivering_ = true;
    const Times begin = now();
    QElapsedTimer whole;
    whole.start();
    receiver->event(event);
    const Times end = now();
    const double wall = static_cast<double>(whole.nsecsElapsed()) * 1e-6;
    display_ += std::max(0.0, wall - (end.ran - begin.ran) - (end.ready - begin.ready));
    delivering_ = false;
    return true;
  }

 private:
  /// Milliseconds that this thread ran, and was ready and did not run.
  struct Times {
    double ran = 0, ready = 0;
  };
  static Times now() {
    std::ifstream file("/proc/thread-self/schedstat");
    Times times;
    file >> times.ran >> times.ready;
    return {times.ran * 1e-6, times.ready * 1e-6};
  }
  void tick() {
    const Times times = now();
    const double gap = static_cast<double>(clock_.nsecsElapsed()) * 1e-6;
    clock_.restart();
    longest_ = std::max(longest_, gap - (times.ready - before_.ready) - display_);
    before_ = times;
    display_ = 0;
    ++ticks_;
  }

  QTimer timer_;
  QElapsedTimer clock_;
  Times before_;
  double longest_ = 0, display_ = 0;
  bool delivering_ = false;
  int ticks_ = 0;
};

}  // namespace conelab::desktop
