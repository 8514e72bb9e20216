// The command line: finds the subcommand, reads its options, runs it, and reports errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace conelab {

/// Runs the command `arguments`, which do not include the program's name. Returns the exit status:
/// 0 if it is done, 1 if the work failed, 2 for wrong usage, 130 if interrupted. Every error is one
/// line on standard error. Without arguments it opens the desktop, or prints the help if there is
/// no display.
[[nodiscard]] int run_command_line(std::vector<std::string> arguments) noexcept;

/// Returns the argument with a blank in front if it is a list of numbers that begins with a minus
/// sign ("-0.3,0.2"), so that CLI11 does not read it as an option. Other arguments do not change.
[[nodiscard]] std::string shield_number(const std::string& argument);
/// Returns the text without that blank. Code that parses several numbers or quotes them must call
/// it.
[[nodiscard]] std::string_view unshielded(std::string_view argument);

}  // namespace conelab
