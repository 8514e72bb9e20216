// A subcommand of the program: its name, its purpose, and its options.
//
// Each job (core/jobs/job_table.h) is a subcommand, which command_job.cpp declares. Each other
// subcommand is one file, app/command_<name>.cpp, and one row of app/command_table.cpp.
#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace conelab {

/// A subcommand runs this once its options are read. It returns the exit status, and throws
/// conelab::Error if the work fails or the options are wrong.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* about;    ///< One line for the list of commands.
  const char* example;  ///< Example command lines, which end `--help`; each begins with two blanks.
  bool hidden;          ///< True for the program's own worker processes, which no list shows.
  /// Declares the options on `options`, and returns what runs once they are read.
  std::function<Action(CLI::App& options)> declare;
};

/// Returns all subcommands in the order in which the help lists them.
[[nodiscard]] std::span<const Command> command_table();

}  // namespace conelab
