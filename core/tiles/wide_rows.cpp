#include "core/tiles/wide_rows.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/base/finite.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"

namespace conelab {
namespace {

/// Looks for the rows of a forward pass that are lost, though all that they see is finite.
template <class S>
class LostRows {
 public:
  LostRows(const Plan& plan, const AttentionInput<S>& input)
      : plan_(plan),
        input_(input),
        mask_(plan.mask(input)),
        sees_(static_cast<std::size_t>(plan.extents.batch * plan.extents.query), unknown) {}

  std::vector<WideRow> find(const Forward<S>& result) {
    std::vector<WideRow> found;
    const Extents& e = plan_.extents;
    for (std::int64_t b = 0; b < e.batch; ++b) {
      for (std::int64_t h = 0; h < e.head; ++h) {
        bad_keys_.reset();
        for (std::int64_t i = 0; i < e.query; ++i) {
          const Compute<S> lse = *result.lse.row(b, h, i);
          // A sigmoid of -inf is 0, as it is of -1000.
          if (std::isfinite(lse) || (plan_.sigmoid && !std::isnan(lse))) continue;
          if (ought_to_be_finite(b, h, i)) found.push_back({b, h, i, 0, 0});
        }
      }
    }
    return found;
  }

 private:
  static constexpr signed char unknown = -1;
  const Plan& plan_;
  const AttentionInput<S>& input_;
  Mask mask_;
  std::vector<signed char> sees_;  ///< [batch × n_q] Whether it sees some key: of all heads alike.
  std::optional<std::vector<std::int64_t>> bad_keys_;  ///< Of the head at hand, once looked for.

  bool ought_to_be_finite(std::int64_t b, std::int64_t h, std::int64_t i) {
    if (!sees_some_key(b, i) || !all_finite(input_.query.row(b, h, i), plan_.extents.feature)) {
      return false;
    }
    const std::vector<std::int64_t>& bad = bad_keys(b, h);
    return std::none_of(bad.begin(), bad.end(),
                        [&](std::int64_t key) { return mask_.admits(b, i, key); });
  }

  bool sees_some_key(std::int64_t b, std::int64_t i) {
    signed char& sees = sees_[static_cast<std::size_t>(b * plan_.extents.query + i)];
    if (sees == unknown) {
      const KeyRange range = mask_.range(b, i);
      std::int64_t key = range.begin;
      while (mask_.has_holes() && key < range.end && mask_.is_hole(i, key)) ++key;
      sees = key < range.end ? 1 : 0;
    }
    return sees == 1;
  }

  const std::vector<std::int64_t>& bad_keys(std::int64_t b, std::int64_t h) {
    if (!bad_keys_) {
      bad_keys_.emplace();
      for (std::int64_t j = 0; j < plan_.extents.key; ++j) {
        if (!all_finite(input_.key.row(b, h, j), plan_.extents.feature)) bad_keys_->push_back(j);
      }
    }
    return *bad_keys_;
  }
};

/// The best target for doubles where the one that was asked for has none.
Execution for_doubles(const Execution& execution) {
  Execution wide = quiet(execution);
  const std::vector<std::string> targets = simd_targets<double>();
  if (std::find(targets.begin(), targets.end(), wide.simd) == targets.end()) wide.simd.clear();
  return wide;
}

/// Nothing holds the row.
template <class S>
void give_up(const Plan& plan, const WideRow& row, Forward<S>& result) {
  constexpr auto none = std::numeric_limits<Compute<S>>::quiet_NaN();
  const auto& [b, h, i, reference, sum] = row;
  std::fill_n(result.output.row(b, h, i), plan.extents.value, static_cast<S>(none));
  *result.lse.row(b, h, i) = *result.row_sum.row(b, h, i) = none;
}

/// Takes a row from float64; false where it is lost there too.
template <class S>
bool take(const Plan& plan, const Forward<double>& wide, WideRow& row, Forward<S>& result) {
  using T = Compute<S>;
  const std::int64_t b = row.batch, h = row.head, i = row.query;
  const double lse = *wide.lse.row(b, h, i);
  if (!std::isfinite(lse)) return false;
  row.reference = *wide.row_reference.row(b, h, i);
  row.sum = *wide.row_sum.row(b, h, i);
  std::transform(wide.output.row(b, h, i), wide.output.row(b, h, i) + plan.extents.value,
                 result.output.row(b, h, i), [](double x) { return static_cast<S>(x); });
  *result.lse.row(b, h, i) = narrowed<T>(lse);
  if (plan.einstein) {
    *result.midpoint_sum.row(b, h, i) = static_cast<T>(*wide.midpoint_sum.row(b, h, i));
  }
  return true;
}

/// Copies the rows of one head.
template <class S>
void copy_head(const Tensor4<double>& from, std::int64_t b, std::int64_t h, Tensor4<S>& to) {
  const std::int64_t count = from.shape.token * from.shape.feature;
  if (count == 0) return;
  std::transform(from.row(b, h, 0), from.row(b, h, 0) + count, to.row(b, h, 0),
                 [](double x) { return static_cast<S>(x); });
}

}  // namespace

template <class S>
void mend_wide_rows(const Plan& plan, const AttentionInput<S>& input, const Execution& execution,
                    Forward<S>& result) {
  std::vector<WideRow> rows = LostRows<S>(plan, input).find(result);
  if (rows.empty()) return;
  if constexpr (std::is_same_v<S, double>) {
    for (const WideRow& row : rows) give_up(plan, row, result);
  } else {
    const Forward<double> wide =
        forward_only(plan, convert<double>(input), rows, for_doubles(execution));
    for (WideRow& row : rows) {
      if (take(plan, wide, row, result)) {
        result.wide_rows.push_back(row);
      } else {
        give_up(plan, row, result);
      }
    }
  }
}

template <class S>
void mend_wide_gradients(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                         const Execution& execution, Backward<S>& result) {
  if (saved.wide_rows.empty()) return;
  const AttentionInput<double> wide = convert<double>(input);
  const Execution run = for_doubles(execution);
  Backward<double> mended = backward(plan, wide, forward(plan, wide, run), run);
  result.parameters = std::move(mended.parameters);
  std::int64_t last = -1;
  for (const auto& [b, h, i, reference, sum] : saved.wide_rows) {
    if (b * plan.extents.head + h != last) {
      copy_head(mended.key, b, h, result.key);
      copy_head(mended.value, b, h, result.value);
      last = b * plan.extents.head + h;
    }
    std::transform(mended.query.row(b, h, i), mended.query.row(b, h, i) + plan.extents.feature,
                   result.query.row(b, h, i), [](double x) { return static_cast<S>(x); });
  }
}

#define CONELAB_WIDE_ROWS(S)                                                                  \
  template void mend_wide_rows(const Plan&, const AttentionInput<S>&, const Execution&,       \
                               Forward<S>&);                                                  \
  template void mend_wide_gradients(const Plan&, const AttentionInput<S>&, const Forward<S>&, \
                                    const Execution&, Backward<S>&);
CONELAB_WIDE_ROWS(double)
CONELAB_WIDE_ROWS(float)
CONELAB_WIDE_ROWS(Float16)
CONELAB_WIDE_ROWS(Bfloat16)

}  // namespace conelab
