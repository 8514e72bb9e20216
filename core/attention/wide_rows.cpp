#include "core/attention/wide_rows.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/attention/plan.h"
#include "core/base/finite.h"
#include "core/simd/kernels.h"

namespace conelab {
namespace {

/// A row of the result.
struct Row {
  std::int64_t batch, head, query;
};

/// Looks for the rows of a forward pass that are lost, though all that they see is finite.
template <class S>
class LostRows {
 public:
  LostRows(const Plan& plan, const AttentionInput<S>& input)
      : input_(input), mask_(plan.mask(input)) {}

  std::vector<Row> find(const Plan& plan, const Forward<S>& result) {
    std::vector<Row> found;
    for (std::int64_t b = 0; b < plan.extents.batch; ++b) {
      for (std::int64_t h = 0; h < plan.extents.head; ++h) {
        bad_keys_.reset();
        for (std::int64_t i = 0; i < plan.extents.query; ++i) {
          const Compute<S> lse = *result.lse.row(b, h, i);
          // A sigmoid of -inf is 0, as it is of -1000.
          if (std::isfinite(lse) || (plan.sigmoid && !std::isnan(lse))) continue;
          if (ought_to_be_finite({b, h, i})) found.push_back({b, h, i});
        }
      }
    }
    return found;
  }

 private:
  const AttentionInput<S>& input_;
  Mask mask_;
  std::optional<std::vector<std::int64_t>> bad_keys_;  ///< Of the head at hand, once looked for.

  bool ought_to_be_finite(const Row& row) {
    const std::int64_t feature = input_.query.shape.feature;
    const KeyRange range = mask_.range(row.batch, row.query);
    const auto sees = [&](std::int64_t key) { return mask_.admits(row.batch, row.query, key); };
    std::int64_t first = range.begin;
    while (first < range.end && !sees(first)) ++first;
    return first < range.end &&
           all_finite(input_.query.row(row.batch, row.head, row.query), feature) &&
           std::none_of(bad_keys(row).begin(), bad_keys(row).end(), sees);
  }

  const std::vector<std::int64_t>& bad_keys(const Row& row) {
    if (!bad_keys_) {
      bad_keys_.emplace();
      for (std::int64_t j = 0; j < input_.key.shape.token; ++j) {
        if (!all_finite(input_.key.row(row.batch, row.head, j), input_.key.shape.feature))
          bad_keys_->push_back(j);
      }
    }
    return *bad_keys_;
  }
};

/// The best target for doubles where the one that was asked for has none.
Execution for_doubles(const Execution& execution) {
  Execution wide = execution;
  wide.progress = {};
  const std::vector<std::string> targets = simd_targets<double>();
  if (std::find(targets.begin(), targets.end(), wide.simd) == targets.end()) wide.simd.clear();
  return wide;
}

}  // namespace

template <class S>
void mend_wide_rows(const Plan& plan, const AttentionInput<S>& input, const Execution& execution,
                    Forward<S>& result) {
  using T = Compute<S>;
  const std::vector<Row> rows = LostRows<S>(plan, input).find(plan, result);
  if (rows.empty()) return;
  if constexpr (std::is_same_v<S, double>) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [b, h, i] : rows) {
      std::fill_n(result.output.row(b, h, i), plan.extents.value, none);
      *result.lse.row(b, h, i) = *result.row_sum.row(b, h, i) = none;
    }
  } else {
    const Forward<double> wide = forward(plan, convert<double>(input), for_doubles(execution));
    for (const auto& [b, h, i] : rows) {
      std::transform(wide.output.row(b, h, i), wide.output.row(b, h, i) + plan.extents.value,
                     result.output.row(b, h, i), [](double x) { return static_cast<S>(x); });
      *result.lse.row(b, h, i) = static_cast<T>(*wide.lse.row(b, h, i));
      *result.row_reference.row(b, h, i) = 0;
      *result.row_sum.row(b, h, i) = wide_row_sum<T>;
      if (plan.einstein) {
        *result.midpoint_sum.row(b, h, i) = static_cast<T>(*wide.midpoint_sum.row(b, h, i));
      }
    }
  }
}

template <class S>
bool has_wide_rows(const Forward<S>& saved) {
  if constexpr (std::is_same_v<S, double>) return false;
  return std::find(saved.row_sum.data.begin(), saved.row_sum.data.end(),
                   wide_row_sum<Compute<S>>) != saved.row_sum.data.end();
}

template <class S>
void mend_wide_gradients(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                         const Execution& execution, Backward<S>& result) {
  if (!has_wide_rows(saved)) return;
  const AttentionInput<double> wide = convert<double>(input);
  const Execution run = for_doubles(execution);
  Backward<double> mended = backward(plan, wide, forward(plan, wide, run), run);
  result.key = convert<S>(mended.key);
  result.value = convert<S>(mended.value);
  result.parameters = std::move(mended.parameters);
  const std::int64_t d = plan.extents.feature;
  for (std::size_t i = 0; i < saved.row_sum.data.size(); ++i) {
    if (saved.row_sum.data[i] != wide_row_sum<Compute<S>>) continue;
    const auto first = static_cast<std::ptrdiff_t>(i) * d;
    std::transform(mended.query.data.begin() + first, mended.query.data.begin() + first + d,
                   result.query.data.begin() + first, [](double x) { return static_cast<S>(x); });
  }
}

#define CONELAB_WIDE_ROWS(S)                                                                  \
  template void mend_wide_rows(const Plan&, const AttentionInput<S>&, const Execution&,       \
                               Forward<S>&);                                                  \
  template bool has_wide_rows(const Forward<S>&);                                             \
  template void mend_wide_gradients(const Plan&, const AttentionInput<S>&, const Forward<S>&, \
                                    const Execution&, Backward<S>&);
CONELAB_WIDE_ROWS(double)
CONELAB_WIDE_ROWS(float)
CONELAB_WIDE_ROWS(Float16)
CONELAB_WIDE_ROWS(Bfloat16)

}  // namespace conelab
