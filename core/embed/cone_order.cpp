#include "core/embed/cone_order.h"

#include <algorithm>
#include <cmath>

#include "core/base/names.h"

namespace conelab {
namespace {

/// Returns |a − b|² of the base coordinates of two tokens.
double squared_base(const PairModel& model, const PlacedTokens& tokens, Node u, Node v) {
  const int m = model.base_size();
  double sum = 0;
  for (int c = 0; c < m; ++c) {
    const double d = tokens.base[static_cast<std::size_t>(u * m + c)] -
                     tokens.base[static_cast<std::size_t>(v * m + c)];
    sum += d * d;
  }
  return sum;
}

}  // namespace

std::optional<ConeOrder> ConeOrder::of(const PairModel& model) {
  ConeOrder order;
  order.family_ = geometry::find_cone_family(model.row().info.name);
  if (order.family_ == nullptr) return std::nullopt;
  std::vector<std::string> keys;
  for (const ParameterInfo& info : model.row().parameters) keys.emplace_back(info.key);
  for (const ParameterInfo& info : order.family_->parameters) {
    order.index_.push_back(index_of_name("parameter", info.key, keys));
  }
  order.follow(model);
  return order;
}

void ConeOrder::follow(const PairModel& model) {
  const std::vector<double> values = model.values();
  values_.clear();
  for (const std::size_t i : index_) values_.push_back(values[i]);
}

// On the sphere the base distance is an angle: 2 asin(|a − b| / 2).
double ConeOrder::energy(const PairModel& model, const PlacedTokens& tokens, Node u, Node v) const {
  const double chord = std::sqrt(squared_base(model, tokens, u, v));
  const double base =
      family_->base == geometry::Base::plane ? chord : 2 * std::asin(std::min(1.0, chord / 2));
  return base - (shadow(tokens.place[static_cast<std::size_t>(v)].height) -
                 shadow(tokens.place[static_cast<std::size_t>(u)].height));
}

void ConeOrder::add(const PairModel& model, const PlacedTokens& tokens, Node u, Node v, double rate,
                    TokenSums& sums, ParameterSlopes& dp) const {
  const double square = squared_base(model, tokens, u, v);
  if (square > 0) {
    const double across = family_->base == geometry::Base::plane ? 1 : 1 - square / 4;
    model.add_measure(rate / (2 * std::sqrt(square * std::max(across, 1e-12))), tokens, u, sums,
                      tokens, v, sums);
  }
  for (const auto& [node, sign] : {std::pair(u, 1.0), std::pair(v, -1.0)}) {
    const EmbeddedPoint& place = tokens.place[static_cast<std::size_t>(node)];
    const double step = 1e-6 * std::min(place.height, place.light_distance);
    const double by_height =
        (shadow(place.height + step) - shadow(place.height - step)) / (2 * step);
    sums.place[static_cast<std::size_t>(node)].height += rate * sign * by_height;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      geometry::Values ends[2] = {values_, values_};
      const double by = 1e-6 * std::min(values_[k], place.light_distance);
      ends[0][k] -= by, ends[1][k] += by;
      const double by_value =
          (family_->shadow(ends[1], place.height) - family_->shadow(ends[0], place.height)) /
          (2 * by);
      dp.parameter[index_[k]] += rate * sign * by_value;
    }
  }
}

}  // namespace conelab
