// Functions that the program supplies to the window: figures by name, commands, benchmarks,
// studies. They are plain functions, so that tests can supply their own.
#pragma once

#include <functional>
#include <string>

#include "core/drawing/display_list.h"
#include "widgets/benchmarks/bench_model.h"
#include "widgets/dialogs/manual_dialog.h"
#include "widgets/session/session.h"
#include "widgets/studies/study_model.h"

namespace conelab::desktop {

struct Backends {
  std::string shipped_trace;  ///< The trace of the demonstration; empty if it was not found.
  /// Returns a figure exactly as `conelab figure` draws it and throws as it does. Called from a
  /// job; stops if the second argument returns true.
  std::function<figure::DisplayList(const FigureChoice&, const std::function<bool()>&)> draw_figure;
  /// Return the command lines that do the same without the window.
  std::function<std::string(const FigureChoice&)> figure_command;
  std::function<std::string(const TraceChoice&, const Call&)> attend_command;
  BenchBackend bench;
  /// Returns a device other than the CPU by name; null if there is none of that name.
  std::function<Backend*(const std::string&)> device;
  /// Returns the command line that computes "weights" or "logits" as exactly as views show them.
  std::function<std::string(const TraceChoice&, const Call&, const std::string&)> cell_command;
  StudyBackend studies = {};
  /// Shows a figure or a page of HTML in the program that the user prefers for it. Returns whether
  /// there is one.
  std::function<bool(const QString& file)> show_elsewhere = {};
  Manual manual = {};
};

}  // namespace conelab::desktop
