// The one failure of a reading child that says something of its file rather than of the machine.
#pragma once

#include "core/base/error.h"

namespace conelab {

/// The child crashed, or took more processor time than any file explains. What `run_sandboxed` says
/// otherwise (no process to be had, no memory, a disk that does not answer) is no evidence of
/// damage.
class ReaderCrash : public Error {
 public:
  explicit ReaderCrash(const std::string& message) : Error(ErrorKind::failure, message) {}
};

}  // namespace conelab
