#include "core/bench/executor.h"

namespace conelab {

const char* status_name(CaseStatus status) {
  switch (status) {
    case CaseStatus::ok:
      return "ok";
    case CaseStatus::skipped:
      return "skipped";
    case CaseStatus::crashed:
      return "crashed";
    case CaseStatus::timed_out:
      return "timed out";
    case CaseStatus::failed:
      return "failed";
    case CaseStatus::out_of_memory:
      return "out of memory";
  }
  return "unknown status";
}

}  // namespace conelab
