// Student's t: quantiles and the interval of a mean.
#pragma once

#include <vector>

#include "core/statistics/interval.h"

namespace conelab {

/// P(T <= t) for `degrees` >= 1 degrees of freedom (Abramowitz, Stegun 26.7.3 and 26.7.4).
[[nodiscard]] double t_cdf(double t, int degrees);

/// The t with P(T <= t) = p, 0 < p < 1; to 1e-12 relative for 0.0005 <= p <= 0.9995, further out
/// the rounding of 1 - p takes digits.
[[nodiscard]] double t_quantile(double p, int degrees);

/// Mean with its t-interval. Fewer than two samples have none: low and high are NaN.
[[nodiscard]] Interval t_interval(const std::vector<double>& samples, double level = usual_level);

}  // namespace conelab
