#include "widgets/maps/heads_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"

namespace conelab::desktop {
namespace {

constexpr std::int64_t largest_small_map = 256;

/// What the job of one operator needs, independent of the window.
struct HeadsWork {
  std::shared_ptr<const Trace> trace;
  std::int64_t batch = 0;
  Call call;
  std::optional<Call> reference;
  Map2d quantity = Map2d::weights;
  std::shared_ptr<HeadResults> results;
  Backend* device = nullptr;

  [[nodiscard]] std::shared_ptr<MapPyramid> pyramid(std::int64_t head) const {
    const auto input = head_input(*trace, batch, head, device);
    auto source =
        map_source(input, *trace, head, call, reference ? &*reference : nullptr, quantity);
    return std::make_shared<MapPyramid>(std::move(source), largest_small_map);
  }
};

void fill_heads(const HeadsWork& work, const JobContext& context) {
  const std::int64_t heads = work.trace->extents().head;
  const bool large = std::max(work.trace->extents().query, work.trace->extents().key) > 2048;
  for (std::int64_t head = 0; large && head < heads; ++head) {
    context.stop_if_cancelled();
    const auto pyramid = work.pyramid(head);
    pyramid->fill_sample();
    pyramid->drop_source();
    work.results->put(static_cast<std::size_t>(head), pyramid);
  }
  Execution execution;
  execution.cancelled = context.cancel_check();
  for (std::int64_t head = 0; head < heads; ++head) {
    context.stop_if_cancelled();
    const auto pyramid = work.pyramid(head);
    execution.progress = [&](double part) {
      context.progress((static_cast<double>(head) + part) / static_cast<double>(heads));
    };
    pyramid->fill(execution);
    pyramid->drop_source();
    work.results->put(static_cast<std::size_t>(head), pyramid);
  }
}

}  // namespace

void HeadResults::put(std::size_t head, std::shared_ptr<const MapPyramid> pyramid) {
  const std::lock_guard lock(mutex_);
  pyramids_[head] = std::move(pyramid);
  ++revision_;
}

std::shared_ptr<const MapPyramid> HeadResults::get(std::size_t head) const {
  const std::lock_guard lock(mutex_);
  return pyramids_[head];
}

HeadsModel::HeadsModel(MapsModel& maps, QObject* parent) : QObject(parent), maps_(maps) {
  poll_.setInterval(40);
  connect(&poll_, &QTimer::timeout, this, &HeadsModel::poll);
  connect(&maps_.workspace(), &Workspace::trace_changed, this, &HeadsModel::rebuild);
  connect(&maps_.workspace().document(), &Document::changed, this, &HeadsModel::rebuild);
}

std::size_t HeadsModel::heads() const {
  return trace_ ? static_cast<std::size_t>(trace_->extents().head) : 0;
}

bool HeadsModel::busy() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const auto& r) { return r->job.active(); });
}

bool HeadsModel::complete() const {
  return !rows_.empty() && std::all_of(rows_.begin(), rows_.end(), [](const auto& row) {
    return std::all_of(row->pyramids.begin(), row->pyramids.end(),
                       [](const auto& p) { return p && p->complete(); });
  });
}

void HeadsModel::look(bool looked_at) {
  if (looked_at_ == looked_at) return;
  looked_at_ = looked_at;
  if (!looked_at) {
    for (const auto& row : rows_) row->job.cancel();
    poll_.stop();
  } else if (!cancelled_) {
    resume();
  }
}

/// Another trace, batch element, list of operators, quantity or reference requires other maps;
/// another head of the session does not.
void HeadsModel::rebuild() {
  if (!looked_at_) return;
  const Session& session = maps_.workspace().document().session();
  const MapChoice wanted = shown_maps(session.maps, maps_.workspace().trace().get());
  const bool same = trace_ == maps_.workspace().trace() && batch_ == session.trace.batch &&
                    device_ == session.trace.device && choice_.calls == wanted.calls &&
                    choice_.quantity == wanted.quantity && choice_.reference == wanted.reference;
  if (same && choice_ == wanted) return;
  choice_ = wanted;
  if (same) return emit changed();
  trace_ = maps_.workspace().trace();
  batch_ = session.trace.batch;
  device_ = session.trace.device;
  cancelled_ = false;
  rows_.clear();
  const Call* reference = reference_call(choice_);
  for (const Call& call : choice_.calls) {
    if (!trace_) break;
    rows_.push_back(std::make_shared<HeadRow>());
    start(rows_.back(), call, reference == &call ? nullptr : reference);
  }
  emit changed();
}

void HeadsModel::start(const std::shared_ptr<HeadRow>& row, const Call& call,
                       const Call* reference) {
  row->title = panel_title(call, reference);
  const auto& stored = trace_->stored;
  if (stored) row->title = stored->title + ", stored " + stored->name;
  row->difference = reference != nullptr || (stored && stored->has_signs());
  row->error.clear();
  row->results = std::make_shared<HeadResults>(heads());
  row->pyramids.assign(heads(), nullptr);
  row->summaries.assign(heads(), {});
  row->revision = 0;
  HeadsWork work{trace_, batch_, call, {}, Map2d::weights, row->results};
  if (reference != nullptr) work.reference = *reference;
  if (choice_.quantity == "logits") work.quantity = Map2d::logits;
  if (const auto& head = maps_.workspace().head()) work.device = head->device;
  const std::weak_ptr<HeadRow> weak = row;
  row->job = maps_.workspace().jobs().start<bool>(
      "all heads: " + row->title,
      [work = std::move(work)](const JobContext& context) {
        return fill_heads(work, context), true;
      },
      [this, weak](bool) {
        if (const auto done = weak.lock()) done->job.finished();
        poll();
      },
      [this, weak](const std::string& message) {
        if (const auto done = weak.lock()) {
          done->job.finished();
          take_failure(message, cancelled_, done->error);
        }
        emit changed();
      });
  poll_.start();
}

void HeadsModel::cancel() {
  cancelled_ = true;
  for (const auto& row : rows_) row->job.cancel();
  emit changed();
}

/// Restarts rows that were not complete; complete rows remain.
void HeadsModel::resume() {
  cancelled_ = false;
  rebuild();
  const Call* reference = reference_call(choice_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& row = rows_[i];
    const bool whole = std::all_of(row->pyramids.begin(), row->pyramids.end(),
                                   [](const auto& p) { return p && p->complete(); });
    if (whole || row->job.active() || !row->error.empty()) continue;
    const Call& call = choice_.calls[i];
    start(row, call, reference == &call ? nullptr : reference);
  }
  emit changed();
}

void HeadsModel::poll() {
  bool news = false;
  for (const auto& row : rows_) {
    if (row->results->revision() == row->revision) continue;
    row->revision = row->results->revision();
    news = true;
    for (std::size_t head = 0; head < heads(); ++head) {
      const auto pyramid = row->results->get(head);
      if (pyramid == row->pyramids[head]) continue;
      row->pyramids[head] = pyramid;
      row->summaries[head] = pyramid->summary();
    }
  }
  if (!busy()) poll_.stop();
  if (news || !busy()) emit changed();
}

ColourChoice HeadsModel::colour_choice(const HeadRow& row) const {
  return maps_.colour_choice(row.difference);
}

figure::Limits HeadsModel::limits(const HeadRow& row, std::size_t head) const {
  const ColourChoice choice = colour_choice(row);
  figure::Limits limits = colour_limits(row.summaries[head], choice);
  if (!choice_.shared_limits) return limits;
  for (const auto& other : rows_) {
    if (other->difference != row.difference) continue;
    for (const MapSummary& summary : other->summaries) {
      limits.include(colour_limits(summary, choice));
    }
  }
  return limits;
}

figure::Specials HeadsModel::specials() const {
  figure::Specials all;
  for (const auto& row : rows_) {
    const bool zeros = maps_.zeros_are_special(row->difference);
    for (const MapSummary& s : row->summaries) {
      all = {all.zero || (zeros && s.zero > 0), all.masked || s.masked > 0, all.nan || s.nan > 0};
    }
  }
  return all;
}

std::string HeadsModel::about(std::size_t row, std::size_t head) const {
  const HeadRow& r = *rows_[row];
  std::string text = fmt::format("{}, head {}", r.title, head);
  const MapSummary& s = r.summaries[head];
  if (!r.pyramids[head]) return text + ": not computed yet";
  if (!r.pyramids[head]->complete()) text += " (a preview)";
  if (s.limits.empty()) return text + ": no values, its cells are masked or not numbers";
  if (!s.row_entropy.empty() && r.pyramids[head]->complete()) {
    const double sum = std::accumulate(s.row_entropy.begin(), s.row_entropy.end(), 0.0);
    text +=
        fmt::format(": mean entropy {:.4g} nats", sum / static_cast<double>(s.row_entropy.size()));
  }
  return text + fmt::format(", values from {:.4g} to {:.4g}", s.limits.low, s.limits.high);
}

}  // namespace conelab::desktop
