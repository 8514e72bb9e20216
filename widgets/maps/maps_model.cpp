#include "widgets/maps/maps_model.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/map_tokens.h"

namespace conelab::desktop {
namespace {

constexpr std::size_t most_tile_jobs = 4;
constexpr std::size_t most_made = 24;

/// Returns a key that identifies a panel: equal keys mean equal matrices.
std::string key_of(const Call& c, const Call* reference, const MapChoice& choice, PanelOf of,
                   const Trace* shown) {
  const BesideChoice beside = choice.beside.value_or(BesideChoice());
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}:{}:{}:{}|{}", choice.quantity, call_text(c),
                     reference ? call_text(*reference) : "", merges_words(choice),
                     excludes_special(choice), static_cast<int>(of), choice.join, beside.file,
                     beside.group, beside.head, beside.join, shown != nullptr ? shown->group : "");
}

/// Returns whether two choices show the same matrices.
bool same_matrices(const MapChoice& a, const MapChoice& b) {
  return a.calls == b.calls && a.quantity == b.quantity && a.reference == b.reference &&
         merges_words(a) == merges_words(b) && excludes_special(a) == excludes_special(b) &&
         a.join == b.join && a.beside == b.beside;
}

/// Computes the exact values of a row in a job.
JobHandle exact_row(JobPool& jobs, const std::shared_ptr<MapPyramid>& pyramid, std::int64_t row,
                    std::function<void(bool)> done) {
  return jobs.start<bool>(
      "exact values",
      [pyramid, row](const PoolContext& context) {
        context.stop_if_cancelled();
        return pyramid->source().exact(row, 0), true;
      },
      std::move(done), nullptr, true);
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
                                         const Call* reference, Map2d quantity,
                                         const MapTokens* tokens) {
  const auto of_head = [&](const Call& c) {
    return attention_source(input, call_on_head(c, trace, head), quantity);
  };
  return shown_source(of_head, nullptr, call, reference, tokens);
}

MapsModel::MapsModel(Workspace& workspace) : workspace_(workspace), second_(workspace) {
  poll_.setInterval(40);
  connect(&poll_, &QTimer::timeout, this, &MapsModel::poll);
  connect(&workspace_, &Workspace::trace_changed, this, &MapsModel::rebuild);
  connect(&workspace_.document(), &Document::changed, this, &MapsModel::rebuild);
  connect(&second_, &SecondTrace::changed, this, &MapsModel::rebuild);
  rebuild();
}

void MapsModel::rebuild() {
  left_out_ = workspace_.shows_live() && seen && !seen();
  if (left_out_) return;
  const MapChoice wanted =
      shown_maps(workspace_.document().session().maps, workspace_.trace().get());
  const bool new_beside = beside_ != second_.trace() || beside_error_ != second_.error();
  const bool new_head = head_ != workspace_.head() || new_beside;
  const bool same_panels = !new_head && same_matrices(wanted, choice_);
  const bool same_look = same_panels && wanted == choice_;
  choice_ = wanted;
  if (same_look) return;
  if (same_panels) {
    follow_zoom();
    return emit progressed();
  }
  if (new_head) made_.clear();
  head_ = workspace_.head();
  const auto& trace = workspace_.trace();
  tokens_ = std::make_shared<MapTokens>(
      head_ && trace ? map_tokens(*trace, head_->batch_index, choice_) : MapTokens());
  compare_with(second_.trace());
  beside_error_ = second_.error();
  cancelled_ = false;
  const auto before = std::move(panels_);
  panels_.clear();
  for (std::size_t i = 0; head_ && i < choice_.calls.size(); ++i) {
    for (const PanelOf of : panels_of_operator()) panels_.push_back(make_panel(i, of));
    for (const auto& other : second_.more()) {
      compare_with(other);
      panels_.push_back(make_panel(i, PanelOf::beside));
    }
    compare_with(second_.trace());
  }
  follow_zoom();
  emit panels_changed();
}

/// Takes the camera of the session, if it is one of maps of this size.
void MapsModel::follow_zoom() {
  const auto& zoom = choice_.zoom;
  const bool suits = zoom && zoom->rows == rows() && zoom->columns == columns() &&
                     std::isfinite(zoom->row + zoom->column) && zoom->scale > 0;
  camera_fits = !suits;
  if (!suits) return;
  camera = {zoom->row, zoom->column, std::min(zoom->scale, MapCamera::largest_scale)};
  const auto [most_columns, most_rows] = largest_size();
  camera.clamp(most_rows, most_columns);
}

void MapsModel::keep_camera(const QString& label, const QString& merge) {
  const MapZoom zoom{camera.row, camera.column, camera.scale, rows(), columns()};
  workspace_.document().edit(
      label, [&](Session& s) { s.maps.zoom = zoom; }, merge);
}

void MapsModel::fit() {
  camera_fits = true;
  if (!workspace_.document().session().maps.zoom) return;
  workspace_.document().edit(tr("fit the maps"), [](Session& s) { s.maps.zoom.reset(); });
}

void MapsModel::compare_with(const std::shared_ptr<const Trace>& trace) {
  beside_ = trace;
  const std::int64_t batch = workspace_.document().session().trace.batch;
  beside_tokens_ =
      beside_ ? std::make_shared<MapTokens>(map_tokens(*beside_, batch, choice_)) : tokens_;
}

std::vector<PanelOf> MapsModel::panels_of_operator() const {
  if (!choice_.beside || (!beside_ && beside_error_.empty())) return {PanelOf::open};
  const auto alike = [](const MapAxis& a, const MapAxis& b) {
    return a.size() == b.size() && a.tokens() == b.tokens();
  };
  const bool differ = !beside_ || !alike(tokens_->query, beside_tokens_->query) ||
                      !alike(tokens_->key, beside_tokens_->key);
  const bool other_values =
      !differ && quantity_of(beside_.get()) != quantity_of(workspace_.trace().get());
  if (differ || other_values || choice_.beside->group == all_arrays)
    return {PanelOf::open, PanelOf::beside};
  return {PanelOf::open, PanelOf::beside, PanelOf::difference};
}

MapSubject MapsModel::subject(PanelOf of) const {
  const TraceChoice& open = workspace_.document().session().trace;
  if (of == PanelOf::open) {
    const auto& trace = workspace_.trace();
    return {trace,        layers_beside(workspace_.groups(), trace->group),
            open.batch,   open.head,
            choice_.join, workspace_.device()};
  }
  const BesideChoice& beside = *choice_.beside;
  const std::int64_t head = beside.group == all_arrays ? open.head : beside.head;
  return {beside_,     layers_beside(second_.groups(), beside.group),
          open.batch,  head,
          beside.join, workspace_.device()};
}

std::string MapsModel::quantity_of(const Trace* trace) const {
  return trace != nullptr && trace->stored ? trace->stored->name : choice_.quantity;
}

std::string MapsModel::title_of_stored_difference(const Call& call) const {
  const auto name = [&](const Trace& trace) {
    return trace.stored ? trace.stored->title + ", stored " + trace.stored->name
                        : panel_title(call, nullptr) + drawn_tensors(call, trace);
  };
  const std::string open = name(*workspace_.trace()), beside = name(*beside_);
  return open == beside ? open + ", difference" : open + " − " + beside;
}

std::string MapsModel::title_of(const Call& call, const Call* reference, PanelOf of) const {
  const Trace& open = *workspace_.trace();
  const bool differs = of == PanelOf::difference;
  if (differs && (open.stored || beside_->stored)) return title_of_stored_difference(call);
  const Call& made = reference != nullptr && makes_heads(*reference) ? *reference : call;
  std::string title =
      panel_title(call, reference) + drawn_tensors(call, open) + made_head(made, open);
  const auto& stored = of == PanelOf::beside && beside_ ? beside_->stored : head_->stored;
  if (stored) title = stored->title + ", stored " + stored->name;
  if (stored && of == PanelOf::open && compares()) {
    return title + " · " + std::to_string(head_->head_index);
  }
  if (differs) return title + ", difference";
  if (!compares()) return title;
  const auto folder = [](const Trace& trace) {
    return trace.group.substr(0, trace.group.rfind('/'));
  };
  const bool whole = beside_ && folder(*beside_) != folder(*workspace_.trace());
  if (of == PanelOf::open) return title + ", " + subject_name(subject(of), whole);
  if (!beside_) return title;
  const bool other_file = beside_->file != workspace_.trace()->file;
  const std::string file = beside_->file.substr(beside_->file.rfind('/') + 1);
  if (stored) title = (other_file ? file + ": " : "") + title;
  if (stored) return title + " · " + std::to_string(subject(of).head);
  title += ", " + (other_file ? file + ": " : "") + subject_name(subject(of), whole);
  const bool of_another = beside_->own_call && call_text(*beside_->own_call) != call_text(call);
  return title + (of_another ? ", made for " + call_title(*beside_->own_call) : "");
}

std::shared_ptr<MatrixSource> MapsModel::source_of(const Call& call, const Call* reference,
                                                   PanelOf of) const {
  const Map2d quantity = choice_.quantity == "logits" ? Map2d::logits : Map2d::weights;
  const auto of_subject = [&](PanelOf which) -> SourceOfCall {
    const MapSubject whose = subject(which);
    if (which == PanelOf::open && whose.join == head_joins[0]) {
      return [=, this](const Call& c) {
        return attention_source(head_, call_on_head(c, *whose.trace, whose.head), quantity);
      };
    }
    return [=](const Call& c) { return subject_source(whose, c, quantity); };
  };
  const PanelOf first = of == PanelOf::beside ? of : PanelOf::open;
  return shown_source(of_subject(first),
                      of == PanelOf::difference ? of_subject(PanelOf::beside) : nullptr, call,
                      reference, of == PanelOf::beside ? beside_tokens_.get() : tokens_.get());
}

std::shared_ptr<MapPanel> MapsModel::make_panel(std::size_t operation, PanelOf of) {
  const Call& call = choice_.calls[operation];
  const Call* reference = reference_call(choice_);
  // A stored map is that of one operator, which nothing is subtracted from.
  const bool of_stored = of != PanelOf::open && beside_ && beside_->stored;
  if (reference == &call || of_stored) reference = nullptr;
  const Trace* shown = of == PanelOf::beside ? beside_.get() : workspace_.trace().get();
  const std::string key = key_of(call, reference, choice_, of, shown);
  if (const auto found = made_.find(key); found != made_.end()) {
    found->second->operation = operation;
    return found->second;
  }
  auto panel = std::make_shared<MapPanel>();
  panel->title = title_of(call, reference, of);
  panel->operation = operation;
  panel->of = of;
  const bool stored = shown != nullptr && shown->stored && of != PanelOf::difference;
  if (stored) panel->stored = shown->stored->name;
  panel->tokens = of == PanelOf::beside ? beside_tokens_ : tokens_;
  panel->difference = reference != nullptr || of == PanelOf::difference;
  if (of == PanelOf::beside) panel->error = beside_error_;
  try {
    if (panel->error.empty()) {
      panel->pyramid = std::make_shared<MapPyramid>(source_of(call, reference, of));
      panel->difference |= panel->pyramid->source().is_difference();  // Stored gradients too.
      start_pass(panel);
    }
  } catch (const Error& error) {
    panel->error = error.what();
  }
  if (made_.size() >= most_made) made_.clear();
  made_[key] = panel;
  return panel;
}

void MapsModel::start_pass(const std::shared_ptr<MapPanel>& panel) {
  const std::weak_ptr<MapPanel> weak = panel;
  panel->summary = panel->pyramid->summary();
  panel->pass = workspace_.jobs().start<bool>(
      "attention map: " + panel->title,
      [pyramid = panel->pyramid](const PoolContext& context) {
        pyramid->fill_sample();
        pyramid->fill(context.execution(true));
        return true;
      },
      [this](bool) { poll(); },
      [this, weak](const std::string& message) {
        if (const auto done = weak.lock()) take_failure(message, cancelled_, done->error);
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
    if (!panel->pyramid || panel->pyramid->revision() == panel->summary.revision) continue;
    panel->summary = panel->pyramid->summary();
    changed = true;
  }
  if (!busy) poll_.stop();
  if (changed || !busy) emit progressed();
}

const MapPanel& MapsModel::shown(std::size_t place) const {
  if (!flipped_) return *panels_[place];
  if (together() > 1) {
    const PanelOf of = panels_[place]->of;
    if (of == PanelOf::open) return *panels_[place + 1];
    const bool swaps = of == PanelOf::beside && panels_[place - 1]->of == PanelOf::open;
    return *panels_[swaps ? place - 1 : place];
  }
  const auto reference = static_cast<std::size_t>(std::max(0, choice_.reference));
  return reference < panels_.size() ? *panels_[reference] : *panels_[place];
}

std::size_t MapsModel::together() const {
  return panels_.empty() ? 1 : panels_.size() / choice_.calls.size();
}

bool MapsModel::tokens_differ() const {
  return std::ranges::any_of(panels_, [&](const auto& panel) {
    const MapTokens& tokens = *panel->tokens;
    return tokens.query.label != tokens_->query.label || tokens.key.label != tokens_->key.label ||
           tokens.query.size() != rows() || tokens.key.size() != columns();
  });
}

std::pair<std::int64_t, std::int64_t> MapsModel::largest_size() const {
  std::pair<std::int64_t, std::int64_t> size{columns(), rows()};
  for (const auto& panel : panels_) {
    size.first = std::max(size.first, panel->tokens->key.size());
    size.second = std::max(size.second, panel->tokens->query.size());
  }
  return size;
}

void MapsModel::flip(bool held) {
  if (flipped_ == held) return;
  flipped_ = held;
  emit progressed();
}

// ---- tiles and exact values ---------------------------------------------------------------------

void MapsModel::request_tiles(std::size_t place, double width, double height) {
  const std::shared_ptr<MapPanel>& panel = panels_[place];
  if (!panel->pyramid || cancelled_ || !panel->pyramid->complete()) return;
  const std::vector<TileKey> missing = missing_tiles(*panel->pyramid, camera, width, height);
  std::erase_if(panel->tiles, [&](const auto& job) { return !contains(missing, job.first); });
  const std::weak_ptr<MapPanel> weak = panel;
  for (const TileKey& key : missing) {
    if (panel->tiles.size() >= most_tile_jobs) break;
    if (panel->tiles.contains(key)) continue;
    const auto finish = [this, weak, key] {
      if (const auto done = weak.lock()) done->tiles.erase(key);
      poll();
    };
    panel->tiles[key] = workspace_.jobs().start<bool>(
        "tile of " + panel->title,
        [pyramid = panel->pyramid, key](const PoolContext& context) {
          context.stop_if_cancelled();
          pyramid->compute_tile(key);
          return true;
        },
        [finish](bool) { finish(); }, [finish](const std::string&) { finish(); }, true);
  }
  if (!panel->tiles.empty() && !poll_.isActive()) poll_.start();
}

void MapsModel::prepare_exact(const std::optional<Focus>& pair) {
  const auto cell = tokens_->cell_of(pair);
  if (!cell) return;
  for (const auto& panel : panels_) {
    panel->exact.cancel();
    if (!panel->pyramid || cell->query >= panel->pyramid->rows() ||
        panel->pyramid->source().exact_is_quick(cell->query))
      continue;
    panel->exact = exact_row(workspace_.jobs(), panel->pyramid, cell->query,
                             [this](bool) { emit exact_known(); });
  }
}

std::string MapsModel::value_text(const MapPanel& panel, const Focus& cell) const {
  if (!panel.pyramid) return panel.error;
  if (cell.query >= panel.pyramid->rows() || cell.key >= panel.pyramid->columns()) return "none";
  if (!panel.pyramid->source().exact_is_quick(cell.query)) return "computing …";
  return exact_text(panel, cell);
}

std::string MapsModel::exact_text(const MapPanel& panel, const Focus& cell) try {
  const double value = panel.pyramid->source().exact(cell.query, cell.key);
  return std::isinf(value) && value < 0 ? "masked" : fmt::format("{:.12g}", value);
} catch (const Error& error) {  // A token lies outside of the model, which the pass finds later.
  return error.what();
}

bool MapsModel::hides_value(const MapPanel& panel, const Focus& cell) {
  if (!panel.pyramid || !panel.pyramid->complete() || cell.query >= panel.pyramid->rows() ||
      cell.key >= panel.pyramid->columns() || !panel.pyramid->source().exact_is_quick(cell.query)) {
    return false;
  }
  float drawn = 1;
  panel.pyramid->read_row(0, cell.query, cell.key, 1, &drawn);
  return drawn == 0 && panel.pyramid->source().exact(cell.query, cell.key) != 0;
}

std::vector<std::pair<std::int64_t, double>> MapsModel::largest_keys(const MapPanel& panel,
                                                                     std::int64_t query,
                                                                     std::size_t count) try {
  std::vector<std::pair<std::int64_t, double>> keys;
  if (panel.failed() || query >= panel.pyramid->rows()) return keys;
  const MatrixSource& source = panel.pyramid->source();
  const bool of_tokens =
      query < panel.tokens->query.size() && source.columns() <= panel.tokens->key.size();
  if (!of_tokens || !source.exact_is_quick(query)) return keys;
  const std::vector<std::uint8_t>& special = panel.tokens->key.special;
  for (std::int64_t key = 0; key < source.columns(); ++key) {
    const auto at = static_cast<std::size_t>(key);
    const bool excluded = panel.tokens->excludes && special[at] != 0;
    const double value = excluded ? std::nan("") : source.exact(query, key);
    if (std::isfinite(value)) keys.emplace_back(key, value);
  }
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(count, keys.size()));
  std::ranges::partial_sort(keys, end, [](const auto& a, const auto& b) {
    return std::pair(-a.second, a.first) < std::pair(-b.second, b.first);
  });
  keys.erase(end, keys.end());
  return keys;
} catch (const Error&) {  // A token lies outside of the model.
  return {};
}

void MapsModel::with_exact_row(const std::shared_ptr<MapPanel>& panel, std::int64_t row,
                               std::function<void()> use) {
  if (!panel->pyramid) return;
  if (panel->pyramid->source().exact_is_quick(row)) return use();
  copying_ =
      exact_row(workspace_.jobs(), panel->pyramid, row, [use = std::move(use)](bool) { use(); });
}

std::string MapsModel::readout(const std::optional<Focus>& pair) const {
  const auto cell = tokens_->cell_of(pair);
  if (!cell) return "";
  const MapAxis &query = tokens_->query, &key = tokens_->key;
  std::string text = query.text_of(cell->query) + ", " + key.text_of(cell->key);
  for (const auto& panel : panels_) {
    text += fmt::format("\n{}: {}", panel->title, value_text(*panel, *cell));
    if (hides_value(*panel, *cell)) text += " (drawn as 0)";
    const MapAxis &q = panel->tokens->query, &k = panel->tokens->key;
    const bool there = cell->query < q.size() && cell->key < k.size();
    if (there && (q.label_of(cell->query) != query.label_of(cell->query) ||
                  k.label_of(cell->key) != key.label_of(cell->key))) {
      text += fmt::format(" (“{}”, “{}”)", q.label_of(cell->query), k.label_of(cell->key));
    }
    for (const auto& [largest, value] : largest_keys(*panel, cell->query, 1)) {
      text += largest == cell->key
                  ? ", the row's largest"
                  : fmt::format(", the row's largest {:.4g} at {}", value, k.brief_of(largest));
    }
  }
  return text;
}

}  // namespace conelab::desktop
