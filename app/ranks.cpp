#include "app/ranks.h"

#include <cstdlib>

#include "core/base/parse_number.h"

namespace conelab {

Launch launched() {
  // Open MPI, then MPICH and others with its process manager.
  for (const auto& [rank, size] : {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   std::pair{"PMI_RANK", "PMI_SIZE"}}) {
    const char *own = std::getenv(rank), *all = std::getenv(size);
    if (own == nullptr || all == nullptr) continue;
    return {static_cast<int>(parse_integer(own).value_or(0)),
            static_cast<int>(parse_integer(all).value_or(0))};
  }
  return {};
}

}  // namespace conelab
