// The cone explorer's viewport: the scene in one pane a family, its points to be dragged, and
// controls over it.
//
// Curves and fills are exact in every frame. The heat layer is computed on a coarse grid while
// something moves and refined, a slice at a time, once it rests; the legend says which.
#pragma once

#include <QTimer>
#include <memory>

#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/scene_painter.h"
#include "widgets/explorer/scene_table.h"
#include "widgets/explorer/space_surfaces.h"
#include "widgets/explorer/token_marks.h"
#include "widgets/imgui/overlay_spot.h"
#include "widgets/imgui/viewport.h"
#include "widgets/session/document.h"

namespace conelab::desktop {

class Overlay;

class ExplorerViewport : public Viewport {
  Q_OBJECT

 public:
  explicit ExplorerViewport(Document& document, QWidget* parent = nullptr);
  ~ExplorerViewport() override;

  /// What is looked at: the session's scene, or a pair of tokens in their plane, whose camera is
  /// not the session's: it fits each pair anew.
  void show_choice(ConeChoice choice);
  /// With the camera as it is.
  [[nodiscard]] const ConeChoice& choice() const { return shown_; }
  /// Of a pane: 0 is the session's family, the others those beside it.
  [[nodiscard]] const ConeScene& scene(std::size_t pane = 0) const { return panes_[pane].scene; }
  [[nodiscard]] std::size_t pane_count() const { return panes_.size(); }
  [[nodiscard]] ShownScene shown(std::size_t i) const {
    return {panes_[i].choice, panes_[i].scene};
  }
  [[nodiscard]] PlaneFrame frame(std::size_t pane = 0) const;
  /// Hyperboloid and H³ are seen in space, where dragging the ground turns the view.
  [[nodiscard]] bool in_space() const;
  [[nodiscard]] SpaceFrame turned_frame(std::size_t pane = 0) const;
  /// Where "u", "v" or "source" is on the viewport.
  [[nodiscard]] QPointF handle(const char* name, std::size_t pane = 0) const;
  /// The camera fits itself to the scene and to the window until it is moved.
  void fit();
  /// Tokens as points of the first pane's plane; none: an empty list.
  void show_tokens(TokenMarks marks);
  [[nodiscard]] const TokenMarks& tokens() const { return tokens_; }
  [[nodiscard]] QPointF token_place(std::size_t token) const;
  /// A finite source recedes until its cones are those of the infinite family; again: it stops.
  void recede();
  [[nodiscard]] bool receding() const { return receding_.isActive(); }
  /// Pixels between the heat layer's nodes in the last frame, and whether it is as fine as it gets.
  [[nodiscard]] int heat_step() const { return heat_step_; }
  /// Where the settings were in the last frame, and whether the scene is seen through them.
  [[nodiscard]] QRectF settings_place() const { return settings_place_; }
  [[nodiscard]] bool settings_cover_points() const { return covered_points_ > 0; }
  /// Where the heat layers' legends were in the last frame: one in each pane that has room for it.
  [[nodiscard]] const std::vector<figure::Box>& legends() const { return legends_; }
  /// Milliseconds of the last frame's drawing, to its completion where `measured`.
  [[nodiscard]] double frame_time() const { return frame_time_; }
  bool measured = false;
  [[nodiscard]] const PlaneCamera& camera() const { return camera_; }
  [[nodiscard]] const SpaceCamera& view() const { return view_; }

 signals:
  void scene_changed();
  /// The pointer is over a token's point, or over none (−1); it was clicked.
  void token_pointed(int token);
  void token_chosen(int token);

 protected:
  void create_scene() override;
  void destroy_scene() override;
  void draw_scene() override;
  void draw_controls() override;
  [[nodiscard]] bool covers_ground() const override;
  void changeEvent(QEvent* event) override;

 private:
  static constexpr int coarse_step = 8;  ///< Pixels between the heat layer's nodes in movement.
  struct Pane {
    ConeChoice choice;
    ConeScene scene;
    figure::Box box;
    ConePicture picture;
    std::shared_ptr<HeatRaster> heat, finer;  ///< What is shown; what is being computed.
    long heat_version = 0;
    std::vector<Corner> triangles;  ///< In space: far ones first.
  };
  void make_panes();
  void lay_out();
  void look_from(const std::optional<ConeCamera>& camera);
  /// The user looks elsewhere, or (none) at all of the scene: an edit, many in a row one step.
  void look(const std::optional<ConeCamera>& camera);
  [[nodiscard]] ConeCamera looking() const;
  /// Pictures anew where something has changed, heat refined where nothing has.
  void update_pictures();
  [[nodiscard]] std::shared_ptr<HeatRaster> raster(std::size_t pane, int step) const;
  void refine();
  void update_space(std::size_t pane);
  static void show_half_space(Pane& pane, const SpaceFrame& frame, const QPalette& palette);
  static void show_hyperboloid(Pane& pane, const SpaceFrame& frame, const QPalette& palette);
  [[nodiscard]] std::optional<PlanePoint> point_under(std::size_t pane, const QPointF& p) const;
  /// Where the point that is being dragged goes.
  [[nodiscard]] std::optional<PlanePoint> dragged_to(const QPointF& to) const;
  [[nodiscard]] QPointF pixel_of(std::size_t pane, const PlanePoint& p) const;
  void draw_panes();
  void draw_strokes(const std::vector<Stroke>& strokes);
  void draw_marks(std::size_t pane);
  void draw_title(std::size_t pane);
  void draw_tokens();
  void point_at_tokens();
  void draw_legend(std::size_t pane);
  void draw_settings();
  void place_settings();
  [[nodiscard]] std::vector<QPointF> points_shown() const;
  void draw_parameters(Overlay& overlay);
  void draw_toggles(Overlay& overlay);
  void draw_recession(Overlay& overlay);
  void handle_pointer();
  [[nodiscard]] std::size_t pane_at(const QPointF& p) const;
  [[nodiscard]] QString handle_at(const QPointF& p, std::size_t pane) const;
  void move_ground(const QPointF& pointer);
  void move_handle(const QPointF& to);
  void zoom(double notches, const QPointF& pointer);
  void set_source_height(double height, const QString& label, const QString& merge);
  void advance();
  template <class Change>
  void edit(const QString& label, Change change, const QString& merge = {});

  TokenMarks tokens_;
  std::optional<std::size_t> token_under_;
  Document& document_;
  ConeChoice shown_;  ///< Its camera is none as long as the view fits itself.
  PlaneCamera camera_;
  SpaceCamera view_;
  std::vector<Pane> panes_;
  ScenePainter painter_;
  struct Drawn {
    PlaneCamera camera;
    SpaceCamera view;
    QSize size;
    bool operator==(const Drawn&) const = default;
  } drawn_;
  ConeChoice framed_;  ///< The scene for which the view into space was fitted: it stands still.
  bool dirty_ = true;
  int heat_step_ = 0;
  QString dragged_;  ///< "u", "v", "source", "ground", or empty.
  std::size_t dragged_pane_ = 0;
  std::optional<PlanePoint> grabbed_;  ///< The point of the ground that follows the pointer.
  QTimer receding_, resting_;
  QSize fitted_;                  ///< The size for which the camera was fitted.
  std::optional<bool> settings_;  ///< Open or closed by the user; else by the room there is.
  OverlaySpot settings_spot_;
  QRectF settings_place_;             ///< In the last frame.
  QSize placed_in_;                   ///< The view's size when their spot was chosen,
  QSizeF placed_size_;                ///< and theirs.
  QSizeF settings_open_;              ///< When they were last open.
  bool settings_settled_ = false;     ///< Their size is what it was in the frame before.
  bool settings_crowded_ = false;     ///< Open, they would cover a point wherever they stand.
  int covered_points_ = 0;            ///< By the settings as they are.
  std::vector<figure::Box> titles_;   ///< Of the panes, in the last frame.
  std::vector<figure::Box> legends_;  ///< Likewise.
  double recede_time_ = 0;            ///< Of the last step, in seconds.
  double frame_time_ = 0;
};

}  // namespace conelab::desktop
