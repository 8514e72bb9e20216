// What the benchmarks view cannot do itself and is handed by the program: which operators there
// are, running a sweep (workers are processes of the program), devices, the command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bench/runner.h"
#include "core/tiles/backend.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

struct BenchBackend {
  std::vector<std::string> operators;  ///< Names that a sweep may hold.
  std::string folder;                  ///< Where results go unless told otherwise.
  /// run_bench with this program's operators and workers; called from a job.
  std::function<void(const Sweep&, const BenchOptions&)> run;
  /// State of every device but the CPU; may take long, called from a job.
  std::function<std::vector<DeviceState>()> devices;
  /// The command line that runs the sweep headless into `output`.
  std::function<std::string(const BenchChoice&, const std::string& output)> command;
};

}  // namespace conelab::desktop
