// A sweep: the product of the labels on every axis, and how its cases are measured.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/bench/axes.h"

namespace conelab {

struct Sweep {
  /// Every axis has its initial labels.
  Sweep();

  std::int64_t batch = 1;
  /// With nine rounds the interval of the sign test covers 96.1 %, with eight 99.2 %, which is
  /// wider than needed.
  int rounds = 9;
  /// The A/A control: at most this many cases, of shorter lengths, are measured twice.
  int controls = 4;
  std::uint64_t seed = 1;
  double time_limit = 600;  ///< Seconds that a sample may take before its worker is ended.
  bool cold = true;         ///< Whether each round also times one run with flushed caches.

  /// Returns the labels on an axis. By name, throws misuse for an unknown one.
  [[nodiscard]] Labels& operator[](const Axis& axis) { return labels_[index_of(axis)]; }
  [[nodiscard]] const Labels& operator[](const Axis& axis) const { return labels_[index_of(axis)]; }
  [[nodiscard]] Labels& operator[](std::string_view axis) { return (*this)[axis_named(axis)]; }
  [[nodiscard]] const Labels& operator[](std::string_view axis) const {
    return (*this)[axis_named(axis)];
  }
  /// Returns the labels of a numeric axis as numbers.
  [[nodiscard]] std::vector<std::int64_t> numbers(const Axis& axis) const;

  /// Returns all cases, in row-major order of the axes. Indices in this list identify a case, also
  /// for a part of a sweep.
  [[nodiscard]] std::vector<Case> cases() const;
  /// Returns name and value of everything that determines what is measured, in a fixed order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> items() const;

 private:
  std::vector<Labels> labels_;  ///< [axis]
};

/// Returns the sweep with these items. Other names are ignored; missing items keep their defaults.
/// Throws misuse for a value that cannot be parsed.
[[nodiscard]] Sweep sweep_of_items(const std::vector<std::pair<std::string, std::string>>& items);

/// Throws misuse if an axis is empty or repeats a label, if a name is unknown, or if a number is
/// out of range.
void check_sweep(const Sweep& sweep, const std::vector<std::string>& known_operators);

}  // namespace conelab
