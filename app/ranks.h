// The ranks that `mpirun` starts (core/base/ranks.h). MPI is optional: mpi_ranks.cpp is compiled
// where it is found, no_ranks.cpp elsewhere.
#pragma once

#include <memory>

#include "core/base/ranks.h"

namespace conelab {

/// Holds what mpirun says in the environment of the processes that it starts.
struct Launch {
  int rank = 0;
  int size = 0;  ///< 0: the program was started by itself.
};
[[nodiscard]] Launch launched();

/// The ranks of this job, of which this process is one. It ends with the program.
class JobRanks : public Ranks {
 public:
  /// Waits until all ranks have done their work, and leaves them. Throws as `done` does.
  virtual void leave() = 0;
  /// Reports the exception that is being handled, as one line of the lowest rank that has failed,
  /// and ends all ranks with its status: at once on rank 0, otherwise once rank 0 notices it, at
  /// most 20 s later. Must be called in a catch block.
  [[noreturn]] virtual void end_all() = 0;
};

/// Returns whether the program was built with MPI.
[[nodiscard]] bool has_mpi();
/// Joins the ranks of the job. Throws misuse in a build without MPI, and a failure if MPI cannot be
/// used.
[[nodiscard]] std::unique_ptr<JobRanks> join_ranks();

}  // namespace conelab
