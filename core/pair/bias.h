// Position biases: a number added to the logit that depends on the relative position alone.
//
//   none   0
//   alibi  -m |j - i|, one slope m per head                      Press et al.
//   hype   -tau sinh(mu (j - i))                                 HyPE eq. 5; tau = -1 by default,
//          with which distant past tokens count less, as with ALiBi
//
// Positions are aligned at their ends: query i sits at key i + n_k - n_q. A bias is a table over
// all relative positions of a head, O(n), so the drivers add any of them at the same cost.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

struct BiasRow {
  const char* name;
  const char* about;
  std::span<const ParameterInfo> parameters;
  /// Bias at relative position `offset` = j - i, and its derivatives by the parameters [p].
  double (*value)(const double* p, double offset);
  void (*slope)(const double* p, double offset, double* by_parameter);
  /// Default of parameter `index` for one head, where it depends on the input.
  double (*initial)(int index, int head, int heads, long longest);
  /// Whether the bias stays finite up to this relative position, for this limit on the exponent
  /// (88.7 in float, 709.8 in double).
  bool (*finite)(const double* p, double longest, double exponent_limit);
};

[[nodiscard]] std::span<const BiasRow> bias_table();
[[nodiscard]] const BiasRow* find_bias(const std::string& name);

/// ALiBi's slope of a head: 2^(-8/n), 2^(-16/n), ... for n heads a power of two; otherwise those of
/// the next lower power, then every other one of the next higher.
[[nodiscard]] double alibi_slope(int head, int heads);

}  // namespace conelab
