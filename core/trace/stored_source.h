// The cells of one head of a stored map (core/trace/stored_map.h): nothing is computed.
#pragma once

#include "core/trace/matrix_source.h"

namespace conelab {

/// Returns the matrix of one head of a stored map.
[[nodiscard]] std::shared_ptr<MatrixSource> stored_source(std::shared_ptr<const StoredMap> map,
                                                          std::int64_t batch, std::int64_t head);

}  // namespace conelab
