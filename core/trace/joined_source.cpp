#include "core/trace/joined_source.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/statistics/rollout.h"
#include "core/trace/layers.h"

namespace conelab {
namespace {

/// How many numbers of the keys of a row can be processed within a millisecond or two.
constexpr std::int64_t most_joined_at_once = std::int64_t{1} << 18;

/// The mean or the maximum of heads; of one head alone both are the head itself.
class JoinedSource : public MatrixSource {
 public:
  JoinedSource(const MapSubject& subject, const Call& call, Map2d quantity)
      : subject_(subject), call_(call), quantity_(quantity), extents_(subject.trace->extents()) {}

  [[nodiscard]] std::int64_t rows() const override { return extents_.query; }
  [[nodiscard]] std::int64_t columns() const override { return extents_.key; }
  /// Rows of a maximum do not sum to one.
  [[nodiscard]] bool holds_weights() const override {
    return quantity_ == Map2d::weights && subject_.join != "maximum";
  }

  void prepare(const Execution& execution) override {
    const auto& all = heads();
    const double step = 1 / static_cast<double>(all.size());
    double begin = 0;
    for (const auto& head : all) {
      head->prepare(stage(execution, begin, begin + step));
      begin += step;
    }
  }

  void cells(const CellRange& range, float* out) const override {
    const auto count = static_cast<std::size_t>(range.rows() * range.columns());
    HeadJoin<float> join = joined<float>(count);
    std::vector<float> part(count);
    for (const auto& head : heads()) {
      head->cells(range, part.data());
      join.add(part.data());
    }
    const std::vector<float> all = join.result();
    std::copy(all.begin(), all.end(), out);
  }

  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    const auto& all = heads();
    {
      const std::lock_guard lock(mutex_);
      if (row_ == row) return exact_[static_cast<std::size_t>(column)];
    }
    HeadJoin<double> join = joined<double>(static_cast<std::size_t>(columns()));
    std::vector<double> part(static_cast<std::size_t>(columns()));
    for (const auto& head : all) {
      for (std::int64_t c = 0; c < columns(); ++c) {
        part[static_cast<std::size_t>(c)] = head->exact(row, c);
      }
      join.add(part.data());
    }
    const std::lock_guard lock(mutex_);
    row_ = row;
    exact_ = join.result();
    return exact_[static_cast<std::size_t>(column)];
  }

  [[nodiscard]] bool exact_is_quick(std::int64_t row) const override {
    if (!made_) return false;
    const std::lock_guard lock(mutex_);
    const std::int64_t heads = subject_.join == "one" ? 1 : extents_.head;
    return row_ == row || heads * columns() * extents_.feature <= most_joined_at_once;
  }

  [[nodiscard]] std::vector<float> sample(std::int64_t stride) const override {
    std::optional<HeadJoin<float>> join;
    for (const auto& head : heads()) {
      const std::vector<float> part = head->sample(stride);
      if (part.empty()) return {};
      if (!join) join.emplace(joined<float>(part.size()));
      join->add(part.data());
    }
    return join ? join->result() : std::vector<float>();
  }

 private:
  using Heads = std::vector<std::shared_ptr<MatrixSource>>;

  template <class T>
  [[nodiscard]] HeadJoin<T> joined(std::size_t count) const {
    return {count, subject_.join != "maximum", quantity_ == Map2d::weights};
  }

  const Heads& heads() const {
    const std::lock_guard lock(making_);
    if (made_) return heads_;
    const bool one = subject_.join == "one";
    Heads all;
    for (std::int64_t h = one ? subject_.head : 0; h < (one ? subject_.head + 1 : extents_.head);
         ++h) {
      all.push_back(
          attention_source(head_input(*subject_.trace, subject_.batch, h, subject_.device),
                           call_on_head(call_, *subject_.trace, h), quantity_));
    }
    heads_ = std::move(all);
    made_ = true;
    return heads_;
  }

  MapSubject subject_;
  Call call_;
  Map2d quantity_;
  Extents extents_;
  mutable std::mutex making_, mutex_;
  mutable std::atomic<bool> made_{false};
  mutable Heads heads_;
  mutable std::int64_t row_ = -1;
  mutable std::vector<double> exact_;
};

class RolloutSource : public MatrixSource {
 public:
  RolloutSource(MapSubject subject, const Call& call)
      : subject_(std::move(subject)), call_(call), n_(subject_.trace->extents().query) {
    check_rollout(subject_.trace->extents());
  }

  [[nodiscard]] std::int64_t rows() const override { return n_; }
  [[nodiscard]] std::int64_t columns() const override { return n_; }
  [[nodiscard]] bool holds_weights() const override { return true; }

  void prepare(const Execution& execution) override {
    if (ready_) return;
    const auto on_head = [this](const Trace& trace, std::int64_t head) {
      return call_on_head(call_, trace, head);
    };
    matrix_ = rollout_map(*subject_.trace, layers_up_to(subject_.layers, subject_.trace->group),
                          subject_.batch, on_head, execution)
                  .values;
    ready_ = true;
  }

  void cells(const CellRange& r, float* out) const override {
    for (std::int64_t row = r.row_begin; row < r.row_end; ++row) {
      const double* from = matrix_.data() + row * n_ + r.column_begin;
      out = std::transform(from, from + r.columns(), out,
                           [](double v) { return static_cast<float>(v); });
    }
  }
  /// NaN until the matrix is prepared.
  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const override {
    return ready_ ? matrix_[static_cast<std::size_t>(row * n_ + column)]
                  : std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] bool exact_is_quick(std::int64_t) const override { return ready_; }
  [[nodiscard]] std::vector<float> sample(std::int64_t) const override { return {}; }

 private:
  MapSubject subject_;
  Call call_;
  std::int64_t n_;
  std::vector<double> matrix_;
  std::atomic<bool> ready_{false};
};

}  // namespace

std::string subject_name(const MapSubject& subject, bool whole) {
  return conelab::subject_name(subject.trace->group, subject.head, subject.join, whole);
}

std::shared_ptr<MatrixSource> subject_source(const MapSubject& subject, const Call& call,
                                             Map2d quantity) {
  if (subject.trace->stored && subject.join == "one") {  // Its name says what its cells are.
    return attention_source(head_input(*subject.trace, subject.batch, subject.head), call,
                            quantity);
  }
  if (subject.join != "rollout") return std::make_shared<JoinedSource>(subject, call, quantity);
  if (quantity != Map2d::weights) misuse("rollout is defined for weights, not for logits");
  return std::make_shared<RolloutSource>(subject, call);
}

namespace {

/// Returns [n_q × n_k] with 1 for every pair that a mask hides; empty if none is hidden.
std::vector<std::uint8_t> masked_pairs(const Plan& plan, const AttentionInput<double>& input) {
  if (plan.sees_all()) return {};
  const Mask mask = plan.mask(input);
  const Extents& e = plan.extents;
  std::vector<std::uint8_t> masked(static_cast<std::size_t>(e.query * e.key));
  mask.visible({0, 0, e.query, 0, e.key}, masked.data());
  for (std::uint8_t& pair : masked) pair = pair == 0 ? 1 : 0;
  return masked;
}

WholeMap stored_head(const StoredMap& map, std::int64_t batch, std::int64_t head, Map2d quantity) {
  const char* wanted = quantity == Map2d::logits ? "logits" : "weights";
  if (map.name != wanted) misuse("the file holds {} and no {}", map.name, wanted);
  WholeMap whole{map.rows, map.columns, {}, {}, 1};
  const std::size_t first = map.index(batch, head, 0),
                    count = static_cast<std::size_t>(map.rows * map.columns);
  std::visit(
      [&](const auto& all) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        whole.values.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      },
      map.numbers);
  for (const double value : whole.values) {
    if (quantity == Map2d::logits) whole.masked.push_back(value == -HUGE_VAL ? 1 : 0);
  }
  return whole;
}

std::shared_ptr<const Trace> layer_of(const Trace& trace, const std::string& group,
                                      const Execution& execution) {
  auto layer = load_trace(trace.file, group, execution.cancelled, trace.arrays);
  const Extents own = trace.extents(), e = layer->extents();
  if (e.query != own.query || e.key != own.key) {
    fail("rollout: {} has {} queries and {} keys, {} has {}", layer_name(group), e.query, e.key,
         layer_name(trace.group), own.query);
  }
  return layer;
}

}  // namespace

WholeMap map_of_head(const Trace& trace, std::int64_t batch, std::int64_t head,
                     const Call& call_of_head, Map2d quantity, const Execution& execution) {
  if (trace.stored) {
    (void)head_input(trace, batch, head);  // It checks the indices.
    return stored_head(*trace.stored, batch, head, quantity);
  }
  const PairCall<double> pairs = pair_call(call_of_head, head_input(trace, batch, head)->exact);
  const Extents& e = pairs.plan->extents;
  check_input(*pairs.plan, pairs.input);
  WholeMap map{e.query, e.key, std::vector<double>(static_cast<std::size_t>(e.query * e.key)),
               masked_pairs(*pairs.plan, pairs.input), e.head};
  Forward<double> saved;
  if (quantity == Map2d::weights) saved = forward(*pairs.plan, pairs.input, execution);
  PairMap<double>(*pairs.plan, pairs.input)
      .tile(quantity, &saved, {0, 0, 0, e.query, 0, e.key}, map.values.data(), execution);
  return map;
}

WholeMap joined_map(const Trace& trace, std::int64_t batch, const CallOnHead& call, bool mean,
                    Map2d quantity, const Execution& execution) {
  WholeMap all;
  std::optional<HeadJoin<double>> join;
  for (std::int64_t head = 0; head < trace.extents().head; ++head) {
    WholeMap one = map_of_head(trace, batch, head, call(trace, head), quantity, quiet(execution));
    for (std::size_t i = 0; i < one.masked.size(); ++i) {
      if (one.masked[i] != 0) one.values[i] = -HUGE_VAL;
    }
    if (!join) {
      join.emplace(one.values.size(), mean, quantity == Map2d::weights);
      all = one;
    }
    if (one.values.size() != all.values.size()) {
      misuse("the maps of the heads differ in size and cannot be joined");
    }
    join->add(one.values.data());
  }
  all.values = join->result();
  all.masked.assign(all.values.size(), 0);
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    if (all.values[i] == -HUGE_VAL) all.masked[i] = 1, all.values[i] = 0;
  }
  return all;
}

void check_rollout(const Extents& e) {
  if (e.query == e.key && e.query <= most_rollout_tokens) return;
  misuse("rollout needs as many queries as keys, at most {} (found {} and {})", most_rollout_tokens,
         e.query, e.key);
}

WholeMap rollout_map(const Trace& trace, const std::vector<std::string>& groups, std::int64_t batch,
                     const CallOnHead& call, const Execution& execution) {
  check_rollout(trace.extents());
  Rollout rollout(static_cast<std::size_t>(trace.extents().query));
  WholeMap map;
  double begin = 0;
  for (const std::string& group : groups) {
    const double end = begin + 1 / static_cast<double>(groups.size());
    const auto other = group == trace.group ? nullptr : layer_of(trace, group, execution);
    map = joined_map(other ? *other : trace, batch, call, true, Map2d::weights, execution);
    rollout.add_layer(map.values, stage(execution, begin, end));
    begin = end;
  }
  map.values = rollout.matrix();
  map.masked.clear();
  return map;
}

}  // namespace conelab
