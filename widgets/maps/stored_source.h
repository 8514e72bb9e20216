// The cells of one head of a stored map (widgets/trace/stored_map.h): nothing is computed.
#pragma once

#include "widgets/maps/matrix_source.h"

namespace conelab::desktop {

/// Returns the matrix of one head of a stored map.
[[nodiscard]] std::shared_ptr<MatrixSource> stored_source(std::shared_ptr<const StoredMap> map,
                                                          std::int64_t batch, std::int64_t head);

}  // namespace conelab::desktop
