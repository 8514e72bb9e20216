// The error that a call throws, for tests that look at it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/base/error.h"

namespace conelab::fixtures {

template <class Action>
std::optional<Error> caught(const Action& action) {
  try {
    (void)action();
  } catch (const Error& error) {
    return error;
  }
  return {};
}

/// The error that `action` throws; fails the test if it throws none.
template <class Action>
Error error_of(const Action& action) {
  const std::optional<Error> error = caught(action);
  EXPECT_TRUE(error) << "no error was thrown";
  return error.value_or(Error(ErrorKind::failure, ""));
}

/// The message of the error that `action` throws; empty where it throws none.
template <class Action>
std::string message_of(const Action& action) {
  const std::optional<Error> error = caught(action);
  return error ? error->what() : "";
}

/// As message_of; fails the test if the error is not one of wrong use in one line.
template <class Action>
std::string misuse_of(const Action& action) {
  const std::optional<Error> error = caught(action);
  if (!error) return "";
  EXPECT_EQ(error->kind(), ErrorKind::usage) << error->what();
  EXPECT_EQ(std::string(error->what()).find('\n'), std::string::npos) << error->what();
  return error->what();
}

/// As message_of, with the error's exit status in front: "2: unknown ...".
template <class Action>
std::string failure_of(const Action& action) {
  const std::optional<Error> error = caught(action);
  return error ? fmt::format("{}: {}", error->exit_status(), error->what()) : "no error";
}

}  // namespace conelab::fixtures
