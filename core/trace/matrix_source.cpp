#include "core/trace/matrix_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/operators/operator.h"
#include "core/tiles/row_weights.h"

namespace conelab {
namespace {

/// How many numbers of the keys of a row can be processed within a millisecond or two.
constexpr std::int64_t most_at_once = std::int64_t{1} << 18;

/// Returns a view of every stride-th token.
StridedTensor4<float> thinned(const StridedTensor4<float>& all, std::int64_t stride) {
  const TokenRows<const float> rows = all.tokens(0, 0);
  return {rows.data,
          {1, 1, (rows.count + stride - 1) / stride, rows.columns},
          {0, 0, rows.stride * stride}};
}

class AttentionSource : public MatrixSource {
 public:
  AttentionSource(std::shared_ptr<const HeadInput> input, const Call& call, Map2d quantity)
      : input_(std::move(input)), quantity_(quantity) {
    plan_ = resolve(call, check_extents(input_->fast));
    const bool own = plan_->inner || draws_tensors(call);
    if (!own && is_attention(call)) return;
    auto mapped = std::make_shared<HeadInput>();
    mapped->device = input_->device;
    PairCall<double> exact = pair_call(call, input_->exact);
    mapped->exact = std::move(exact.input);
    mapped->fast = convert<float>(mapped->exact);
    plan_ = exact.plan;
    input_ = std::move(mapped);
  }

  [[nodiscard]] std::int64_t rows() const override { return plan_->extents.query; }
  [[nodiscard]] std::int64_t columns() const override { return plan_->extents.key; }
  [[nodiscard]] bool holds_weights() const override { return quantity_ == Map2d::weights; }

  void prepare(const Execution& execution) override {
    if (!holds_weights()) return;
    const bool on_cpu = input_->device == nullptr || plan_->cpu_part() != nullptr;
    saved_ = on_cpu ? forward(*plan_, input_->fast, execution) : forward_on_device(execution);
  }

  void cells(const CellRange& r, float* out) const override {
    PairMap<float>(*plan_, input_->fast)
        .tile(quantity_, &saved_, {0, 0, r.row_begin, r.row_end, r.column_begin, r.column_end},
              out);
    mark_masked(r, out);
  }

  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    const Mask mask = plan_->mask(input_->exact);
    if (!mask.admits(0, row, column)) return -std::numeric_limits<double>::infinity();
    return (*exact_row(row))[static_cast<std::size_t>(column)];
  }

  [[nodiscard]] bool exact_is_quick(std::int64_t row) const override {
    const std::lock_guard lock(mutex_);
    return row_ == row || columns() * plan_->extents.feature <= most_at_once;
  }

  [[nodiscard]] std::vector<float> sample(std::int64_t stride) const override {
    // A bias depends on the original positions, and so do logits that are given. A sink counts once
    // beside any number of keys.
    if (plan_->bias != nullptr && std::string_view(plan_->bias->name) != "none") return {};
    if (!plan_->sinks.empty() || plan_->weights == WeightLaw::softmax_over_queries) return {};
    for (const PlannedMask& mask : plan_->masks) {
      const std::string_view name = mask.row->name;
      if (name != "causal" && name != "full") return {};
    }
    AttentionInput<float> thin;
    thin.query = thinned(input_->fast.query, stride);
    thin.key = thinned(input_->fast.key, stride);
    thin.value = thinned(input_->fast.value, stride);
    const auto plan = resolve(call_of_head(plan_->call, plan_->extents, 0), check_extents(thin));
    std::vector<float> out = attention_map(*plan, thin, Map2d::logits).data;
    const std::int64_t count = thin.key.shape.token;
    for (std::int64_t r = 0; holds_weights() && r < thin.query.shape.token; ++r) {
      float* row = out.data() + r * count;
      RowWeights<float> law = row_weights(plan_->weights, row, count);
      // Estimated from every stride-th column.
      if (law.law == WeightLaw::softmax) law.scale /= static_cast<float>(stride);
      std::transform(row, row + count, row,
                     [&](float cell) { return is_masked(cell) ? cell : law.of(cell); });
    }
    return out;
  }

 private:
  /// Serialises calls, because a device is not shared by several of them.
  [[nodiscard]] Forward<float> forward_on_device(const Execution& execution) const {
    static std::mutex one_call;
    const std::lock_guard lock(one_call);
    return input_->device->prepare(*plan_, input_->fast, Dtype::f32, execution)->forward();
  }

  void mark_masked(const CellRange& r, float* out) const {
    if (plan_->sees_all()) return;
    const Mask mask = plan_->mask(input_->fast);
    const MaskTile tile{0, r.row_begin, r.row_end, r.column_begin, r.column_end};
    if (mask.cover(tile) == Cover::all) return;
    std::vector<std::uint8_t> sees(static_cast<std::size_t>(r.rows() * r.columns()));
    mask.visible(tile, sees.data());
    for (std::size_t i = 0; i < sees.size(); ++i) {
      if (sees[i] == 0) out[i] = masked_cell;
    }
  }

  /// Returns a row in double, with weights normalised over this row; the last row is kept.
  std::shared_ptr<const std::vector<double>> exact_row(std::int64_t row) const {
    {
      const std::lock_guard lock(mutex_);
      if (row_ == row) return exact_row_;
    }
    auto values = std::make_shared<std::vector<double>>(static_cast<std::size_t>(columns()));
    PairMap<double>(*plan_, input_->exact)
        .tile(Map2d::logits, nullptr, {0, 0, row, row + 1, 0, columns()}, values->data());
    if (holds_weights()) weigh(*values);
    const std::lock_guard lock(mutex_);
    row_ = row;
    return exact_row_ = std::move(values);
  }

  void weigh(std::vector<double>& row) const {
    RowWeights<double> law =
        row_weights(plan_->weights, row.data(), columns(), plan_->sink(input_->exact.tensors, 0));
    for (std::size_t c = 0; c < row.size(); ++c) {
      // Of the softmax over queries, which takes all rows, at the precision of the map.
      if (!saved_.column_lse.empty()) {
        law.reference = static_cast<double>(saved_.column_lse.data[c]);
      }
      row[c] = law.of(row[c]);
    }
  }

  std::shared_ptr<const HeadInput> input_;
  std::shared_ptr<const Plan> plan_;
  Map2d quantity_;
  Forward<float> saved_;
  mutable std::mutex mutex_;
  mutable std::int64_t row_ = -1;
  mutable std::shared_ptr<const std::vector<double>> exact_row_;
};

class DifferenceSource : public MatrixSource {
 public:
  DifferenceSource(std::shared_ptr<MatrixSource> a, std::shared_ptr<MatrixSource> b)
      : a_(std::move(a)), b_(std::move(b)) {}

  [[nodiscard]] std::int64_t rows() const override { return a_->rows(); }
  [[nodiscard]] std::int64_t columns() const override { return a_->columns(); }
  [[nodiscard]] bool holds_weights() const override { return false; }
  [[nodiscard]] bool is_difference() const override { return true; }
  void prepare(const Execution& execution) override {
    a_->prepare(execution);
    b_->prepare(execution);
  }
  void cells(const CellRange& range, float* out) const override {
    std::vector<float> other(static_cast<std::size_t>(range.rows() * range.columns()));
    a_->cells(range, out);
    b_->cells(range, other.data());
    subtract(out, other);
  }
  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    const double a = a_->exact(row, column), b = b_->exact(row, column);
    return std::isinf(a) ? a : std::isinf(b) ? b : a - b;
  }
  [[nodiscard]] bool exact_is_quick(std::int64_t row) const override {
    return a_->exact_is_quick(row) && b_->exact_is_quick(row);
  }
  [[nodiscard]] std::vector<float> sample(std::int64_t stride) const override {
    std::vector<float> a = a_->sample(stride);
    const std::vector<float> b = b_->sample(stride);
    if (a.empty() || b.empty()) return {};
    subtract(a.data(), b);
    return a;
  }

 private:
  static void subtract(float* a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      a[i] = is_masked(a[i]) || is_masked(b[i]) ? masked_cell : a[i] - b[i];
    }
  }
  std::shared_ptr<MatrixSource> a_, b_;
};

}  // namespace

std::shared_ptr<MatrixSource> attention_source(std::shared_ptr<const HeadInput> input,
                                               const Call& call_of_head, Map2d quantity) {
  if (input->stored) return stored_source(input->stored, input->batch_index, input->head_index);
  return std::make_shared<AttentionSource>(std::move(input), call_of_head, quantity);
}

std::shared_ptr<MatrixSource> difference_source(std::shared_ptr<MatrixSource> a,
                                                std::shared_ptr<MatrixSource> b) {
  if (a->rows() != b->rows() || a->columns() != b->columns()) {
    misuse("maps of {} x {} and {} x {} cells cannot be subtracted", a->rows(), a->columns(),
           b->rows(), b->columns());
  }
  return std::make_shared<DifferenceSource>(std::move(a), std::move(b));
}

namespace {

class StoredSource : public MatrixSource {
 public:
  StoredSource(std::shared_ptr<const StoredMap> map, std::int64_t batch, std::int64_t head)
      : map_(std::move(map)), begin_(map_->index(batch, head, 0)) {}

  [[nodiscard]] std::int64_t rows() const override { return map_->rows; }
  [[nodiscard]] std::int64_t columns() const override { return map_->columns; }
  [[nodiscard]] bool holds_weights() const override { return map_->name == "weights"; }
  [[nodiscard]] bool is_difference() const override { return map_->has_signs(); }
  void prepare(const Execution& /*execution*/) override {}

  void cells(const CellRange& r, float* out) const override {
    std::visit(
        [&](const auto& numbers) {
          for (std::int64_t row = r.row_begin; row < r.row_end; ++row) {
            const auto from = numbers.begin() + place(row, r.column_begin);
            out = std::transform(from, from + r.columns(), out,
                                 [](auto x) { return static_cast<float>(x); });
          }
        },
        map_->numbers);
  }

  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    return std::visit(
        [&](const auto& numbers) {
          return static_cast<double>(numbers[static_cast<std::size_t>(place(row, column))]);
        },
        map_->numbers);
  }
  [[nodiscard]] bool exact_is_quick(std::int64_t /*row*/) const override { return true; }

  [[nodiscard]] std::vector<float> sample(std::int64_t stride) const override {
    std::vector<float> out;
    for (std::int64_t row = 0; row < rows(); row += stride) {
      for (std::int64_t column = 0; column < columns(); column += stride) {
        out.push_back(static_cast<float>(exact(row, column)));
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::ptrdiff_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::ptrdiff_t>(begin_) + row * columns() + column;
  }

  std::shared_ptr<const StoredMap> map_;
  std::size_t begin_;  ///< Where the head begins in the numbers.
};

}  // namespace

std::shared_ptr<MatrixSource> stored_source(std::shared_ptr<const StoredMap> map,
                                            std::int64_t batch, std::int64_t head) {
  return std::make_shared<StoredSource>(std::move(map), batch, head);
}

}  // namespace conelab
