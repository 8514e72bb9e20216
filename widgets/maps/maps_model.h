// The model of the attention maps view: panels, camera, colours, readouts.
//
// There is one panel per operator of the session, all of the same trace, layer and head, under one
// camera. If the session compares them with another layer, head or trace, each operator has further
// panels: that one, and the difference if they have the same tokens. The pass over each matrix and
// its tiles are jobs; removing a panel cancels them.
#pragma once

#include <QObject>
#include <QTimer>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/joined_source.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/maps/colour_scale.h"
#include "widgets/maps/map_pyramid.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/map_tokens.h"
#include "widgets/session/document.h"
#include "widgets/trace/second_trace.h"

namespace conelab::desktop {

/// Which attention of an operator a panel shows: that of the open layer and head, that which it is
/// compared with, or the first minus the second.
enum class PanelOf { open, beside, difference };

struct MapPanel {
  std::string title;          ///< "penumbral", "penumbral − dot" or "penumbral, layer3 · 5".
  std::size_t operation = 0;  ///< Index of the operator.
  PanelOf of = PanelOf::open;
  std::shared_ptr<const MapTokens> tokens;  ///< Its rows and columns.
  bool difference = false;
  std::string stored;                   ///< The name of a stored map, "dL/dq"; otherwise empty.
  std::string error;                    ///< One line if the call is invalid or fails.
  std::shared_ptr<MapPyramid> pyramid;  ///< Null if there is an error.
  MapSummary summary;                   ///< The summary of the pyramid when last read.
  JobHandle pass;
  std::map<TileKey, JobHandle> tiles;
  JobHandle exact;

  [[nodiscard]] bool busy() const { return pass.active() || !tiles.empty(); }
  /// Returns whether the panel shows an error instead of a map.
  [[nodiscard]] bool failed() const { return !pyramid || !error.empty(); }
};

class MapsModel : public QObject {
  Q_OBJECT

 public:
  explicit MapsModel(Workspace& workspace);

  /// Says whether somebody sees the maps; empty: always. Only then are those of a training that
  /// goes on made.
  std::function<bool()> seen;
  /// Makes the maps that were left out because nobody saw them.
  void catch_up() {
    if (left_out_) rebuild();
  }

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] const std::vector<std::shared_ptr<MapPanel>>& panels() const { return panels_; }
  /// Returns the trace that is compared with the open one.
  [[nodiscard]] SecondTrace& second() { return second_; }
  /// Returns whether panels show something else than one head, or are compared.
  [[nodiscard]] bool compares() const { return choice_.beside || choice_.join != head_joins[0]; }
  /// Returns how many panels each operator has.
  [[nodiscard]] std::size_t together() const;
  /// Returns whether panels have different tokens.
  [[nodiscard]] bool tokens_differ() const;
  /// Returns the size of the largest map, {columns, rows}.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> largest_size() const;
  /// Returns the panel that is drawn at a position. While a key is held, this is the reference
  /// everywhere; if maps are compared, the two change places.
  [[nodiscard]] const MapPanel& shown(std::size_t place) const;
  /// Returns the first panel that has a map; absent if all of them failed.
  [[nodiscard]] std::optional<std::size_t> first_with_map() const {
    const auto found =
        std::ranges::find_if(panels_, [](const auto& panel) { return !panel->failed(); });
    if (found == panels_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - panels_.begin());
  }
  void flip(bool held);
  [[nodiscard]] bool flipped() const { return flipped_; }

  /// Returns the rows and columns of the maps. Focused pairs are pairs of tokens; all cells here
  /// are those of the maps.
  [[nodiscard]] const MapTokens& tokens() const { return *tokens_; }
  [[nodiscard]] std::int64_t rows() const { return tokens_->query.size(); }
  [[nodiscard]] std::int64_t columns() const { return tokens_->key.size(); }

  /// Sets whether the theme is dark, for the colours of the theme.
  void use_dark_colours(bool dark);
  [[nodiscard]] ColourChoice colour_choice(bool has_signs) const;
  [[nodiscard]] ColourChoice colour_choice(const MapPanel& panel) const {
    return colour_choice(has_signs(panel));
  }
  /// Returns whether the values of a panel have signs: a difference, or weights below zero.
  [[nodiscard]] static bool has_signs(const MapPanel& panel) {
    return panel.difference || panel.summary.is_signed();
  }
  /// Returns whether all panels that have a map can have one colour bar.
  [[nodiscard]] bool one_bar() const;
  /// Returns what the colours of a map mean: "weights", "rank of weights", "difference of logits".
  [[nodiscard]] std::string value_name(bool difference) const;
  /// Returns the same of a panel: of a stored map its name, "dL/dq".
  [[nodiscard]] std::string value_name(const MapPanel& panel) const;
  /// Returns whether exact zeros have their own colour.
  [[nodiscard]] bool zeros_are_special(bool difference) const;
  /// Returns which of the colours for zero, masked and NaN a panel uses.
  [[nodiscard]] figure::Specials specials(const MapPanel& panel) const;
  /// Returns the limits of a panel, which are those of all panels if the session shares them, or
  /// those that were set by hand.
  [[nodiscard]] figure::Limits limits(const MapPanel& panel) const;
  /// Returns the range of a panel's colour bar: all values and the limits.
  [[nodiscard]] figure::Limits range(const MapPanel& panel) const;
  /// Returns what limits that are set by hand apply to, as the session names it: "weights",
  /// "weights of dot".
  [[nodiscard]] std::string limits_name(const MapPanel& panel) const;
  /// Sets the limits of a panel by hand, or those of all panels if the session shares them.
  void set_limits(const MapPanel& panel, figure::Limits limits);
  /// Returns to the limits that follow from the values.
  void reset_limits(const MapPanel& panel);
  /// Returns whether some panels could have the same limits, whatever the session says.
  [[nodiscard]] bool can_share_limits() const;
  /// Returns the panels whose colours have the same limits.
  [[nodiscard]] std::vector<const MapPanel*> sharing(const MapPanel& panel) const;
  /// Returns the fraction of the shared colours that the values of a panel use.
  [[nodiscard]] double used_colours(const MapPanel& panel) const;
  /// Returns whether the panel uses only a small part of the shared colours, because another panel
  /// has much larger values.
  [[nodiscard]] bool flat(const MapPanel& panel) const;

  /// Starts jobs for the tiles that a picture of this size lacks, and cancels those that it does
  /// not show any more.
  void request_tiles(std::size_t place, double width, double height);

  /// Cancels all jobs; their results so far remain. `resume` starts them again.
  void cancel();
  void resume();
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  /// Starts jobs for the exact values of a pair that take long to compute. `exact_known` is emitted
  /// when they are available.
  void prepare_exact(const std::optional<Focus>& pair);
  /// Returns the value of a cell in double precision, or "masked" or "computing …".
  [[nodiscard]] std::string value_text(const MapPanel& panel, const Focus& cell) const;
  /// Returns the same however long the computation takes. Other cells of the row are then known.
  [[nodiscard]] static std::string exact_text(const MapPanel& panel, const Focus& cell);
  /// Returns whether a cell is drawn as 0 though its value is not: the picture is in single
  /// precision.
  [[nodiscard]] static bool hides_value(const MapPanel& panel, const Focus& cell);
  /// Returns the largest exact values of a row of the panel with their keys, the largest first;
  /// none while their computation takes long, and of a panel without a map. Special tokens that are
  /// excluded are left out.
  [[nodiscard]] static std::vector<std::pair<std::int64_t, double>> largest_keys(
      const MapPanel& panel, std::int64_t query, std::size_t count);
  /// Calls `use` when the exact values of a row are known: at once, or after a job.
  void with_exact_row(const std::shared_ptr<MapPanel>& panel, std::int64_t row,
                      std::function<void()> use);
  /// Returns the tokens and then one line per panel with exact values; empty without a pair.
  [[nodiscard]] std::string readout(const std::optional<Focus>& pair) const;

  /// Puts the camera, which the user has moved, into the session. `merge` is that of the edit.
  void keep_camera(const QString& label, const QString& merge);
  /// Lets the camera follow the window again.
  void fit();

  MapCamera camera;
  bool camera_fits = true;  ///< Whether the camera follows the window; until the user moves it.

 signals:
  /// Panels were created or removed, and the camera was reset if the matrix has another size.
  void panels_changed();
  /// Pixels have changed.
  void progressed();
  /// Exact values have been computed.
  void exact_known();

 private:
  void rebuild();
  void follow_zoom();
  void compare_with(const std::shared_ptr<const Trace>& trace);
  [[nodiscard]] std::vector<PanelOf> panels_of_operator() const;
  [[nodiscard]] std::shared_ptr<MapPanel> make_panel(std::size_t operation, PanelOf of);
  [[nodiscard]] std::string title_of(const Call& call, const Call* reference, PanelOf of) const;
  /// Returns the title of a difference that has a stored map on a side; it names both sides unless
  /// they have the same name.
  [[nodiscard]] std::string title_of_stored_difference(const Call& call) const;
  /// Returns what a side shows: "weights", "logits", or of a stored map its name.
  [[nodiscard]] std::string quantity_of(const Trace* trace) const;
  [[nodiscard]] std::string quantity_of(const MapPanel& panel) const {
    return panel.stored.empty() ? choice_.quantity : panel.stored;
  }
  /// Returns whether the values of two panels are of one kind, so that one range suits both.
  [[nodiscard]] bool of_one_kind(const MapPanel& a, const MapPanel& b) const;
  [[nodiscard]] MapSubject subject(PanelOf of) const;
  [[nodiscard]] std::shared_ptr<MatrixSource> source_of(const Call& call, const Call* reference,
                                                        PanelOf of) const;
  void start_pass(const std::shared_ptr<MapPanel>& panel);
  void poll();

  Workspace& workspace_;
  SecondTrace second_;
  bool left_out_ = false;
  std::vector<std::shared_ptr<MapPanel>> panels_;
  std::map<std::string, std::shared_ptr<MapPanel>> made_;  ///< Panels by content, for undo.
  std::shared_ptr<const HeadInput> head_;
  std::shared_ptr<const MapTokens> tokens_ = std::make_shared<MapTokens>();
  std::shared_ptr<const Trace> beside_;  ///< What is compared; null while it is not known.
  std::shared_ptr<const MapTokens> beside_tokens_ = tokens_;
  std::string beside_error_;
  MapChoice choice_;
  QTimer poll_;
  JobHandle copying_;
  bool flipped_ = false, cancelled_ = false, dark_ = false;
};

/// Handles a job that ended without a result: sets `cancelled` if it was cancelled, so that
/// `resume` can start it again, otherwise `error`.
void take_failure(const std::string& message, bool& cancelled, std::string& error);
/// Returns the title of a call, followed by " − " and that of the reference if there is one.
[[nodiscard]] std::string panel_title(const Call& call, const Call* reference);
/// Returns the call that is subtracted from the others; null if there is none.
[[nodiscard]] const Call* reference_call(const MapChoice& choice);
/// Returns the matrix of a head under a call, minus that under the reference if there is one: of
/// the words and without the special tokens that `tokens` says; by default of all tokens. Throws
/// misuse for invalid calls.
[[nodiscard]] std::shared_ptr<MatrixSource> map_source(
    const std::shared_ptr<const HeadInput>& input, const Trace& trace, std::int64_t head,
    const Call& call, const Call* reference, Map2d quantity, const MapTokens* tokens = nullptr);

}  // namespace conelab::desktop
