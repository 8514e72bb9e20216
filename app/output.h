// What the program prints: results on standard output, remarks on standard error.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

namespace conelab {

/// Messages longer than this many bytes are cut.
inline constexpr std::size_t longest_message = 2000;

/// Text for people on standard output, as it is.
void print_text(const std::string& text);

/// A JSON value on one line; bytes that are no UTF-8, as in names of files, are replaced.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& value);

/// One JSON value and a newline on standard output; bytes that are no UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& value);

/// `conelab: warning: <text>` on standard error.
void print_warning(const std::string& text);

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...) + "\n");
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  print_warning(fmt::format(format, std::forward<Args>(args)...));
}

/// Flushes standard output; throws a failure where something printed could not be written.
void finish_output();

}  // namespace conelab
