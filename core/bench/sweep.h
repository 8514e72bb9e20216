// What a benchmark measures: the product of the labels on every axis, and how it is measured.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/bench/axes.h"

namespace conelab {

struct Sweep {
  /// Every axis with its initial labels.
  Sweep();

  std::int64_t batch = 1;
  /// Nine, because the sign test on nine rounds covers 96.1 %, on eight 99.2 % (wider for nothing).
  int rounds = 9;
  int controls = 4;  ///< A/A: at most so many cases, of the shorter lengths, are measured twice.
  std::uint64_t seed = 1;
  double time_limit = 600;  ///< Seconds that one sample may take before its worker is ended.
  bool cold = true;         ///< Also time one run with flushed caches per round.

  /// The labels on an axis; by name, throws misuse where no axis has it.
  [[nodiscard]] Labels& operator[](const Axis& axis) { return labels_[index_of(axis)]; }
  [[nodiscard]] const Labels& operator[](const Axis& axis) const { return labels_[index_of(axis)]; }
  [[nodiscard]] Labels& operator[](std::string_view axis) { return (*this)[axis_named(axis)]; }
  [[nodiscard]] const Labels& operator[](std::string_view axis) const {
    return (*this)[axis_named(axis)];
  }
  /// The labels of a numeric axis as numbers.
  [[nodiscard]] std::vector<std::int64_t> numbers(const Axis& axis) const;

  /// All cases, in row-major order of the axes. A case of a finished list stays where it is: a part
  /// of a sweep is a selection of these cases.
  [[nodiscard]] std::vector<Case> cases() const;
  /// Name and value of everything that decides what is measured, in a fixed order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> items() const;

 private:
  std::vector<Labels> labels_;  ///< [axis]
};

/// The sweep that has these items; other names are ignored, and what is missing keeps its default.
/// Throws misuse for a value that cannot be read.
[[nodiscard]] Sweep sweep_of_items(const std::vector<std::pair<std::string, std::string>>& items);

/// Throws misuse where an axis is empty or repeats a label, a name is unknown, or a number is out
/// of its range.
void check_sweep(const Sweep& sweep, const std::vector<std::string>& known_operators);

}  // namespace conelab
