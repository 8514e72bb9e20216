// How logits become weights, and weights and values an output: the rows of two short tables.
//
//   softmax   weight_ij = exp(logit_ij) / sum_j exp(logit_ij)
//   sigmoid   weight_ij = 1 / (1 + exp(-logit_ij)), each pair by itself
//
//   mean      output_i = sum_j weight_ij v_j
//   einstein  output_i = sum_j weight_ij g_j v_j / sum_j weight_ij g_j, g(v) = 1 / sqrt(1 - |v|^2),
//             values in Klein coordinates (Gulcehre et al. eq. 3)
#pragma once

#include <span>
#include <string>

namespace conelab {

enum class WeightLaw { softmax, sigmoid };
constexpr int weight_laws = 2;
enum class Aggregate { mean, einstein };
/// Whether values become (g v, g), and their sums are divided by that of g.
constexpr bool is_midpoint(Aggregate aggregate) { return aggregate == Aggregate::einstein; }

struct WeightRow {
  const char* name;
  const char* about;
  WeightLaw law;
};
struct AggregateRow {
  const char* name;
  const char* about;
  Aggregate aggregate;
};

inline constexpr WeightRow weight_rows[] = {
    {"softmax", "exp(logit), normalised over the keys that a query sees", WeightLaw::softmax},
    {"sigmoid", "1 / (1 + exp(-logit)), each pair by itself", WeightLaw::sigmoid}};
inline constexpr AggregateRow aggregate_rows[] = {
    {"mean", "the sum of weighted values", Aggregate::mean},
    {"einstein", "the Einstein midpoint of the values in the Klein ball (Gulcehre et al. eq. 3)",
     Aggregate::einstein}};

}  // namespace conelab
