#include "core/tiles/head_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/tiles/tile_size.h"

namespace conelab {

template <class T>
HeadBias<T>::HeadBias(const Plan& plan, std::int64_t head) : queries_(plan.extents.query) {
  const std::vector<double> parameters = plan.values(plan.bias_parameters, head);
  if (parameters.empty()) return;
  const Extents& e = plan.extents;
  const BiasRow& row = *plan.bias;
  const double* p = parameters.data();
  const double longest = static_cast<double>(std::max(e.query, e.key) - 1);
  const double limit = sizeof(T) == 4 ? 88.7 : 709.8;
  if (!row.finite(p, longest, limit)) {
    std::string given;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const char* key = plan.parameters[plan.bias_parameters[i]].info.key;
      given += fmt::format("{}{} = {}", i == 0 ? "" : ", ", key, p[i]);
    }
    misuse("bias {} overflows {} positions apart (found {}; the largest number is e^{})",
           plan.call.bias, longest, given, limit);
  }
  // One number for each relative position, and a tile's width of padding.
  const auto size = static_cast<std::size_t>(e.query + e.key + 2 * forward_keys<T>);
  table_.assign(size, T(0));
  slopes_.assign(parameters.size(), Buffer<T>(size, T(0)));
  std::vector<double> slope(parameters.size());
  for (std::int64_t i = 0; i < e.query + e.key - 1; ++i) {
    const auto offset = static_cast<double>(i - (e.key - 1));
    const auto at = static_cast<std::size_t>(i);
    table_[at] = static_cast<T>(row.value(p, offset));
    row.slope(p, offset, slope.data());
    for (std::size_t k = 0; k < slope.size(); ++k) slopes_[k][at] = static_cast<T>(slope[k]);
  }
}

template class HeadBias<float>;
template class HeadBias<double>;

}  // namespace conelab
