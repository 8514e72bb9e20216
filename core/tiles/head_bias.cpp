#include "core/tiles/head_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/tiles/tile_size.h"

namespace conelab {
namespace {

/// Returns the parameters of one axis in the form that a row's functions take.
PartValues along_axis(PartValues values, std::size_t axis) {
  for (std::size_t k = 0; k < values.p.size(); ++k) {
    if (!values.tensor[k].empty()) values.p[k] = values.tensor[k][axis];
  }
  return values;
}

}  // namespace

RelativeRows::RelativeRows(const BiasRow& row, const Extents& extents, const PartValues& values)
    : queries_(extents.query) {
  const std::int64_t first = extents.slice().offset(extents.query - 1, 0);
  const std::int64_t count = std::max<std::int64_t>(0, extents.query + extents.key - 1);
  for (std::int64_t at = 0; at < count; ++at) {
    const auto c = static_cast<std::int64_t>(row.place(values, static_cast<double>(first + at)));
    if (runs_.empty()) runs_.push_back({at, c, 0});
    Run& run = runs_.back();
    const std::int64_t step = c - run.row;
    if (at == run.first + 1 && (step == 0 || step == 1)) run.step = step;
    if (c != run.row + run.step * (at - run.first)) runs_.push_back({at, c, 0});
  }
  runs_.push_back({count, 0, 0});
}

std::vector<int> RelativeRows::all() const {
  std::vector<int> rows;
  for (std::size_t i = 0; i + 1 < runs_.size(); ++i) {
    for (std::int64_t at = 0; at < runs_[i + 1].first - runs_[i].first; ++at) {
      rows.push_back(static_cast<int>(runs_[i].row + runs_[i].step * at));
    }
  }
  return rows;
}

template <class T>
HeadBias<T>::HeadBias(const Plan& plan, const PartValues& values, const PairNumbers& pairs)
    : row_(plan.bias),
      pairs_(pairs),
      extents_(plan.extents),
      slice_(plan.extents.slice()),
      has_gradient_(pairs.has_gradient()) {
  if (values.p.empty() || of_pairs()) return;
  if (row_->place != nullptr) {
    rows_ = RelativeRows(*row_, extents_, values);
    const auto& keys = values.tensor[static_cast<std::size_t>(RelativePositions::keys)];
    row_count_ = std::ssize(keys) / (of_queries() ? extents_.feature : 1);
    if (keys.empty()) row_count_ = PositionValues<T>(plan, values).count();
  }
  if (of_queries()) {
    position_keys_ = values.tensor[static_cast<std::size_t>(RelativePositions::keys)];
    has_gradient_ = !position_keys_.empty();
    return;
  }
  for (const std::size_t i : plan.bias_parameters) {
    has_gradient_ |= plan.parameters[i].info.differentiable;
  }
  const Extents& e = extents_;
  const std::vector<std::int64_t> sides = plan.grid();
  std::ptrdiff_t first = 0;
  for (std::size_t a = 0; a < sides.size(); ++a) {
    const std::int64_t count = 2 * sides[a] - 1;
    axes_.push_back({along_axis(values, a), first, count, sides[a] - 1});
    first += count;
  }
  if (sides.empty()) {
    const std::int64_t offsets = std::max<std::int64_t>(0, e.query + e.key - 1);
    axes_.push_back({values, 0, offsets, -slice_.offset(e.query - 1, 0)});
    first = axes_.front().count + 1 + 2 * forward_keys<T>;  // Padding for the width of a tile.
  } else {
    place_keys(sides);
  }
  table_.assign(static_cast<std::size_t>(first), T(0));
  tabulate(plan);
}

template <class T>
void HeadBias<T>::place_keys(const std::vector<std::int64_t>& sides) {
  coordinate_.resize(static_cast<std::size_t>(slice_.all_keys) * sides.size());
  auto* point = coordinate_.data();
  for (std::int64_t at = 0; at < slice_.all_keys; ++at, point += sides.size()) {
    std::int64_t rest = at;
    for (std::size_t a = sides.size(); a-- > 0; rest /= sides[a]) {
      point[a] = static_cast<std::int32_t>(rest % sides[a]);
    }
  }
}

template <class T>
void HeadBias<T>::tabulate(const Plan& plan) {
  const double largest =
      static_cast<double>(std::numeric_limits<T>::max()) / static_cast<double>(axes_.size());
  for (const Axis& axis : axes_) {
    for (std::int64_t i = 0; i < axis.count; ++i) {
      const auto offset = static_cast<double>(i - axis.zero);
      const double value = row_->value(axis.values, offset);
      table_[static_cast<std::size_t>(axis.first + i)] = static_cast<T>(value);
      if (std::abs(value) <= largest) continue;
      std::string given;
      for (std::size_t k = 0; k < axis.values.p.size(); ++k) {
        const ParameterInfo& info = plan.parameters[plan.bias_parameters[k]].info;
        if (!info.differentiable) continue;
        given += fmt::format("{}{} = {}", given.empty() ? "" : ", ", info.key, axis.values.p[k]);
      }
      misuse("bias {} overflows {} positions apart (found {}; the largest number is {})",
             plan.call.bias, std::abs(offset), given, largest);
    }
  }
}

template <class T>
template <class S>
void HeadBias<T>::take_queries(const Kernels<T>& kernels, const TokenRows<const S>& queries,
                               double scale) {
  if (position_keys_.empty()) return;
  scale_ = scale;
  const auto d = static_cast<std::size_t>(extents_.feature);
  const std::vector<T> keys(position_keys_.begin(), position_keys_.end());
  std::vector<T> query(d);
  table_.resize(sums());
  T* out = table_.data();
  for (std::int64_t i = 0; i < queries.count; ++i) {
    std::copy_n(queries.row(i), d, query.begin());
    for (std::size_t at = 0; at < keys.size(); at += d) {
      *out++ = static_cast<T>(
          scale * kernels.exact_product(query.data(), keys.data() + at, static_cast<int>(d)));
    }
  }
}

template <class T>
void HeadBias<T>::fill(std::int64_t query, std::int64_t key, std::int64_t count, T* out) const {
  if (of_pairs()) return pairs_.read(query, key, count, out);
  if (of_queries()) {
    return rows_.spread(query, key, count, table_.data() + query * row_count_, out);
  }
  if (is_one_table()) {
    std::copy_n(table_.data() + index(query, key), count, out);
    return;
  }
  std::fill_n(out, count, T(0));
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const T* table =
        table_.data() + axes_[a].first + axes_[a].zero - point(slice_.of_query(query))[a];
    for (std::int64_t c = 0; c < count; ++c) out[c] += table[point(slice_.of_key(key + c))[a]];
  }
}

template <class T>
std::size_t HeadBias<T>::sums() const {
  if (!position_keys_.empty()) return static_cast<std::size_t>(extents_.query * row_count_);
  return axes_.empty() ? 0 : static_cast<std::size_t>(axes_.back().first + axes_.back().count);
}

template <class T>
void HeadBias<T>::add(const Kernels<T>& kernels, std::int64_t query, std::int64_t key,
                      std::int64_t count, const T* logit_slope, double* by_offset) const {
  if (of_queries()) {
    return rows_.gather(query, key, count, logit_slope, by_offset + query * row_count_);
  }
  if (is_one_table()) {
    return kernels.add_to_sums(logit_slope, count, by_offset + index(query, key));
  }
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    double* to = by_offset + axes_[a].first + axes_[a].zero - point(slice_.of_query(query))[a];
    for (std::int64_t c = 0; c < count; ++c) {
      to[point(slice_.of_key(key + c))[a]] += static_cast<double>(logit_slope[c]);
    }
  }
}

template <class T>
void HeadBias<T>::collect(const double* by_offset, PartValues& gradient) const {
  if (!has_gradient_ || of_queries()) return;
  const auto collect_axis = [&](const Axis& axis, PartValues& to) {
    for (std::int64_t i = 0; i < axis.count; ++i) {
      row_->slope(axis.values, static_cast<double>(i - axis.zero), by_offset[axis.first + i], to);
    }
  };
  if (is_one_table()) return collect_axis(axes_.front(), gradient);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    PartValues own{std::vector<double>(gradient.p.size(), 0.0), {}};
    collect_axis(axes_[a], own);
    for (std::size_t k = 0; k < own.p.size(); ++k) {
      if (!gradient.tensor[k].empty()) gradient.tensor[k][a] += own.p[k];
    }
  }
}

template <class T>
template <class S>
double HeadBias<T>::collect_queries(const double* by_offset, const TokenRows<const S>& queries,
                                    const TokenRows<S>& query_grad, PartValues& gradient) const {
  if (position_keys_.empty()) return 0;
  const auto d = static_cast<std::size_t>(extents_.feature);
  std::vector<double>& key_grad =
      gradient.tensor[static_cast<std::size_t>(RelativePositions::keys)];
  std::vector<double> unscaled(d);  // dL/dq divided by the scale.
  double by_scale = 0;
  for (std::int64_t i = 0; i < queries.count; ++i) {
    const S* query = queries.row(i);
    S* dq = query_grad.row(i);
    std::fill(unscaled.begin(), unscaled.end(), 0.0);
    for (std::size_t at = 0; at < position_keys_.size(); at += d) {
      const double slope = *by_offset++;
      if (slope == 0) continue;
      for (std::size_t x = 0; x < d; ++x) {
        unscaled[x] += slope * position_keys_[at + x];
        key_grad[at + x] += scale_ * slope * static_cast<double>(query[x]);
      }
    }
    for (std::size_t x = 0; x < d; ++x) {
      by_scale += unscaled[x] * static_cast<double>(query[x]);
      dq[x] = static_cast<S>(static_cast<double>(dq[x]) + scale_ * unscaled[x]);
    }
  }
  return by_scale;
}

template <class T>
std::vector<T> HeadBias<T>::slope_table(std::size_t parameter, std::size_t axis) const {
  const Axis& own = axes_[axis];
  std::vector<T> table(sums(), T(0));
  PartValues gradient{std::vector<double>(own.values.p.size(), 0.0), own.values.tensor};
  for (std::int64_t i = 0; i < own.count; ++i) {
    std::fill(gradient.p.begin(), gradient.p.end(), 0.0);
    row_->slope(own.values, static_cast<double>(i - own.zero), 1, gradient);
    table[static_cast<std::size_t>(own.first + i)] = static_cast<T>(gradient.p[parameter]);
  }
  return table;
}

template <class T>
void HeadBias<T>::places(std::vector<int>& query_place, std::vector<int>& key_place) const {
  for (std::int64_t j = 0; j < extents_.key; ++j) {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const std::int64_t own = slice_.of_key(j);
      const std::int64_t along = coordinate_.empty() ? own : point(own)[a];
      key_place.push_back(static_cast<int>(axes_[a].first + axes_[a].zero + along));
    }
  }
  for (std::int64_t i = 0; i < extents_.query; ++i) {
    const std::int64_t own = slice_.of_query(i);
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      query_place.push_back(static_cast<int>(coordinate_.empty() ? own : point(own)[a]));
    }
  }
}

#define CONELAB_QUERIES(T, S)                                                                    \
  template void HeadBias<T>::take_queries(const Kernels<T>&, const TokenRows<const S>&, double); \
  template double HeadBias<T>::collect_queries(const double*, const TokenRows<const S>&,         \
                                               const TokenRows<S>&, PartValues&) const;
template class HeadBias<float>;
template class HeadBias<double>;
CONELAB_QUERIES(float, float)
CONELAB_QUERIES(float, Float16)
CONELAB_QUERIES(float, Bfloat16)
CONELAB_QUERIES(double, double)

}  // namespace conelab
