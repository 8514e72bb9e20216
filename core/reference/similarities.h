// The logit of a pair of points, and the model in which a similarity's points live.
#pragma once

#include "core/reference/maps.h"
#include "core/reference/problem.h"

namespace conelab::reference {

/// Returns the logit of the problem's similarity for the query u and the key v. Throws a failure
/// for a similarity without a formula here.
[[nodiscard]] Real similarity(const Problem& problem, std::int64_t head, const Point& u,
                              const Point& v);

/// Returns what maps need of the problem's similarity.
[[nodiscard]] MapSettings map_settings(const Problem& problem, std::int64_t head);

}  // namespace conelab::reference
