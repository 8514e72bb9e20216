// One attention call as data: which parts, with which parameters.
//
//   map -> similarity -> bias -> mask -> weights -> aggregate
//
// Each part is chosen by name and varies independently. A `Call` is what a user writes; `resolve`
// checks it against the tables of parts and turns it into a `Plan` that the engine runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/parameter.h"

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

}  // namespace conelab
