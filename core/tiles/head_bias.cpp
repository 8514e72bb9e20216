#include "core/tiles/head_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/tiles/tile_size.h"

namespace conelab {

template <class T>
HeadBias<T>::HeadBias(const Plan& plan, PartValues values)
    : row_(plan.bias), extents_(plan.extents), values_(std::move(values)) {
  if (values_.p.empty()) return;
  for (const std::size_t i : plan.bias_parameters) {
    has_gradient_ |= plan.parameters[i].info.differentiable;
  }
  // A tile's width of padding.
  table_.assign(static_cast<std::size_t>(count() + 1 + 2 * forward_keys<T>), T(0));
  for (std::int64_t i = 0; i < count(); ++i) {
    const double value = row_->value(values_, offset(i));
    table_[static_cast<std::size_t>(i)] = static_cast<T>(value);
    if (std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max())) continue;
    std::string given;
    for (std::size_t k = 0; k < values_.p.size(); ++k) {
      const char* key = plan.parameters[plan.bias_parameters[k]].info.key;
      given += fmt::format("{}{} = {}", k == 0 ? "" : ", ", key, values_.p[k]);
    }
    misuse("bias {} overflows {} positions apart (found {}; the largest number is {})",
           plan.call.bias, std::abs(offset(i)), given, std::numeric_limits<T>::max());
  }
}

template <class T>
void HeadBias<T>::collect(const double* by_offset, PartValues& gradient) const {
  if (!has_gradient_) return;
  for (std::int64_t i = 0; i < count(); ++i) {
    row_->slope(values_, offset(i), by_offset[i], gradient);
  }
}

template <class T>
std::vector<T> HeadBias<T>::slope_table(std::size_t parameter) const {
  std::vector<T> table;
  PartValues gradient{std::vector<double>(values_.p.size(), 0.0), values_.tensor};
  for (std::int64_t i = 0; i < count(); ++i) {
    std::fill(gradient.p.begin(), gradient.p.end(), 0.0);
    row_->slope(values_, offset(i), 1, gradient);
    table.push_back(static_cast<T>(gradient.p[parameter]));
  }
  return table;
}

template class HeadBias<float>;
template class HeadBias<double>;

}  // namespace conelab
