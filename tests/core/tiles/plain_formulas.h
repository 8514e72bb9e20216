// The formulas of the similarities in float, written plainly and a second time: the headers of
// core/similarity are never used here. A formula has no derivative of its own; it carries those of
// its arguments along, as a tensor library does.
#pragma once

#include <array>
#include <vector>

#include "core/similarity/table.h"

namespace conelab::tests {

/// What the logit of a pair depends on. Their numbers are indices of Dual::by.
enum Variable { measure_x, query_height, query_light, key_height, key_light, variables };

/// A number with its partial derivatives.
struct Dual {
  float value = 0;
  std::array<float, variables> by{};
};

/// The measure of a pair, and height and light_distance (EmbeddedPoint) of its tokens.
using PairNumbers = std::array<float, variables>;

/// Returns the logit of a pair with its derivatives, given the parameters of a similarity.
using PlainFormula = Dual (*)(const float* p, const std::array<Dual, variables>& pair);

/// Returns the formula of a row; null if it has none.
[[nodiscard]] PlainFormula plain_formula(const SimilarityRow& row);

/// Returns the logit of a row by its own header in double, and behind it its derivatives, in the
/// order of Variable.
[[nodiscard]] std::array<double, 1 + variables> in_double(const SimilarityRow& row,
                                                          const std::vector<double>& p,
                                                          const PairNumbers& pair);

/// Evaluates a formula. For null, rounds what the row gives in double once, which asks more of the
/// kernels than a formula whose every step is rounded.
[[nodiscard]] Dual evaluate(PlainFormula formula, const SimilarityRow& row,
                            const std::vector<float>& p, const PairNumbers& pair);

}  // namespace conelab::tests
