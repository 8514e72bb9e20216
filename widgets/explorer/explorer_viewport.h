// The viewport of the cone explorer: the scene in one pane per family, with points that can be
// dragged and controls above it.
//
// Curves and fills are exact in every frame. The heat layer is computed on a coarse grid while
// something moves. At rest it is refined in time slices; the legend shows the current resolution.
#pragma once

#include <QTimer>
#include <memory>

#include "widgets/explorer/cone_picture.h"
#include "widgets/explorer/scene_painter.h"
#include "widgets/explorer/scene_table.h"
#include "widgets/explorer/space_surfaces.h"
#include "widgets/explorer/token_plane.h"
#include "widgets/imgui/viewport.h"
#include "widgets/session/document.h"

namespace conelab::desktop {

class Overlay;

// Positions of the names of points: next to their points, without overlapping names or points.

struct NamedPoint {
  figure::Point at;
  double radius = 6;             ///< Radius of the mark, in pixels.
  double width = 0, height = 0;  ///< Size of the name, in pixels; width 0: it has none.
};

/// Returns the box of a point's mark.
[[nodiscard]] inline figure::Box mark_box(const NamedPoint& p) {
  return {p.at.x - p.radius, p.at.y - p.radius, 2 * p.radius, 2 * p.radius};
}

/// Returns one box per point, chosen in the order of the points. It is absent if the name fits
/// nowhere next to its point inside `area`, or if the point is outside. Boxes in `taken` stay free.
[[nodiscard]] std::vector<std::optional<figure::Box>> place_names(
    const std::vector<NamedPoint>& points, const figure::Box& area,
    const std::vector<figure::Box>& taken = {});

/// Returns whether two boxes share no inner point.
[[nodiscard]] bool disjoint(const figure::Box& a, const figure::Box& b);

class ExplorerViewport : public Viewport {
  Q_OBJECT

 public:
  explicit ExplorerViewport(Document& document);
  ~ExplorerViewport() override;

  /// Shows the session's scene; or, if there are tokens, a pair of them in their plane, with the
  /// tokens as points of the first pane. The camera of a pair is not part of the session: it is
  /// fitted to each pair.
  void show_scene(ConeChoice choice, TokenMarks tokens);
  /// Lets a scene settle, and its heat be refined, only after a longer rest: the next one is near.
  void expect_more(bool soon);
  [[nodiscard]] bool shows_tokens() const { return !tokens_.places.empty(); }
  /// Returns the choice with the current camera.
  [[nodiscard]] const ConeChoice& choice() const { return shown_; }
  /// Returns the scene of a pane: 0 is the session's family, the others are those beside it.
  [[nodiscard]] const ConeScene& scene(std::size_t pane = 0) const { return panes_[pane].scene; }
  [[nodiscard]] std::size_t pane_count() const { return panes_.size(); }
  [[nodiscard]] ShownScene shown(std::size_t i) const {
    return {panes_[i].choice, panes_[i].scene};
  }
  [[nodiscard]] PlaneFrame frame(std::size_t pane = 0) const;
  /// Returns whether the model is the hyperboloid or H³. Dragging the background then turns the
  /// view.
  [[nodiscard]] bool in_space() const;
  [[nodiscard]] SpaceFrame turned_frame(std::size_t pane = 0) const;
  /// Returns the position of "u", "v" or "source" in the viewport.
  [[nodiscard]] QPointF handle(const char* name, std::size_t pane = 0) const;
  /// Moves "u", "v" or "source" to a position in the viewport, as dragging it there does.
  void put_handle(const QString& name, const QPointF& to);
  /// Fits the camera of each pane to its scene and to the window, and keeps doing so until the user
  /// moves it. This is an edit of the session.
  void fit_view() { move_camera({}); }
  [[nodiscard]] const TokenMarks& tokens() const { return tokens_; }
  /// A name next to its point, as it was last placed; absent if there was no space.
  struct PlacedName {
    QString text;
    std::optional<figure::Box> box;
    std::optional<std::size_t> token;  ///< Absent: that of u, v, the LCA or the source.
  };
  [[nodiscard]] const std::vector<PlacedName>& names() const { return names_; }
  [[nodiscard]] QPointF token_place(std::size_t token) const;
  /// Returns the token whose point is nearest to a pixel; absent if none is near.
  [[nodiscard]] std::optional<std::size_t> token_under(const QPointF& p) const;
  /// Moves a finite source away until its cones equal those of the infinite family. A second call
  /// stops it.
  void recede();
  [[nodiscard]] bool receding() const { return receding_.isActive(); }
  /// Returns the distance in pixels of the nodes of the heat layer in the last frame.
  [[nodiscard]] int heat_step() const { return heat_step_; }
  /// Return where the settings were in the last frame, and whether they cover points.
  [[nodiscard]] QRectF settings_place() const { return settings_place_; }
  [[nodiscard]] bool settings_cover_points() const { return covered_points_ > 0; }
  /// Returns the lines at the top of a pane: its family, an error, or what is missing.
  [[nodiscard]] std::vector<std::string> title_lines(std::size_t pane) const;
  /// Returns where the lines of all titles were in the last frame.
  [[nodiscard]] const std::vector<figure::Box>& titles() const { return titles_; }
  /// Returns where the legends of the heat layers were in the last frame; a pane that is too small
  /// has none.
  [[nodiscard]] const std::vector<figure::Box>& legends() const { return legends_; }
  /// Return where the arrow to "u" or "v" is at the edge of a pane, if the point is outside of it;
  /// a click on the arrow fits the view.
  [[nodiscard]] std::optional<figure::Box> arrow(const char* name, std::size_t pane = 0) const;
  /// Returns the milliseconds that drawing the last frame took, including its completion if
  /// `measured`.
  [[nodiscard]] double frame_time() const { return frame_time_; }
  bool measured = false;
  [[nodiscard]] const PlaneCamera& camera(std::size_t pane = 0) const {
    return panes_[pane].camera;
  }
  [[nodiscard]] const SpaceCamera& view() const { return view_; }

 signals:
  void scene_changed();
  /// The pointer is over the point of a token, or over none (−1); or it was clicked.
  void token_pointed(int token);
  void token_chosen(int token);
  /// A parameter of the family of the tokens should have this value: their operator is changed.
  void parameter_wanted(const QString& key, const QString& value);

 protected:
  void create_scene() override;
  void destroy_scene() override;
  void draw_scene() override;
  void draw_controls() override;
  void draw_over(QPainter& painter) override;
  [[nodiscard]] bool covers_ground() const override;
  void changeEvent(QEvent* event) override;

 private:
  /// Pixels between nodes of the heat layer during movement.
  static constexpr int coarse_step = 8;
  struct Pane {
    ConeChoice choice;
    ConeScene scene;
    figure::Box box;
    PlaneCamera camera;  ///< Of each scene its own while fitted, otherwise that of the session.
    ConePicture picture;
    std::shared_ptr<HeatRaster> heat, finer;  ///< The layer shown, and the one being computed.
    long heat_version = 0;
    std::vector<Corner> triangles;  ///< In space, ordered from far to near.
  };
  void make_panes();
  void lay_out();
  [[nodiscard]] int head_lines(double width) const;
  void fit();
  [[nodiscard]] PlaneCamera fitted(const Pane& pane, bool with_tokens) const;
  void use_camera(const std::optional<ConeCamera>& camera);
  /// Records that the user has moved the camera (or, if absent, has fitted it). Several moves in a
  /// row are one edit.
  void move_camera(const std::optional<ConeCamera>& camera);
  [[nodiscard]] ConeCamera current_camera(std::size_t pane) const;
  /// Updates pictures that have changed, and refines the heat layers of the others.
  void update_pictures();
  [[nodiscard]] std::shared_ptr<HeatRaster> raster(std::size_t pane, int step) const;
  void refine();
  void update_space(std::size_t pane);
  static void show_half_space(Pane& pane, const SpaceFrame& frame, const QPalette& palette);
  static void show_hyperboloid(Pane& pane, const SpaceFrame& frame, const QPalette& palette);
  [[nodiscard]] std::optional<PlanePoint> point_under(std::size_t pane, const QPointF& p) const;
  /// Returns the new position of the dragged point.
  [[nodiscard]] std::optional<PlanePoint> dragged_to(const QPointF& to) const;
  [[nodiscard]] QPointF pixel_of(std::size_t pane, const PlanePoint& p) const;
  void draw_panes();
  void draw_strokes(const std::vector<InkStroke>& strokes);
  void draw_marks(std::size_t pane);
  void draw_title(std::size_t pane);
  void draw_arrow(std::size_t pane, const QString& name, const QPointF& to, const QColor& colour);
  [[nodiscard]] std::optional<std::string> about_hidden_ancestor(std::size_t pane) const;
  [[nodiscard]] std::optional<std::string> about_hidden_tokens() const;
  /// Returns whether the model is the hyperboloid and shows the point nowhere.
  [[nodiscard]] bool beyond_rim(const PlanePoint& p) const;
  void measure_tokens();
  void draw_tokens();
  void draw_edges() const;
  void point_at_tokens();
  [[nodiscard]] std::vector<NamedPoint> token_points(std::vector<std::size_t>& tokens);
  [[nodiscard]] const std::pair<QString, double>& token_label(std::size_t token);
  void place_names(std::size_t pane, const std::vector<NamedPoint>& marks,
                   const std::vector<QString>& texts);
  void draw_legend(std::size_t pane);
  [[nodiscard]] std::optional<QPointF> legend_place(std::size_t pane, const QSizeF& size) const;
  void draw_settings();
  void place_settings();
  [[nodiscard]] std::vector<QPointF> points_shown(std::size_t pane) const;
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
  /// Pixels of the tokens in the last frame; NaN for tokens without a place.
  std::vector<figure::Point> token_pixels_;
  std::vector<std::string> measured_names_;               ///< The names to which the labels belong.
  std::vector<std::pair<QString, double>> token_labels_;  ///< Names as painted; widths in pixels.
  std::set<std::int64_t> focused_line_;                   ///< The focused token and its ancestors.
  std::vector<std::size_t> naming_order_;  ///< The tokens with the largest K(u, ·) first.
  std::vector<PlacedName> names_;
  /// An arrow at the edge of a pane to a point outside of it, with its name.
  struct Arrow {
    std::size_t pane;
    QString name;
    figure::Box box;
  };
  std::vector<Arrow> arrows_;  ///< Those of the last frame.
  std::optional<std::size_t> token_under_;
  Document& document_;
  ConeChoice shown_;  ///< Its camera is absent while the view is fitted automatically.
  SpaceCamera view_;
  std::vector<Pane> panes_;
  ScenePainter painter_;
  struct Drawn {
    std::vector<PlaneCamera> cameras;
    SpaceCamera view;
    QSize size;
    bool operator==(const Drawn&) const = default;
  } drawn_;
  ConeChoice framed_;  ///< The scene to which the view into space was fitted; that view is kept.
  bool dirty_ = true;
  int heat_step_ = 0;
  QString dragged_;  ///< "u", "v", "source", "ground" or empty.
  std::size_t dragged_pane_ = 0;
  std::optional<PlanePoint> grabbed_;  ///< The point of the plane that follows the pointer.
  QTimer receding_, resting_;
  QSize fitted_;                  ///< The size of the view to which the camera was fitted.
  std::optional<bool> settings_;  ///< Set by the user; absent: open if there is space.
  OverlaySpot settings_spot_;
  QRectF settings_place_;             ///< Position in the last frame.
  QSize placed_in_;                   ///< The size of the view when their corner was chosen.
  QSizeF placed_size_;                ///< Their own size at that time.
  QSizeF settings_open_;              ///< Their size when they were last open.
  bool settings_settled_ = false;     ///< Whether their size equals that of the previous frame.
  bool settings_crowded_ = false;     ///< Whether they would cover a point in every corner.
  int covered_points_ = 0;            ///< The number of points that the settings cover.
  double head_ = 0;                   ///< Height of the titles above each of several panes.
  std::vector<figure::Box> titles_;   ///< Titles of the panes in the last frame.
  std::vector<figure::Box> legends_;  ///< Legends in the last frame.
  double recede_time_ = 0;            ///< Duration of the last step, in seconds.
  double frame_time_ = 0;
};

}  // namespace conelab::desktop
