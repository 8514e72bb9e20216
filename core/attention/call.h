// One attention call as data: which parts, with which parameters.
//
//   map -> similarity -> bias -> mask -> weights -> aggregate
//
// Each part is chosen by name and varies independently. A `Call` is what a user writes; `resolve`
// checks it against the tables of parts and turns it into a `Plan` that the engine runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace conelab {

/// The parts of a call by name, as in `conelab attend`.
struct Call {
  std::string similarity = "penumbral";
  std::string map;                            ///< Empty: the similarity's own map.
  std::string bias = "none";                  ///< none | alibi | hype
  std::vector<std::string> masks = {"full"};  ///< Intersected: {"causal", "padding"} is both.
  std::string weights = "softmax";            ///< softmax | sigmoid
  std::string aggregate = "mean";             ///< mean | einstein
  /// `-p KEY=VALUE`, as text: a number, a list of numbers (one per head) or a word.
  std::map<std::string, std::string> parameters;

  bool operator==(const Call&) const = default;
};

/// What a parameter's value may be.
enum class Domain { any, positive, non_negative, choice };

/// A parameter that some part takes.
struct ParameterInfo {
  const char* key;  ///< Lower case, the paper's word: "gamma", "height".
  double initial;   ///< Default; NaN where it depends on the input (see `about`).
  Domain domain;
  bool differentiable;
  const char* about;         ///< One line with the unit and the paper.
  const char* choices = "";  ///< For Domain::choice: "paper|reference", the default first.
};

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
