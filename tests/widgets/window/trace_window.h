// The program's window with a layer of the shipped trace in it.
#pragma once

#include <QTemporaryDir>

#include "app/desktop.h"
#include "tests/widgets/driving.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {

struct TraceWindow {
  QTemporaryDir state;
  MainWindow window{desktop_backends(), state.path()};

  explicit TraceWindow(QSize size) {
    window.resize(size);
    show_active(window);
    window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
    EXPECT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
    EXPECT_TRUE(is_at_rest());
  }
  [[nodiscard]] bool is_at_rest() {
    return wait_for([&] { return window.workspace().jobs().running().empty(); });
  }
};

}  // namespace conelab::desktop
