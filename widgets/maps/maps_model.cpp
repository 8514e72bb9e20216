#include "widgets/maps/maps_model.h"

#include <cmath>

#include "core/base/error.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/stored_source.h"

namespace conelab::desktop {
namespace {

constexpr std::size_t most_tile_jobs = 4;
constexpr std::size_t most_made = 24;

/// Returns a key that identifies a panel: equal keys mean equal matrices.
std::string key_of(const Call& c, const Call* reference, const std::string& quantity) {
  return quantity + "|" + call_text(c) + "|" + (reference ? call_text(*reference) : "");
}

}  // namespace

void take_failure(const std::string& message, bool& cancelled, std::string& error) {
  if (message == job_cancelled) {
    cancelled = true;
  } else {
    error = message;
  }
}

std::string panel_title(const Call& call, const Call* reference) {
  return call_title(call) + (reference ? " − " + call_title(*reference) : "");
}

const Call* reference_call(const MapChoice& choice) {
  const auto index = static_cast<std::size_t>(choice.reference);
  return choice.reference >= 0 && index < choice.calls.size() ? &choice.calls[index] : nullptr;
}

std::shared_ptr<MatrixSource> map_source(const std::shared_ptr<const HeadInput>& input,
                                         const Trace& trace, std::int64_t head, const Call& call,
                                         const Call* reference, Map2d quantity) {
  if (input->stored) return stored_source(input->stored, input->batch_index, input->head_index);
  auto source = attention_source(input, call_on_head(call, trace, head), quantity);
  if (reference == nullptr) return source;
  return difference_source(
      std::move(source), attention_source(input, call_on_head(*reference, trace, head), quantity));
}

MapsModel::MapsModel(Workspace& workspace, QObject* parent)
    : QObject(parent), workspace_(workspace) {
  poll_.setInterval(40);
  connect(&poll_, &QTimer::timeout, this, &MapsModel::poll);
  connect(&workspace_, &Workspace::trace_changed, this, &MapsModel::rebuild);
  connect(&workspace_.document(), &Document::changed, this, &MapsModel::rebuild);
  rebuild();
}

void MapsModel::rebuild() {
  const MapChoice wanted =
      shown_maps(workspace_.document().session().maps, workspace_.trace().get());
  const bool new_head = head_ != workspace_.head();
  const bool same_panels = !new_head && wanted.calls == choice_.calls &&
                           wanted.quantity == choice_.quantity &&
                           wanted.reference == choice_.reference;
  const bool same_look = same_panels && wanted == choice_;
  choice_ = wanted;
  if (same_look) return;
  if (same_panels) return emit progressed();
  const std::int64_t old_rows = rows(), old_columns = columns();
  if (new_head) made_.clear();
  head_ = workspace_.head();
  cancelled_ = false;
  const auto before = std::move(panels_);
  panels_.clear();
  const Call* reference = reference_call(choice_);
  for (const Call& call : choice_.calls) {
    if (head_) panels_.push_back(make_panel(call, reference == &call ? nullptr : reference));
  }
  if (rows() != old_rows || columns() != old_columns) camera_fits = true;
  emit panels_changed();
}

std::shared_ptr<MapPanel> MapsModel::make_panel(const Call& call, const Call* reference) {
  const std::string key = key_of(call, reference, choice_.quantity);
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  auto panel = std::make_shared<MapPanel>();
  panel->title = panel_title(call, reference);
  panel->difference = reference != nullptr;
  if (head_->stored) panel->title = head_->stored->title + ", stored " + head_->stored->name;
  try {
    const Map2d quantity = choice_.quantity == "logits" ? Map2d::logits : Map2d::weights;
    const std::int64_t head = workspace_.document().session().trace.head;
    panel->pyramid = std::make_shared<MapPyramid>(
        map_source(head_, *workspace_.trace(), head, call, reference, quantity));
    panel->difference = panel->pyramid->source().is_difference();
    start_pass(panel);
  } catch (const Error& error) {
    panel->error = error.what();
  }
  if (made_.size() >= most_made) made_.clear();
  made_[key] = panel;
  return panel;
}

void MapsModel::start_pass(const std::shared_ptr<MapPanel>& panel) {
  const std::weak_ptr<MapPanel> weak = panel;
  panel->pass = workspace_.jobs().start<bool>(
      "attention map: " + panel->title,
      [pyramid = panel->pyramid](const JobContext& context) {
        pyramid->fill_sample();
        Execution execution;
        execution.cancelled = context.cancel_check();
        execution.progress = context.progress_report();
        pyramid->fill(execution);
        return true;
      },
      [this, weak](bool) {
        if (const auto done = weak.lock()) done->pass.finished();
        poll();
      },
      [this, weak](const std::string& message) {
        if (const auto done = weak.lock()) {
          done->pass.finished();
          take_failure(message, cancelled_, done->error);
        }
        emit progressed();
      });
  poll_.start();
}

void MapsModel::cancel() {
  cancelled_ = true;
  for (const auto& panel : panels_) {
    panel->pass.cancel();
    panel->tiles.clear();
  }
  emit progressed();
}

void MapsModel::resume() {
  cancelled_ = false;
  for (const auto& panel : panels_) {
    if (!panel->pyramid || panel->pyramid->complete() || panel->pass.active()) continue;
    panel->pyramid = std::make_shared<MapPyramid>(panel->pyramid->shared_source());
    start_pass(panel);
  }
  emit progressed();
}

void MapsModel::poll() {
  bool busy = false, changed = false;
  for (const auto& panel : panels_) {
    busy = busy || panel->busy();
    if (!panel->pyramid || panel->pyramid->revision() == panel->revision) continue;
    panel->revision = panel->pyramid->revision();
    panel->summary = panel->pyramid->summary();
    changed = true;
  }
  if (!busy) poll_.stop();
  if (changed || !busy) emit progressed();
}

const MapPanel& MapsModel::shown(std::size_t place) const {
  const auto reference = static_cast<std::size_t>(std::max(0, choice_.reference));
  return flipped_ && reference < panels_.size() ? *panels_[reference] : *panels_[place];
}

void MapsModel::flip(bool held) {
  if (flipped_ == held) return;
  flipped_ = held;
  emit progressed();
}

std::int64_t MapsModel::rows() const { return head_ ? head_->fast.query.shape.token : 0; }
std::int64_t MapsModel::columns() const { return head_ ? head_->fast.key.shape.token : 0; }

ColourChoice MapsModel::colour_choice(bool difference) const {
  ColourChoice choice;
  choice.scale = figure::heat_scale_from_name(choice_.scale);
  choice.map = figure::colour_map_from_name(choice_.colours);
  choice.diverging = difference;
  choice.zero_special = !difference && choice_.quantity == "weights";
  // Logits and differences have signs, which a logarithmic scale cannot show.
  if (choice.scale == figure::HeatScale::log && !choice.zero_special) {
    choice.scale = figure::HeatScale::linear;
  }
  return choice;
}

std::string MapsModel::value_name(bool difference) const {
  const bool of_two = difference && choice_.reference >= 0;  // Stored gradients have signs too.
  std::string name = of_two ? "difference of " + choice_.quantity : choice_.quantity;
  const figure::HeatScale scale = colour_choice(difference).scale;
  if (scale == figure::HeatScale::row_normalised) return name + " / largest in row";
  return scale == figure::HeatScale::rank ? "rank of " + name : name;
}

bool MapsModel::zeros_are_special(bool difference) const {
  const ColourChoice choice = colour_choice(difference);
  return choice.zero_special || choice.scale == figure::HeatScale::log;
}

figure::Specials MapsModel::specials(const MapPanel& panel) const {
  return {zeros_are_special(panel.difference) && panel.summary.zero > 0, panel.summary.masked > 0,
          panel.summary.nan > 0};
}

figure::Limits MapsModel::limits(const MapPanel& panel) const {
  figure::Limits limits = colour_limits(panel.summary, colour_choice(panel));
  if (!choice_.shared_limits) return limits;
  for (const auto& other : panels_) {
    if (other->difference == panel.difference && other->pyramid) {
      limits.include(colour_limits(other->summary, colour_choice(*other)));
    }
  }
  return limits;
}

bool MapsModel::flat(const MapPanel& panel) const {
  constexpr double least = 0.12;  // Fraction of the colour map that a panel needs to be readable.
  const ColourChoice choice = colour_choice(panel);
  const figure::Limits own = colour_limits(panel.summary, choice), all = limits(panel);
  if (own.empty() || own == all) return false;
  const auto place = [&](double v) { return figure::place_on_map(v, all, choice.scale); };
  return place(own.high) - place(own.low) < least;
}

void MapsModel::request_tiles(std::size_t place, double width, double height) {
  const std::shared_ptr<MapPanel>& panel = panels_[place];
  if (!panel->pyramid || cancelled_ || !panel->pyramid->complete()) return;
  const std::vector<TileKey> missing = missing_tiles(*panel->pyramid, camera, width, height);
  std::erase_if(panel->tiles, [&](const auto& job) {
    return std::find(missing.begin(), missing.end(), job.first) == missing.end();
  });
  const std::weak_ptr<MapPanel> weak = panel;
  for (const TileKey& key : missing) {
    if (panel->tiles.size() >= most_tile_jobs) break;
    if (panel->tiles.contains(key)) continue;
    const auto finish = [this, weak, key] {
      if (const auto done = weak.lock()) {
        if (const auto job = done->tiles.find(key); job != done->tiles.end()) {
          job->second.finished();
          done->tiles.erase(job);
        }
      }
      poll();
    };
    panel->tiles[key] = workspace_.jobs().start<bool>(
        "tile of " + panel->title,
        [pyramid = panel->pyramid, key](const JobContext& context) {
          context.stop_if_cancelled();
          pyramid->compute_tile(key);
          return true;
        },
        [finish](bool) { finish(); }, [finish](const std::string&) { finish(); }, true);
  }
  if (!panel->tiles.empty() && !poll_.isActive()) poll_.start();
}

void MapsModel::prepare_exact(const std::optional<Focus>& cell) {
  if (!cell || cell->query >= rows()) return;
  for (const auto& panel : panels_) {
    panel->exact.cancel();
    if (!panel->pyramid || panel->pyramid->source().exact_is_quick(cell->query)) continue;
    const std::weak_ptr<MapPanel> weak = panel;
    panel->exact = workspace_.jobs().start<bool>(
        "exact values",
        [pyramid = panel->pyramid, row = cell->query](const JobContext& context) {
          context.stop_if_cancelled();
          return pyramid->source().exact(row, 0), true;
        },
        [this, weak](bool) {
          if (const auto done = weak.lock()) done->exact.finished();
          emit exact_known();
        },
        nullptr, true);
  }
}

std::string MapsModel::value_text(const MapPanel& panel, const Focus& cell) const {
  if (!panel.pyramid) return panel.error;
  if (cell.query >= rows() || cell.key >= columns()) return "";
  if (!panel.pyramid->source().exact_is_quick(cell.query)) return "computing …";
  const double value = panel.pyramid->source().exact(cell.query, cell.key);
  return std::isinf(value) && value < 0 ? "masked" : fmt::format("{:.12g}", value);
}

std::string MapsModel::readout(const std::optional<Focus>& cell) const {
  const auto& trace = workspace_.trace();
  if (!cell || !trace || cell->query >= rows() || cell->key >= columns()) return "";
  std::string text = trace->row_text(cell->query) + ", " + trace->column_text(cell->key);
  for (const auto& panel : panels_) {
    text += fmt::format("\n{}: {}", panel->title, value_text(*panel, *cell));
  }
  return text;
}

}  // namespace conelab::desktop
