// From arguments to exit status: the one place where options are read and errors become a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace conelab {

/// Runs `arguments` (without the program's name). Returns the exit status: 0 done, 1 the work
/// failed, 2 wrong usage, 130 interrupted. Never throws; every error is one line on standard error.
[[nodiscard]] int run_command_line(std::vector<std::string> arguments) noexcept;

/// Marks numbers that begin with a minus sign ("-0.3,0.2") by a leading blank, so that they are not
/// taken for options.
[[nodiscard]] std::string shield_number(const std::string& argument);
/// The text without that blank, for whoever reads more than one number or quotes it.
[[nodiscard]] std::string_view unshielded(std::string_view argument);

}  // namespace conelab
