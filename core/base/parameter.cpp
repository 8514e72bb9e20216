#include "core/base/parameter.h"

#include <cmath>

#include "core/base/error.h"

namespace conelab {

void check_domain(const ParameterInfo& info, double value) {
  if (!std::isfinite(value)) misuse("parameter {} must be finite (found {})", info.key, value);
  if (info.domain == Domain::positive && value <= 0) {
    misuse("parameter {} must be above 0 (found {})", info.key, value);
  }
  if (info.domain == Domain::moderate && !(least_moderate <= value && value <= most_moderate)) {
    misuse("parameter {} must lie between {} and {} (found {})", info.key, least_moderate,
           most_moderate, value);
  }
  if (info.domain == Domain::non_negative && value < 0) {
    misuse("parameter {} must not be negative (found {})", info.key, value);
  }
}

}  // namespace conelab
