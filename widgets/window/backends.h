// What the window cannot do itself and is handed over by the program: figures by name, commands,
// benchmarks. Plain functions, so that tests hand over their own.
#pragma once

#include <functional>
#include <string>

#include "core/figure/display_list.h"
#include "widgets/benchmarks/bench_backend.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

struct Backends {
  std::string version;
  std::string shipped_trace;  ///< The demonstration's trace; empty where it was not found.
  /// A figure exactly as `conelab figure` draws it. Throws as it does; called from a job, and stops
  /// where the second argument says so.
  std::function<figure::DisplayList(const FigureChoice&, const std::function<bool()>&)> draw_figure;
  /// The command lines that do the same headless.
  std::function<std::string(const FigureChoice&)> figure_command;
  std::function<std::string(const TraceChoice&, const Call&)> attend_command;
  BenchBackend bench;
  /// A device besides the CPU by name; null where the name is of none.
  std::function<Backend*(const std::string&)> device;
};

}  // namespace conelab::desktop
