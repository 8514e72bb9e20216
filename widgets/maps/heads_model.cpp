#include "widgets/maps/heads_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/tree/head_scores.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {
namespace {

/// The most cells that are kept of all small maps together.
constexpr std::int64_t most_cells = std::int64_t{1} << 23;

/// Returns how many cells a side are kept of each of `maps` maps.
std::int64_t side_for(std::size_t maps) {
  std::int64_t side = 256;
  while (side > 64 && static_cast<std::int64_t>(maps) * side * side > most_cells) side /= 2;
  return side;
}

}  // namespace

bool HeadRow::complete() const {
  return !maps.empty() &&
         std::ranges::all_of(maps, [](const auto& m) { return m && m->complete(); });
}

bool HeadRow::has_signs() const {
  const auto below_zero = [](const auto& map) { return map && map->summary.limits.low < 0; };
  return difference() || (work.quantity == Map2d::weights && std::ranges::any_of(maps, below_zero));
}

double HeadRow::score(std::size_t head, const tree::HeadScoreInfo& info) const {
  const bool known = head < maps.size() && maps[head] && maps[head]->scores;
  return known ? (*maps[head]->scores).*info.member : tree::HeadScores::none;
}

HeadsModel::HeadsModel(MapsModel& maps) : maps_(maps) {
  poll_.setInterval(40);
  connect(&poll_, &QTimer::timeout, this, &HeadsModel::poll);
  connect(&maps_.workspace(), &Workspace::trace_changed, this, &HeadsModel::rebuild);
  connect(&maps_.workspace().document(), &Document::changed, this, &HeadsModel::rebuild);
}

bool HeadsModel::busy() const {
  return std::ranges::any_of(rows_, [](const auto& r) { return r->busy(); });
}

bool HeadsModel::complete() const {
  return !rows_.empty() && std::ranges::all_of(rows_, [](const auto& r) { return r->complete(); });
}

std::pair<std::size_t, std::size_t> HeadsModel::progress() const {
  std::size_t done = 0, all = 0;
  for (const auto& row : rows_) {
    all += row->maps.size();
    for (const auto& map : row->maps) done += map && map->complete();
  }
  return {done, all};
}

void HeadsModel::set_visible(bool visible) {
  if (visible_ == visible) return;
  visible_ = visible;
  if (!visible) {
    for (const auto& row : rows_) row->preview.cancel(), row->job.cancel();
    poll_.stop();
  } else if (!cancelled_) {
    resume();
  }
}

// ---- rows ---------------------------------------------------------------------------------------

std::shared_ptr<HeadRow> HeadsModel::make_row(const std::string& group, const Call& call,
                                              bool of_layer) const {
  Workspace& workspace = maps_.workspace();
  const Trace& trace = *workspace.trace();
  const Session& session = workspace.document().session();
  const Call* reference = reference_call(choice_);
  if (reference != nullptr && *reference == call) reference = nullptr;
  auto row = std::make_shared<HeadRow>();
  row->title = of_layer ? layer_name(group) : panel_title(call, reference);
  HeadsWork& work = row->work;
  work.file = trace.file, work.group = group, work.arrays = trace.arrays;
  if (group == trace.group) work.open = workspace.trace();
  work.batch = session.trace.batch;
  work.call = call;
  if (reference != nullptr) work.reference = *reference;
  if (choice_.quantity == "logits") work.quantity = Map2d::logits;
  work.excludes = excludes_special(choice_);
  work.device = workspace.device();
  row->key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", trace.file, trace.stamp, group,
                         call_text(call), reference ? call_text(*reference) : "", choice_.quantity,
                         work.batch, session.trace.device, work.excludes);
  return row;
}

std::vector<std::shared_ptr<HeadRow>> HeadsModel::wanted_rows() const {
  std::vector<std::shared_ptr<HeadRow>> rows;
  const auto& trace = maps_.workspace().trace();
  if (!trace || choice_.calls.empty()) return rows;
  if (trace->stored) {
    rows.push_back(make_row(trace->group, choice_.calls.front(), false));
    rows.back()->title = trace->stored->title + ", stored " + trace->stored->name;
    return rows;
  }
  if (choice_.heads_rows == "operators") {
    for (const Call& call : choice_.calls) rows.push_back(make_row(trace->group, call, false));
    return rows;
  }
  const auto wanted = static_cast<std::size_t>(choice_.heads_operator);
  const Call& call = choice_.calls[std::min(wanted, choice_.calls.size() - 1)];
  std::vector<std::string> groups = maps_.workspace().groups();
  if (choice_.heads_rows == "layers") groups = layers_beside(groups, trace->group);
  for (const std::string& group : groups) {
    rows.push_back(make_row(group, call, true));
    // Layers of several texts have the same names.
    if (choice_.heads_rows == "file" && !group.empty()) rows.back()->title = group.substr(1);
  }
  std::vector<std::string> titles;
  for (const auto& row : rows) titles.push_back(row->title);
  titles = short_names(titles);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->title = titles[i];
  return rows;
}

void HeadsModel::rebuild() {
  if (!visible_) return;
  choice_ =
      shown_maps(maps_.workspace().document().session().maps, maps_.workspace().trace().get());
  const auto same = [](const auto& a, const auto& b) { return a->key == b->key; };
  std::vector<std::shared_ptr<HeadRow>> wanted = wanted_rows();
  if (!std::equal(wanted.begin(), wanted.end(), rows_.begin(), rows_.end(), same)) {
    for (auto& row : wanted) {
      const auto found =
          std::ranges::find_if(rows_, [&](const auto& old) { return same(old, row); });
      if (found == rows_.end()) continue;
      (*found)->title = row->title;
      row = *found;
    }
    rows_ = std::move(wanted);
    cancelled_ = false;
    start_all();
  }
  find_shared_limits();
  emit changed();
}

/// Starts what is missing: the pictures of all rows before the rest of any.
void HeadsModel::start_all() {
  const auto& trace = maps_.workspace().trace();
  const std::size_t heads = trace ? static_cast<std::size_t>(trace->extents().head) : 1;
  for (const auto& row : rows_) {
    if (row->work.results) continue;
    row->work.largest_side = side_for(heads * rows_.size());
    row->work.results = std::make_shared<HeadResults>();
  }
  const auto waits = [](const auto& row) {
    return !row->complete() && !row->busy() && row->error.empty();
  };
  std::vector<std::shared_ptr<HeadRow>> missing;
  std::ranges::copy_if(rows_, std::back_inserter(missing), waits);
  for (const auto& row : missing) start(row, &HeadRow::preview, "preview of ", preview_heads);
  for (const auto& row : missing) start(row, &HeadRow::job, "all heads: ", complete_heads);
  if (!missing.empty()) poll_.start();
}

void HeadsModel::start(const std::shared_ptr<HeadRow>& row, JobHandle HeadRow::*job,
                       const char* title, void (*work)(const HeadsWork&, const PoolContext&)) {
  const std::weak_ptr<HeadRow> weak = row;
  (*row).*job = maps_.workspace().jobs().start<bool>(
      title + row->title,
      [work, needed = row->work](const PoolContext& context) {
        return work(needed, context), true;
      },
      [this](bool) { poll(); },
      [this, weak](const std::string& message) {
        if (const auto done = weak.lock()) {
          take_failure(message, cancelled_, done->error);
          if (!done->error.empty()) done->preview.cancel(), done->job.cancel();
        }
        poll();
      });
}

void HeadsModel::cancel() {
  cancelled_ = true;
  for (const auto& row : rows_) row->preview.cancel(), row->job.cancel();
  emit changed();
}

/// Restarts rows that were not complete; complete heads remain.
void HeadsModel::resume() {
  cancelled_ = false;
  rebuild();
  start_all();
  emit changed();
}

void HeadsModel::poll() {
  bool news = false;
  for (const auto& row : rows_) {
    const HeadResults& results = *row->work.results;
    if (results.revision() == row->revision) continue;
    row->revision = results.revision();
    row->maps = results.maps();
    news = true;
  }
  if (!busy()) poll_.stop();
  if (!news && busy()) return;
  find_shared_limits();
  emit changed();
}

void HeadsModel::open(const HeadAt& at, const std::string& layout) {
  if (at.row >= rows_.size()) return;  // A menu was open while rows changed.
  const HeadRow& row = *rows_[at.row];
  const bool same_size = shares_pairs(row);
  maps_.workspace().document().close_step();
  maps_.workspace().document().edit(
      tr("open %1").arg(QString::fromStdString(name(at, false))),
      [&](Session& s) {
        s.trace.group = row.work.group;
        s.trace.head = static_cast<std::int64_t>(at.head);
        s.maps.join = head_joins[0];
        if (!layout.empty()) s.maps.layout = layout;
        if (!same_size) s.locked.reset();
      },
      open_layer_step);
}

void HeadsModel::compare(const HeadAt& at) {
  if (at.row >= rows_.size()) return;
  const HeadRow& row = *rows_[at.row];
  maps_.workspace().document().edit(
      tr("compare with %1").arg(QString::fromStdString(name(at, false))), [&](Session& s) {
        s.maps.beside = BesideChoice{row.work.file, row.work.group,
                                     static_cast<std::int64_t>(at.head), head_joins[0]};
        s.maps.join = head_joins[0];
        s.maps.layout = "maps";
      });
}

// ---- scores -------------------------------------------------------------------------------------

const tree::HeadScoreInfo& HeadsModel::score_info() const {
  const auto* const found = std::ranges::find_if(
      tree::head_score_table, [&](const auto& info) { return choice_.head_score == info.name; });
  return found == std::end(tree::head_score_table) ? tree::head_score_table[0] : *found;
}

figure::Limits HeadsModel::score_limits() const {
  figure::Limits limits;
  for (const auto& row : rows_) {
    for (std::size_t head = 0; head < row->maps.size(); ++head) {
      const double score = row->score(head, score_info());
      if (!std::isnan(score)) limits.include({score, score});
    }
  }
  return limits;
}

std::vector<HeadAt> HeadsModel::heads() const {
  std::vector<HeadAt> all;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (std::size_t head = 0; head < rows_[row]->maps.size(); ++head) all.push_back({row, head});
  }
  if (!listed()) return all;
  const double sign = choice_.heads_order == "lowest first" ? 1 : -1;
  const auto key = [&](const HeadAt& at) {
    const double score = rows_[at.row]->score(at.head, score_info());
    return std::isnan(score) ? std::numeric_limits<double>::infinity() : sign * score;
  };
  std::ranges::stable_sort(all, [&](const HeadAt& a, const HeadAt& b) { return key(a) < key(b); });
  return all;
}

std::string HeadsModel::name(const HeadAt& at, bool brief) const {
  return fmt::format("{}{}{}", rows_[at.row]->title, brief ? " · " : ", head ", at.head);
}

bool HeadsModel::shares_pairs(const HeadRow& row) const {
  const auto& trace = maps_.workspace().trace();
  const HeadResults& results = *row.work.results;
  return trace && results.queries() == trace->query.shape.token &&
         results.keys() == trace->key.shape.token;
}

std::string HeadsModel::about(const HeadAt& at) const {
  const HeadRow& row = *rows_[at.row];
  std::string text = name(at, false);
  const auto& map = row.maps[at.head];
  if (!map) return text + ": not computed yet";
  if (!map->complete()) text += " (a preview)";
  const MapSummary& s = map->summary;
  if (s.limits.empty()) return text + ": no values, its cells are masked or not numbers";
  text += ": ";
  for (const tree::HeadScoreInfo& info : tree::head_score_table) {
    const double score = row.score(at.head, info);
    if (!std::isnan(score)) text += fmt::format("{} {:.4g}, ", info.name, score);
  }
  return text + fmt::format("values from {:.4g} to {:.4g}", s.limits.low, s.limits.high);
}

std::string HeadsModel::value_text(const HeadAt& at, const Focus& pair) const {
  const HeadRow& row = *rows_[at.row];
  const auto& map = row.maps[at.head];
  if (!map || !shares_pairs(row)) return "";
  const auto same_text =
      layers_beside(maps_.workspace().groups(), maps_.workspace().trace()->group);
  const bool named = contains(same_text, row.work.group);
  std::string text =
      named ? maps_.tokens().query.text_of(pair.query) + ", " + maps_.tokens().key.text_of(pair.key)
            : fmt::format("query {}, key {}", pair.query, pair.key);
  if (!map->complete() || map->pyramid->base_level() > 0) return text;
  float value = 0;
  map->pyramid->read_row(0, pair.query, pair.key, 1, &value);
  return text + (is_masked(value) ? ": masked" : fmt::format(": {:.4g}", value));
}

std::string HeadsModel::open_name() const {
  const TraceChoice& open = maps_.workspace().document().session().trace;
  return fmt::format("{}, head {}", layer_name(open.group), open.head);
}

// ---- colours ------------------------------------------------------------------------------------

ColourChoice HeadsModel::colour_choice(const HeadRow& row) const {
  return maps_.colour_choice(row.has_signs());
}

void HeadsModel::find_shared_limits() {
  for (const bool signs : {false, true}) {
    figure::Limits& limits = shared_limits_[signs ? 1 : 0];
    limits = {};
    for (const auto& row : rows_) {
      if (row->has_signs() != signs) continue;
      for (const auto& map : row->maps) {
        if (map) limits.include(colour_limits(map->summary, colour_choice(*row)));
      }
    }
  }
}

figure::Limits HeadsModel::limits(const HeadRow& row, std::size_t head) const {
  if (choice_.shared_limits) return shared_limits_[row.has_signs() ? 1 : 0];
  const bool known = head < row.maps.size() && row.maps[head];
  return known ? colour_limits(row.maps[head]->summary, colour_choice(row)) : figure::Limits();
}

figure::Specials HeadsModel::specials() const {
  figure::Specials all;
  for (const auto& row : rows_) {
    const bool zeros = maps_.zeros_are_special(row->has_signs());
    for (const auto& map : row->maps) {
      if (!map) continue;
      const MapSummary& s = map->summary;
      all = {all.zero || (zeros && s.zero > 0), all.masked || s.masked > s.excluded,
             all.nan || s.nan > 0};
    }
  }
  return all;
}

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
      stop_if(execution.cancelled);
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

std::shared_ptr<const Trace> layer_of(const HeadsWork& work, const PoolContext& context) {
  auto trace = work.open ? work.open
                         : load_trace(work.file, work.group, context.cancel_check(), work.arrays);
  const Extents e = trace->extents();
  if (work.batch >= e.batch) fail("{} has no batch element {}", layer_name(work.group), work.batch);
  work.results->begin(static_cast<std::size_t>(e.head), e.query, e.key);
  return trace;
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

void preview_heads(const HeadsWork& work, const PoolContext& context) {
  const auto trace = layer_of(work, context);
  const auto known = work.results->maps();
  for (std::size_t i = 0; i < known.size(); ++i) {
    context.stop_if_cancelled();
    context.progress(static_cast<double>(i) / static_cast<double>(known.size()));
    if (known[i]) continue;
    const auto head = static_cast<std::int64_t>(i);
    const auto pyramid = WorkHead(work, *trace, head).pyramid();
    if (pyramid->base_level() == 0) {
      complete_head(work, *trace, head, context.execution());
    } else if (pyramid->fill_sample()) {
      put_map(work, head, pyramid, std::nullopt);
    }
  }
}

void complete_heads(const HeadsWork& work, const PoolContext& context) {
  auto known = work.results->maps();
  const auto done = [](const auto& map) { return map && map->complete(); };
  if (!known.empty() && std::ranges::all_of(known, done)) return;
  const auto trace = layer_of(work, context);
  known = work.results->maps();
  for (std::size_t i = 0; i < known.size(); ++i) {
    context.stop_if_cancelled();
    context.progress(static_cast<double>(i) / static_cast<double>(known.size()));
    if (!done(known[i])) {
      complete_head(work, *trace, static_cast<std::int64_t>(i), context.execution());
    }
  }
}

}  // namespace conelab::desktop
