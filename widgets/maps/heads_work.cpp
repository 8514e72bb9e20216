#include "widgets/maps/heads_work.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/tree/score_input.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {
namespace {

/// The most values of a sample that are kept for ranks, and the cells that are scored at once.
constexpr std::size_t most_kept = 4096;
constexpr std::int64_t scored_at_once = std::int64_t{1} << 19;

/// One head of a layer that has been read.
class WorkHead {
 public:
  WorkHead(const HeadsWork& work, const Trace& trace, std::int64_t head)
      : work_(work),
        trace_(trace),
        head_(head),
        input_(head_input(trace, work.batch, head, work.device)) {}

  /// Returns a pyramid that has not been filled.
  [[nodiscard]] std::shared_ptr<MapPyramid> pyramid() {
    return std::make_shared<MapPyramid>(shown(), work_.largest_side);
  }

  /// Returns the scores after the pyramid was filled.
  [[nodiscard]] tree::HeadScores scores(const Execution& execution) {
    if (shown_ != weights()) weights()->prepare(execution);
    const std::int64_t rows = weights()->rows(), columns = weights()->columns();
    tree::HeadScorer scorer(
        static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
        tree::special_tokens(trace_.key_tokens(work_.batch), static_cast<std::size_t>(columns)),
        input_->stored
            ? std::vector<std::uint8_t>()
            : tree::key_ancestors(call_on_head(work_.call, trace_, head_), input_->exact));
    const std::int64_t strip = std::clamp<std::int64_t>(scored_at_once / columns, 1, rows);
    std::vector<float> cells(static_cast<std::size_t>(strip * columns));
    for (std::int64_t begin = 0; begin < rows; begin += strip) {
      if (execution.cancelled && execution.cancelled()) {
        throw Error(ErrorKind::interrupted, job_cancelled);
      }
      const std::int64_t end = std::min(rows, begin + strip);
      weights()->cells({begin, end, 0, columns}, cells.data());
      scorer.add_rows(cells.data(), static_cast<std::size_t>(end - begin));
    }
    return scorer.scores();
  }

 private:
  [[nodiscard]] const std::shared_ptr<MatrixSource>& weights() {
    if (!weights_) weights_ = source(nullptr, Map2d::weights);
    return weights_;
  }
  [[nodiscard]] const std::shared_ptr<MatrixSource>& shown() {
    const Call* reference = work_.reference ? &*work_.reference : nullptr;
    if (!shown_ && reference == nullptr && work_.quantity == Map2d::weights) shown_ = weights();
    if (!shown_) shown_ = source(reference, work_.quantity);
    return shown_;
  }
  [[nodiscard]] std::shared_ptr<MatrixSource> source(const Call* reference, Map2d quantity) const {
    const MapTokens tokens{
        map_axis("query", trace_.query_tokens(work_.batch), trace_.query.shape.token, false),
        map_axis("key", trace_.key_tokens(work_.batch), trace_.key.shape.token, false), true};
    return map_source(input_, trace_, head_, work_.call, reference, quantity,
                      work_.excludes ? &tokens : nullptr);
  }

  const HeadsWork& work_;
  const Trace& trace_;
  std::int64_t head_;
  std::shared_ptr<const HeadInput> input_;
  std::shared_ptr<MatrixSource> weights_, shown_;
};

/// Keeps of a summary what colours need.
MapSummary thinned(MapSummary summary) {
  for (std::vector<float>* sample : {&summary.sorted_sample, &summary.sorted_row_sample}) {
    const std::size_t step = sample->size() / most_kept + 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sample->size(); i += step) (*sample)[kept++] = (*sample)[i];
    sample->resize(kept);
    sample->shrink_to_fit();
  }
  summary.row_entropy = {};
  summary.column_sum = {};
  return summary;
}

void put_map(const HeadsWork& work, std::int64_t head, const std::shared_ptr<MapPyramid>& pyramid,
             const std::optional<tree::HeadScores>& scores) {
  auto map = std::make_shared<SmallMap>();
  map->summary = thinned(pyramid->summary());
  pyramid->drop_source();
  map->pyramid = pyramid;
  map->scores = scores;
  work.results->put(static_cast<std::size_t>(head), std::move(map));
}

void complete_head(const HeadsWork& work, const Trace& trace, std::int64_t head,
                   const Execution& execution) {
  WorkHead one(work, trace, head);
  const auto pyramid = one.pyramid();
  pyramid->fill(execution);
  const bool weights = !trace.stored || trace.stored->name == "weights";
  put_map(work, head, pyramid, weights ? std::optional(one.scores(execution)) : std::nullopt);
}

std::shared_ptr<const Trace> layer_of(const HeadsWork& work, const JobContext& context) {
  auto trace = work.open
                   ? work.open
                   : load_trace(work.file, work.group, context.cancel_check(), work.arrays, false);
  const Extents e = trace->extents();
  if (work.batch >= e.batch) fail("{} has no batch element {}", layer_name(work.group), work.batch);
  work.results->begin(static_cast<std::size_t>(e.head), e.query, e.key);
  return trace;
}

Execution execution_of(const JobContext& context) {
  Execution execution;
  execution.cancelled = context.cancel_check();
  return execution;
}

}  // namespace

void HeadResults::begin(std::size_t heads, std::int64_t queries, std::int64_t keys) {
  const std::lock_guard lock(mutex_);
  if (!maps_.empty()) return;
  maps_.resize(heads);
  queries_ = queries, keys_ = keys;
  ++revision_;
}

void HeadResults::put(std::size_t head, std::shared_ptr<const SmallMap> map) {
  const std::lock_guard lock(mutex_);
  maps_[head] = std::move(map);
  ++revision_;
}

std::vector<std::shared_ptr<const SmallMap>> HeadResults::maps() const {
  const std::lock_guard lock(mutex_);
  return maps_;
}

void preview_heads(const HeadsWork& work, const JobContext& context) {
  const auto trace = layer_of(work, context);
  const auto known = work.results->maps();
  for (std::size_t i = 0; i < known.size(); ++i) {
    context.stop_if_cancelled();
    context.progress(static_cast<double>(i) / static_cast<double>(known.size()));
    if (known[i]) continue;
    const auto head = static_cast<std::int64_t>(i);
    const auto pyramid = WorkHead(work, *trace, head).pyramid();
    if (pyramid->base_level() == 0) {
      complete_head(work, *trace, head, execution_of(context));
    } else if (pyramid->fill_sample()) {
      put_map(work, head, pyramid, std::nullopt);
    }
  }
}

void complete_heads(const HeadsWork& work, const JobContext& context) {
  auto known = work.results->maps();
  const auto done = [](const auto& map) { return map && map->complete(); };
  if (!known.empty() && std::all_of(known.begin(), known.end(), done)) return;
  const auto trace = layer_of(work, context);
  known = work.results->maps();
  for (std::size_t i = 0; i < known.size(); ++i) {
    context.stop_if_cancelled();
    context.progress(static_cast<double>(i) / static_cast<double>(known.size()));
    if (!done(known[i])) {
      complete_head(work, *trace, static_cast<std::int64_t>(i), execution_of(context));
    }
  }
}

}  // namespace conelab::desktop
