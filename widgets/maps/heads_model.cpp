#include "widgets/maps/heads_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

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
         std::all_of(maps.begin(), maps.end(), [](const auto& m) { return m && m->complete(); });
}

bool HeadRow::has_signs() const {
  const auto below_zero = [](const auto& map) { return map && map->summary.limits.low < 0; };
  return difference() ||
         (work.quantity == Map2d::weights && std::any_of(maps.begin(), maps.end(), below_zero));
}

double HeadRow::score(std::size_t head, const tree::HeadScoreInfo& info) const {
  const bool known = head < maps.size() && maps[head] && maps[head]->scores;
  return known ? (*maps[head]->scores).*info.member : tree::HeadScores::none;
}

HeadsModel::HeadsModel(MapsModel& maps, QObject* parent) : QObject(parent), maps_(maps) {
  poll_.setInterval(40);
  connect(&poll_, &QTimer::timeout, this, &HeadsModel::poll);
  connect(&maps_.workspace(), &Workspace::trace_changed, this, &HeadsModel::rebuild);
  connect(&maps_.workspace().document(), &Document::changed, this, &HeadsModel::rebuild);
}

bool HeadsModel::busy() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const auto& r) { return r->busy(); });
}

bool HeadsModel::complete() const {
  return !rows_.empty() &&
         std::all_of(rows_.begin(), rows_.end(), [](const auto& r) { return r->complete(); });
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
  row->key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", trace.file, trace.sha256, group,
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
          std::find_if(rows_.begin(), rows_.end(), [&](const auto& old) { return same(old, row); });
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
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(missing), waits);
  for (const auto& row : missing) start(row, &HeadRow::preview, "preview of ", preview_heads);
  for (const auto& row : missing) start(row, &HeadRow::job, "all heads: ", complete_heads);
  if (!missing.empty()) poll_.start();
}

void HeadsModel::start(const std::shared_ptr<HeadRow>& row, JobHandle HeadRow::*job,
                       const char* title, void (*work)(const HeadsWork&, const JobContext&)) {
  const std::weak_ptr<HeadRow> weak = row;
  (*row).*job = maps_.workspace().jobs().start<bool>(
      title + row->title,
      [work, needed = row->work](const JobContext& context) { return work(needed, context), true; },
      [this, weak, job](bool) {
        if (const auto done = weak.lock()) ((*done).*job).finished();
        poll();
      },
      [this, weak, job](const std::string& message) {
        if (const auto done = weak.lock()) {
          ((*done).*job).finished();
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
  maps_.workspace().document().edit(tr("open %1").arg(QString::fromStdString(name(at, false))),
                                    [&](Session& s) {
                                      s.trace.group = row.work.group;
                                      s.trace.head = static_cast<std::int64_t>(at.head);
                                      s.maps.join = head_joins[0];
                                      if (!layout.empty()) s.maps.layout = layout;
                                      if (!same_size) s.locked.reset();
                                    });
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
  const auto* const found =
      std::find_if(std::begin(tree::head_score_table), std::end(tree::head_score_table),
                   [&](const auto& info) { return choice_.head_score == info.name; });
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
  std::stable_sort(all.begin(), all.end(),
                   [&](const HeadAt& a, const HeadAt& b) { return key(a) < key(b); });
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
  const bool named =
      std::find(same_text.begin(), same_text.end(), row.work.group) != same_text.end();
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

}  // namespace conelab::desktop
