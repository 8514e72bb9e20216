// The logit of a pair of points, and the model that a similarity's points live in.
#pragma once

#include "core/reference/maps.h"
#include "core/reference/problem.h"

namespace conelab::reference {

/// The similarity of the problem, u the query and v the key. A similarity without a formula of its
/// own here is a failure.
[[nodiscard]] Real similarity(const Problem& problem, std::int64_t head, const Point& u,
                              const Point& v);

/// What maps need to know of the problem's similarity.
[[nodiscard]] MapSettings map_settings(const Problem& problem, std::int64_t head);

}  // namespace conelab::reference
