// The failure of data that are not known to be damaged but are not read: an unknown type or filter,
// a lock of another program, storage outside the file.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace conelab {

class Unread : public Error {
 public:
  explicit Unread(const std::string& message) : Error(ErrorKind::failure, message) {}
};

/// Throws Unread with a formatted message.
template <class... Args>
[[noreturn]] void fail_unread(fmt::format_string<Args...> format, Args&&... args) {
  throw Unread(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace conelab
