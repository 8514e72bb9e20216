// The explorer alone in a window, over a session of its own.
#pragma once

#include "tests/widgets/work.h"
#include "widgets/explorer/explorer_view.h"

namespace conelab::desktop {

struct ShownExplorer : Work {
  ExplorerView view{workspace};
  ExplorerViewport& viewport = view.viewport();
  ShownExplorer() {
    view.resize(700, 640);
    show_active(view);
    wait_for([this] { return viewport.frames_painted() >= 3; });
  }
  /// Opens the shipped trace at a head of its third layer.
  void open_trace(std::int64_t head = 5) {
    document.edit("head", [&](Session& s) { s.trace.head = head; });
    open();
    pump(100);
  }
};

/// Waits until no frame is painted any more.
inline void settle(ExplorerViewport& viewport) {
  long before = -1;
  while (before != viewport.frames_painted()) {
    before = viewport.frames_painted();
    pump(80);
  }
}

}  // namespace conelab::desktop
