// The tables of laws that turn logits into weights, and of aggregates that turn weights and values
// into an output.
//
//   softmax   weight_ij = exp(logit_ij) / sum_j exp(logit_ij), or with axis = query / sum_i
//   sigmoid   weight_ij = 1 / (1 + exp(-logit_ij)), for each pair alone
//   exp       weight_ij = exp(logit_ij), not normalised; infinite if it overflows
//
//   mean      output_i = sum_j weight_ij v_j
//   einstein  output_i = sum_j weight_ij g_j v_j / sum_j weight_ij g_j, g(v) = 1 / sqrt(1 - |v|^2),
//             values in Klein coordinates (Gulcehre et al. eq. 3)
#pragma once

#include <span>

#include "core/base/parameter.h"

namespace conelab {

enum class WeightLaw { softmax, softmax_over_queries, sigmoid, exponential };
enum class Aggregate { mean, einstein };
/// Returns whether values are replaced by (g v, g) and their sums are divided by that of g.
constexpr bool is_midpoint(Aggregate aggregate) { return aggregate == Aggregate::einstein; }

/// A row of weights. If it has a choice, that selects one of its laws.
struct WeightRow {
  const char* name;
  const char* about;
  const char* paper;
  std::span<const WeightLaw> laws;
  std::span<const ParameterInfo> parameters = {};
};
struct AggregateRow {
  const char* name;
  const char* about;
  const char* paper;
  Aggregate aggregate;
};

inline constexpr WeightLaw softmax_laws[] = {WeightLaw::softmax, WeightLaw::softmax_over_queries};
inline constexpr WeightLaw sigmoid_laws[] = {WeightLaw::sigmoid};
inline constexpr WeightLaw exponential_laws[] = {WeightLaw::exponential};
inline constexpr ParameterInfo softmax_parameters[] = {
    {"axis", 0, Domain::choice, false,
     "what weights sum to 1 over: the keys that a query sees, or the queries that see a key",
     "key|query"},
    {"sinks", 0, Domain::tensor, true,
     "by head, a logit that takes part in the sum over keys and has no value; the weights of a row "
     "then sum to less than 1"}};
inline constexpr WeightRow weight_rows[] = {
    {"softmax",
     "exp(logit_ij) / sum_j exp(logit_ij), over the keys j that query i sees; axis = query: / "
     "sum_i, over the queries i that see key j",
     "", softmax_laws, softmax_parameters},
    {"sigmoid", "1 / (1 + exp(-logit_ij)), each pair by itself", "", sigmoid_laws},
    {"exp", "exp(logit_ij), not normalised", "", exponential_laws}};
inline constexpr AggregateRow aggregate_rows[] = {
    {"mean", "sum_j weight_ij v_j", "", Aggregate::mean},
    {"einstein",
     "the Einstein midpoint sum_j weight_ij g_j v_j / sum_j weight_ij g_j, g = 1/sqrt(1 - |v|^2), "
     "of values in Klein coordinates",
     "Gulcehre et al. eq. 3", Aggregate::einstein}};

}  // namespace conelab
