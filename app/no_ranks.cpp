#include "app/ranks.h"
#include "core/base/error.h"

namespace conelab {

bool has_mpi() { return false; }

std::unique_ptr<JobRanks> join_ranks() {
  misuse(
      "mpirun started {} processes, but this build has no MPI (install libopenmpi-dev and build "
      "again, or start one process)",
      launched().size);
}

}  // namespace conelab
