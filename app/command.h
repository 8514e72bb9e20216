// A subcommand of the program: its name, what it is for, and how it declares its options.
//
// Each lives in a file of its own, app/command_<name>.cpp; the table in app/command_table.cpp is
// the only registration.
#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace conelab {

/// What a subcommand does once its options are read; returns the exit status and throws
/// conelab::Error.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* about;    ///< One line for the list of commands.
  const char* example;  ///< Lines shown at the end of `--help`.
  bool hidden;          ///< Not listed: the program's own workers.
  /// Declares the options on `options` and returns what runs after they are read.
  Action (*declare)(CLI::App& options);
};

[[nodiscard]] std::span<const Command> command_table();

}  // namespace conelab
