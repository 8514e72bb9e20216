// What the attention maps view shows, without a window: panels, camera, colours, readouts.
//
// One panel an operator of the session, all of the same trace, layer and head, under one camera.
// Each panel's pass over its matrix and its tiles are jobs; dropping a panel cancels them.
#pragma once

#include <QObject>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "widgets/jobs/job_pool.h"
#include "widgets/maps/map_camera.h"
#include "widgets/maps/map_colours.h"
#include "widgets/maps/map_pyramid.h"
#include "widgets/session/document.h"
#include "widgets/trace/workspace.h"

namespace conelab::desktop {

struct MapPanel {
  std::string title;  ///< "penumbral", or "penumbral − dot".
  bool difference = false;
  std::string error;                    ///< One line where the call does not resolve or run.
  std::shared_ptr<MapPyramid> pyramid;  ///< Null where there is an error.
  MapSummary summary;                   ///< Of the pyramid, as last looked at.
  std::uint64_t revision = 0;           ///< Of that look.
  JobHandle pass;
  std::map<TileKey, JobHandle> tiles;
  JobHandle exact;

  [[nodiscard]] bool busy() const { return pass.active() || !tiles.empty(); }
};

class MapsModel : public QObject {
  Q_OBJECT

 public:
  MapsModel(Workspace& workspace, QObject* parent = nullptr);

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] const std::vector<std::shared_ptr<MapPanel>>& panels() const { return panels_; }
  /// The panel that is drawn in a place: the reference everywhere while a key is held.
  [[nodiscard]] const MapPanel& shown(std::size_t place) const;
  void flip(bool held);
  [[nodiscard]] bool flipped() const { return flipped_; }

  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const;

  [[nodiscard]] ColourChoice colour_choice(bool difference) const;
  [[nodiscard]] ColourChoice colour_choice(const MapPanel& panel) const {
    return colour_choice(panel.difference);
  }
  /// What the colours of a map mean: "weights", "rank of weights", "difference of logits".
  [[nodiscard]] std::string value_name(bool difference) const;
  /// Whether exact zeros have their own colour.
  [[nodiscard]] bool zeros_are_special(bool difference) const;
  /// Which of the colours for zero, masked and NaN a panel uses.
  [[nodiscard]] figure::Specials specials(const MapPanel& panel) const;
  /// Shared with the other panels where the session says so.
  [[nodiscard]] figure::Limits limits(const MapPanel& panel) const;
  /// Whether another panel's values leave this one little of the shared colours.
  [[nodiscard]] bool flat(const MapPanel& panel) const;

  /// Starts jobs for what a picture of this size lacks, and ends those for what it no longer shows.
  void request_tiles(std::size_t place, double width, double height);

  /// Cancels everything under way; what is there stays. `resume` starts it again.
  void cancel();
  void resume();
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  /// Computes, in jobs, what a pair's exact values need and what takes longer than a moment;
  /// `exact_known` tells when it is there.
  void prepare_exact(const std::optional<Focus>& cell);
  /// The value of a cell in double precision, "masked", or "computing …".
  [[nodiscard]] std::string value_text(const MapPanel& panel, const Focus& cell) const;
  /// One line a panel with exact values, the tokens first; empty where nothing is focused.
  [[nodiscard]] std::string readout(const std::optional<Focus>& cell) const;

  MapCamera camera;
  bool camera_fits = true;  ///< The camera follows the window until it is moved.

 signals:
  /// Panels were made or dropped; the camera was reset with the matrix's size.
  void panels_changed();
  /// Pixels have changed.
  void progressed();
  /// Exact values that were computed are there.
  void exact_known();

 private:
  void rebuild();
  [[nodiscard]] std::shared_ptr<MapPanel> make_panel(const Call& call, const Call* reference);
  void start_pass(const std::shared_ptr<MapPanel>& panel);
  void poll();

  Workspace& workspace_;
  std::vector<std::shared_ptr<MapPanel>> panels_;
  std::map<std::string, std::shared_ptr<MapPanel>> made_;  ///< By what they show, for undo.
  std::shared_ptr<const HeadInput> head_;
  MapChoice choice_;
  QTimer poll_;
  bool flipped_ = false, cancelled_ = false;
};

/// What the end of a job without a result means to the model whose it was: one that was cancelled
/// is started again by `resume`, all else is an error.
void take_failure(const std::string& message, bool& cancelled, std::string& error);
/// The call's title, minus the reference's where there is one.
[[nodiscard]] std::string panel_title(const Call& call, const Call* reference);
/// The call that others are subtracted from; null: none.
[[nodiscard]] const Call* reference_call(const MapChoice& choice);
/// A head's matrix under a call, minus that under the reference where there is one. Throws misuse
/// for calls that do not resolve.
[[nodiscard]] std::shared_ptr<MatrixSource> map_source(
    const std::shared_ptr<const HeadInput>& input, const Trace& trace, std::int64_t head,
    const Call& call, const Call* reference, Map2d quantity);

}  // namespace conelab::desktop
