#include "core/tiles/merge_rows.h"

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/tiles/row_weights.h"

namespace conelab {
namespace {

struct RowSum {
  double reference, sum;

  /// Returns the logarithm of the whole sum to the exponent of 2, which is enough for a reference.
  [[nodiscard]] double rough_lse() const { return reference + std::logb(sum) * std::numbers::ln2; }
  /// Returns the sum relative to another reference.
  [[nodiscard]] double relative_to(double other) const {
    return sum == 0 || reference == other ? sum : sum * std::exp(reference - other);
  }
};

template <class T, class From>
void check_mergeable(const Plan& plan, const Forward<T>& a, const Forward<From>& b) {
  if (plan.similarity == nullptr || plan.joins_heads) {
    misuse("merge_rows joins attention of heads by themselves (found {}{})",
           operator_name(plan.call), plan.joins_heads ? " with P_output or joined heads" : "");
  }
  if (plan.weights == WeightLaw::softmax_over_queries) {
    misuse("merge_rows does not join a softmax over queries (expected axis=key)");
  }
  if (!(a.output.shape == b.output.shape) || !(a.row_sum.shape == b.row_sum.shape)) {
    fail("merge_rows: the outputs differ in size ({} and {})", to_string(a.output.shape),
         to_string(b.output.shape));
  }
}

}  // namespace

template <class T, class From>
void merge_rows(const Plan& plan, Forward<T>& rows, const Forward<From>& other) {
  check_mergeable(plan, rows, other);
  const bool midpoint = is_midpoint(plan.aggregate);
  const bool averages = scale_law(plan.weights, plan.aggregate) == WeightLaw::softmax;
  const std::int64_t columns = rows.output.shape.feature;
  for (std::size_t r = 0; r < rows.row_sum.data.size(); ++r) {
    const RowSum a{static_cast<double>(rows.row_reference.data[r]),
                   static_cast<double>(rows.row_sum.data[r])};
    const RowSum b{static_cast<double>(other.row_reference.data[r]),
                   static_cast<double>(other.row_sum.data[r])};
    const double reference =
        a.sum == 0 || (b.sum != 0 && b.rough_lse() > a.rough_lse()) ? b.reference : a.reference;
    const double own = a.relative_to(reference), its = b.relative_to(reference), sum = own + its;
    double left = averages ? own : 1, right = averages ? its : 1;
    if (midpoint) {
      left *= static_cast<double>(rows.midpoint_sum.data[r]);
      right *= static_cast<double>(other.midpoint_sum.data[r]);
      rows.midpoint_sum.data[r] = static_cast<T>(sum == 0 ? 0 : (left + right) / sum);
    }
    const double whole = averages ? left + right : 1;
    T* to = rows.output.data.data() + static_cast<std::int64_t>(r) * columns;
    const From* from = other.output.data.data() + static_cast<std::int64_t>(r) * columns;
    left /= whole, right /= whole;
    for (std::int64_t c = 0; c < (whole == 0 ? 0 : columns); ++c) {
      to[c] =
          static_cast<T>(left * static_cast<double>(to[c]) + right * static_cast<double>(from[c]));
    }
    rows.row_reference.data[r] = static_cast<T>(sum == 0 ? 0 : reference);
    rows.row_sum.data[r] = static_cast<T>(sum);
    rows.lse.data[r] = static_cast<T>(reference + std::log(sum));
  }
}
template void merge_rows(const Plan&, Forward<float>&, const Forward<float>&);
template void merge_rows(const Plan&, Forward<double>&, const Forward<double>&);
template void merge_rows(const Plan&, Forward<double>&, const Forward<float>&);

}  // namespace conelab
