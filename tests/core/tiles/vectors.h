// The known answers of tests/vectors; the format is described there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/operators/operator.h"

namespace conelab::tests {

struct KnownAnswer {
  std::string file;  ///< Without folder and ending.
  std::string name;
  Call call;
  AttentionInput<double>
      input;                 ///< One batch element, one head; v is zeros of d_v = 1 if not given.
  double tolerance = 1e-12;  ///< Relative to max(1, |answer|).
  /// "logits", "weights_are", "output" or "lse" -> rows.
  std::map<std::string, Tensor4<double>> answers;
  /// Gradients of the sum of outputs, by the name of a tensor.
  std::map<std::string, Tensor4<double>> gradients;
  std::optional<double> determinant;  ///< Of the Jacobian d output / d q.
};

/// Every case of every file, sorted by file. Throws where a line cannot be read.
[[nodiscard]] const std::vector<KnownAnswer>& known_answers();

}  // namespace conelab::tests
