// What a part of an operator can be told: its parameters' names, domains and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conelab {

/// What a parameter's value may be. Moderate: from 1e-15 to 1e15, where squares and their
/// reciprocals are numbers in every type.
enum class Domain { any, positive, moderate, non_negative, choice };
constexpr double least_moderate = 1e-15, most_moderate = 1e15;

/// A parameter that some part takes.
struct ParameterInfo {
  const char* key;  ///< Lower case, the paper's word: "gamma", "height".
  double initial;   ///< Default; NaN where it depends on the input (see `about`).
  Domain domain;
  bool differentiable;
  const char* about;         ///< One line with the unit and the paper.
  const char* choices = "";  ///< For Domain::choice: "paper|reference", the default first.
};

/// Misuse, naming the parameter and the value, for what lies outside its domain or is not finite.
void check_domain(const ParameterInfo& info, double value);

/// A numeric parameter with its values filled in.
struct Parameter {
  ParameterInfo info;
  std::vector<double> values;  ///< [1] or [head].
  [[nodiscard]] double at(std::int64_t head) const {
    return values.size() == 1 ? values.front() : values[static_cast<std::size_t>(head)];
  }
  [[nodiscard]] bool per_head() const { return values.size() > 1; }
};

}  // namespace conelab
