// Prints results on standard output and remarks on standard error.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

namespace conelab {

/// The most bytes that a message has; longer ones are cut.
inline constexpr std::size_t longest_message = 2000;

/// Sets whether this process prints nothing, as ranks do whose output rank 0 prints as well.
void be_silent(bool silent);
[[nodiscard]] bool is_silent();

/// Prints the text on standard output, unchanged.
void print_text(const std::string& text);

/// Prints a JSON value and a newline on standard output. Bytes that are not UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& value);

/// Prints `conelab: warning: <text>` on standard error.
void print_warning(const std::string& text);

/// Prints `conelab: error: <text>` on standard error.
void print_error(const std::string& text);

/// Formats a line and prints it on standard output.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...) + "\n");
}

/// Flushes standard output. Throws a failure if anything that was printed could not be written.
void finish_output();

// Reports any exception as one line on standard error and an exit status.

/// Prints `conelab: error: <what>` for the exception that is being handled and returns the exit
/// status. Must be called in a catch block.
[[nodiscard]] int report_current_exception() noexcept;

}  // namespace conelab
