#include "widgets/maps/map_colours.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace conelab::desktop {
namespace {

using figure::HeatScale;
using figure::Limits;

std::uint32_t packed(figure::Colour c) {
  return 0xff000000U | static_cast<std::uint32_t>(c.r) << 16 |
         static_cast<std::uint32_t>(c.g) << 8 | c.b;
}

/// Tests for zero by its bits. A graphics driver may have set the processor to treat subnormal
/// numbers as zero while drawing, but the legend counts exact zeros only.
bool is_zero(float value) { return (std::bit_cast<std::uint32_t>(value) << 1) == 0; }

/// Returns the part of the limits between the chosen percentiles; all of it if the sample is empty
/// or all its values are equal.
Limits within_percentiles(const Limits& limits, const MapSummary& summary,
                          const ColourChoice& choice) {
  if (choice.low_percentile <= 0 && choice.high_percentile >= 100) return limits;
  std::vector<float> positive;
  const std::vector<float>* sorted = &shown_sample(summary, choice.scale);
  if (choice.scale == HeatScale::log) {
    positive.assign(std::upper_bound(sorted->begin(), sorted->end(), 0.0F), sorted->end());
    sorted = &positive;
  }
  if (sorted->empty()) return limits;
  Limits within = limits;
  if (choice.low_percentile > 0) within.low = quantile(*sorted, choice.low_percentile / 100);
  if (choice.high_percentile < 100) within.high = quantile(*sorted, choice.high_percentile / 100);
  return within.low < within.high ? within : limits;
}

}  // namespace

figure::ColourMap drawn_map(const ColourChoice& choice) {
  using figure::ColourMap;
  if (!choice.diverging) return choice.map;
  const bool dark = choice.map == ColourMap::dark || choice.map == ColourMap::dark_diverging;
  return dark ? ColourMap::dark_diverging : ColourMap::diverging;
}

SpecialColours special_colours(const ColourChoice& choice) {
  if (choice.map != figure::ColourMap::dark && choice.map != figure::ColourMap::dark_diverging) {
    return {};
  }
  return {{0, 0, 0, 255}, {74, 78, 84, 255}, figure::nan_colour};
}

double quantile(const std::vector<float>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return static_cast<double>(sorted.back());
  const double part = place - static_cast<double>(below);
  return (1 - part) * static_cast<double>(sorted[below]) +
         part * static_cast<double>(sorted[below + 1]);
}

const std::vector<float>& shown_sample(const MapSummary& summary, HeatScale scale) {
  static const std::vector<float> none;
  if (scale == HeatScale::rank) return none;
  return scale == HeatScale::row_normalised ? summary.sorted_row_sample : summary.sorted_sample;
}

Limits colour_limits(const MapSummary& summary, const ColourChoice& choice) {
  if (choice.scale == HeatScale::rank) {
    return {choice.low_percentile / 100, choice.high_percentile / 100};
  }
  Limits limits = choice.scale == HeatScale::log ? summary.positive_limits : summary.limits;
  if (limits.empty()) return limits;
  if (choice.scale == HeatScale::row_normalised) {
    limits = {limits.low < 0 ? -1.0 : 0.0, limits.high > 0 ? 1.0 : 0.0};
  }
  const bool from_zero = choice.scale != HeatScale::log && choice.low_percentile <= 0;
  limits = within_percentiles(limits, summary, choice);
  if (choice.diverging) {
    const double reach = std::max(std::abs(limits.low), std::abs(limits.high));
    return {-reach, reach};
  }
  // As in figures. Otherwise a map with equal weights, one per row and all others masked, would
  // have no scale.
  if (from_zero && limits.low > 0) limits.low = 0;
  return limits;
}

MapColours::MapColours(const ColourChoice& choice, const Limits& limits, const MapSummary& summary)
    : choice_(choice), summary_(summary) {
  const figure::ColourMap map = drawn_map(choice);
  for (int i = 0; i < steps; ++i) {
    table_[static_cast<std::size_t>(i)] =
        packed(figure::colour_at(map, static_cast<double>(i) / (steps - 1)));
  }
  const SpecialColours special = special_colours(choice);
  masked_ = packed(special.masked), nan_ = packed(special.nan), zero_ = packed(special.zero);
  if (limits.empty()) return;
  const bool log = choice.scale == HeatScale::log;
  const double low = log ? std::log(limits.low) : limits.low;
  const double high = log ? std::log(limits.high) : limits.high;
  low_ = static_cast<float>(low);
  factor_ = high > low ? static_cast<float>(1 / (high - low)) : 0;
}

float MapColours::place(float value, std::int64_t row) const {
  switch (choice_.scale) {
    case HeatScale::log:
      value = std::log(value);
      break;
    case HeatScale::row_normalised: {
      const float largest = summary_.row_largest[static_cast<std::size_t>(row)];
      value = largest > 0 ? value / largest : 0;
      break;
    }
    case HeatScale::rank: {
      const auto& sorted = summary_.sorted_sample;
      const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), value);
      const auto below = static_cast<float>(from - sorted.begin() + (to - sorted.begin()));
      return sorted.empty() ? 0.5F : below / (2 * static_cast<float>(sorted.size()));
    }
    case HeatScale::linear:
      break;
  }
  if (factor_ == 0) return 0.5F;
  return std::clamp((value - low_) * factor_, 0.0F, 1.0F);
}

std::uint32_t MapColours::operator()(float value, std::int64_t row) const {
  if (is_masked(value)) return masked_;
  if (std::isnan(value)) return nan_;
  if (is_zero(value) && (choice_.zero_special || choice_.scale == HeatScale::log)) return zero_;
  const float place = this->place(value, row);
  return table_[static_cast<std::size_t>(place * (steps - 1) + 0.5F)];
}

}  // namespace conelab::desktop
