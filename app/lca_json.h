// The lowest common ancestor of two points as JSON: what `conelab lca --json` prints, and what the
// Python module returns.
#pragma once

#include <nlohmann/json.hpp>

#include "core/geometry/lca_query.h"

namespace conelab {

[[nodiscard]] nlohmann::ordered_json lca_json(const geometry::LcaResult& result);

}  // namespace conelab
