// The program's window, whose buttons start no benchmark.
#pragma once

#include <memory>

#include "app/desktop.h"
#include "tests/widgets/benchmarks/bench_fixtures.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {

struct IdleBenchWindow {
  QTemporaryDir folder{folder_template()};
  std::unique_ptr<MainWindow> window;

  IdleBenchWindow() {
    Backends backends = desktop_backends();
    backends.bench = fake_bench_backend(folder);
    backends.bench.run = nullptr;
    window = std::make_unique<MainWindow>(backends, "");
    window->resize(1300, 850);
    show_active(*window);
  }
};

}  // namespace conelab::desktop
