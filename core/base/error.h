// Errors that end a command, and their exit status.
//
// Misuse and failed calls throw an Error. The command then prints one line `conelab: error: <what>`
// and exits with the status of the error's kind. Invalid *data* (for instance NaN in a tensor) does
// not throw: results carry a status for it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace conelab {

/// The kinds of errors, with the exit status of each.
enum class ErrorKind {
  failure = 1,       ///< The work failed: a file is unreadable, memory or disk is full.
  usage = 2,         ///< The use is wrong: an unknown name or key, a value outside its domain.
  interrupted = 130  ///< The user asked to stop. Finished results are kept.
};

/// The only exception type of the project. `what()` is one line without the program's name: `FILE:
/// what is wrong (expected ..., found ...)`.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] int exit_status() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// Throws an Error of kind failure with a formatted message.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::failure, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws an Error of kind usage with a formatted message.
template <class... Args>
[[noreturn]] void misuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::usage, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws interrupted if the user asked to stop: if `cancelled` is set and returns true.
inline void stop_if(const std::function<bool()>& cancelled) {
  if (cancelled && cancelled()) throw Error(ErrorKind::interrupted, "interrupted");
}

}  // namespace conelab
