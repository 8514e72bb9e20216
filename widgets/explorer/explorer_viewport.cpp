#include "widgets/explorer/explorer_viewport.h"

#include <imgui.h>

#include <QElapsedTimer>
#include <QEvent>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "widgets/imgui/overlay.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int fine_step = 2;  ///< Pixels between nodes of the refined heat layer.
constexpr double slice = 8;   ///< Milliseconds of refinement per frame.
constexpr int rest = 120;     ///< Milliseconds without movement before the refinement starts.
constexpr double gap = 6;     ///< Pixels between panes.
constexpr double head_line = 20, title_margins = 16;
constexpr double lowest_text = 84;  ///< Height of a pane with room for a line above its points.

/// Returns whether two choices show the same scene, whatever is drawn of it.
bool same_scene(const ConeChoice& a, const ConeChoice& b) {
  return a.family == b.family && a.beside == b.beside && a.parameters == b.parameters &&
         a.model == b.model && a.u == b.u && a.v == b.v && a.source == b.source;
}

/// Widens [low, high] by the positions, but for a tenth of them that are far from the others.
void include(std::vector<double> along, double& low, double& high) {
  if (along.empty()) return;
  const double from = low, to = high;
  const auto away = [=](double x) { return std::max({from - x, x - to, 0.0}); };
  std::ranges::sort(along, [&](double a, double b) { return away(a) < away(b); });
  const auto span = [&](std::size_t count) {
    std::pair ends(from, to);
    for (std::size_t i = 0; i < count; ++i) {
      ends = {std::min(ends.first, along[i]), std::max(ends.second, along[i])};
    }
    return ends;
  };
  constexpr double much = 0.65;  // Only if the others get much larger.
  const auto all = span(along.size()), most = span(along.size() - along.size() / 10);
  const bool far = most.second - most.first < much * (all.second - all.first);
  std::tie(low, high) = far ? most : all;
}

/// Draws text on its own background, so that it is legible on every picture.
void draw_text(ImDrawList& list, double x, double y, const char* text, const QPalette& palette) {
  const ImVec2 at = imgui_point(x, y), extent = ImGui::CalcTextSize(text);
  list.AddRectFilled(ImVec2(at.x - 3, at.y), ImVec2(at.x + extent.x + 3, at.y + extent.y),
                     packed(palette.color(QPalette::Base), 0.85), 3);
  list.AddText(at, packed(palette.color(QPalette::WindowText)), text);
}

}  // namespace

ExplorerViewport::ExplorerViewport(Document& document) : document_(document) {
  setObjectName("explorer-viewport");
  setAccessibleName(tr("Cone explorer"));
  setMinimumSize(260, 180);
  receding_.setInterval(16);
  connect(&receding_, &QTimer::timeout, this, &ExplorerViewport::advance);
  resting_.setInterval(rest);
  resting_.setSingleShot(true);
  connect(&resting_, &QTimer::timeout, this, &ExplorerViewport::refine);
  shown_ = framed_ = document_.session().cones;
  make_panes();
  use_camera(shown_.camera);
}

ExplorerViewport::~ExplorerViewport() { release(); }

void ExplorerViewport::show_scene(ConeChoice choice, TokenMarks tokens) {
  wake();
  const bool followed = shows_tokens();
  tokens_ = std::move(tokens);
  const bool other_panes = choice.model != shown_.model || choice.family != shown_.family ||
                           choice.beside != shown_.beside || followed != shows_tokens();
  const bool other_pair = shows_tokens() && !same_scene(choice, shown_);
  const std::optional<ConeCamera> wanted = !shows_tokens()             ? choice.camera
                                           : other_pair || other_panes ? std::nullopt
                                                                       : shown_.camera;
  choice.camera = shown_.camera;
  const bool other_choice = !(choice == shown_);
  if (other_choice) {
    shown_ = std::move(choice);
    make_panes();
  }
  measure_tokens();
  if (other_choice) emit scene_changed();
  if (other_panes || (other_choice && wanted != shown_.camera)) framed_ = shown_;
  if (other_panes || other_pair || wanted != shown_.camera) use_camera(wanted);
}

void ExplorerViewport::make_panes() {
  const std::vector<std::string> families = families_of(shown_);
  panes_.resize(families.size());
  for (std::size_t i = 0; i < families.size(); ++i) {
    panes_[i].choice = shown_;
    panes_[i].choice.family = families[i];
    panes_[i].scene = cone_scene(panes_[i].choice);
  }
  lay_out();
  dirty_ = true;
}

/// Returns the number of columns for which panes are most nearly square.
void ExplorerViewport::lay_out() {
  const auto count = static_cast<int>(panes_.size());
  int columns = 1;
  double best = 0;
  for (int c = 1; c <= count; ++c) {
    const int rows = (count + c - 1) / c;
    const double side = std::min(width() / static_cast<double>(c), height() / (rows * 0.8));
    if (side > best) best = side, columns = c;
  }
  const int rows = (count + columns - 1) / columns;
  const double w = (width() - gap * (columns - 1)) / columns;
  const double h = (height() - gap * (rows - 1)) / rows;
  head_ = head_line * head_lines(w);
  for (int i = 0; i < count; ++i) {
    panes_[static_cast<std::size_t>(i)].box = {
        (i % columns) * (w + gap), (i / columns) * (h + gap) + head_, w, std::max(1.0, h - head_)};
  }
}

/// Returns how many lines above a pane of this width the families and K need: none for one pane.
int ExplorerViewport::head_lines(double width) const {
  if (panes_.size() == 1) return 0;
  const bool one_each = std::ranges::all_of(panes_, [&](const Pane& pane) {
    const std::string longest = pane.choice.family + "   K = -0.000000";
    return fontMetrics().horizontalAdvance(QString::fromStdString(longest)) + title_margins <=
           width;
  });
  return one_each ? 1 : 2;
}

PlaneFrame ExplorerViewport::frame(std::size_t pane) const {
  const figure::Box& b = panes_[pane].box;
  const geometry::Model model =
      in_space() ? geometry::Model::ball : geometry::model_from_name(shown_.model);
  return {model, panes_[pane].camera, b.width, b.height, {b.x, b.y}};
}

bool ExplorerViewport::in_space() const {
  return shown_.model == "hyperboloid" || shown_.model == "space";
}

SpaceFrame ExplorerViewport::turned_frame(std::size_t pane) const {
  return space_frame(framed_, cone_scene(framed_), view_, panes_[pane].box);
}

QPointF ExplorerViewport::pixel_of(std::size_t pane, const PlanePoint& p) const {
  if (!in_space()) {
    const PlanePoint q = frame(pane).page(p);
    return {q.x, q.y};
  }
  const Eigen::Vector3d q =
      turned_frame(pane).page(shown_.model == "space" ? in_slice(p) : on_hyperboloid(p));
  return {q.x(), q.y()};
}

std::optional<PlanePoint> ExplorerViewport::point_under(std::size_t pane, const QPointF& p) const {
  if (!in_space()) return frame(pane).plane(p.x(), p.y());
  const SpaceFrame f = turned_frame(pane);
  return shown_.model == "space" ? slice_under(f, p.x(), p.y())
                                 : hyperboloid_under(f, p.x(), p.y());
}

QPointF ExplorerViewport::handle(const char* name, std::size_t pane) const {
  const std::string_view which = name;
  const auto& p = which == "u" ? shown_.u : which == "v" ? shown_.v : shown_.source;
  return pixel_of(pane, plane_point(p));
}

ConeCamera ExplorerViewport::current_camera(std::size_t pane) const {
  const PlaneCamera& camera = panes_[pane].camera;
  return {camera.x0, camera.log_scale, view_.yaw, view_.pitch, view_.zoom};
}

void ExplorerViewport::expect_more(bool soon) {
  constexpr int longer = 1500;
  const int wanted = soon ? longer : rest;
  if (resting_.interval() == wanted) return;
  resting_.setInterval(wanted);
  settle_after(soon ? longer : settling);
}

void ExplorerViewport::use_camera(const std::optional<ConeCamera>& camera) {
  if (!camera) return fit();
  shown_.camera = camera;
  for (Pane& pane : panes_) {
    pane.camera = {camera->x0,
                   std::clamp(camera->log_scale, PlaneCamera::deepest, PlaneCamera::farthest)};
  }
  view_ = SpaceCamera{camera->yaw, camera->pitch, camera->zoom}.bounded();
  wake();
}

void ExplorerViewport::fit() {
  shown_.camera.reset();
  lay_out();
  for (std::size_t i = 0; i < panes_.size(); ++i) panes_[i].camera = fitted(panes_[i], i == 0);
  view_ = {};
  if (shown_.model == "hyperboloid") view_.pitch = hyperboloid_pitch;
  framed_ = shown_;
  fitted_ = size();
  wake();
}

/// A few tokens that are far from the others may lie outside of the view, whose title counts
/// them. The models other than the half-plane show the whole plane. With tokens, their middle is in
/// the middle of the model. An LCA far above the tokens is left out: they would be too small to
/// see.
PlaneCamera ExplorerViewport::fitted(const Pane& pane, bool with_tokens) const {
  const ConeScene& scene = pane.scene;
  const double lca = scene.lca_place ? scene.lca_place->y : 0;
  double top = std::max({shown_.u[1], shown_.v[1], scene.infinite ? 0.0 : 1.5 * shown_.source[1],
                         scene.infinite && scene.penumbral ? scene.parameter : 0.2});
  double low = std::min(shown_.u[0], shown_.v[0]), high = std::max(shown_.u[0], shown_.v[0]);
  double heights = 0;
  std::vector<double> along;
  for (const PlanePoint& p : with_tokens ? tokens_.places : std::vector<PlanePoint>()) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
    along.push_back(p.x), top = std::max(top, p.y);
    heights += std::log(p.y);
  }
  const auto count = static_cast<double>(along.size());
  include(std::move(along), low, high);
  PlaneCamera camera;
  if (shown_.model != "halfspace") {
    if (count == 0 || in_space() || !scene.infinite) return camera;
    return {(low + high) / 2, std::max(heights / count, std::log((high - low) / 2))};
  }
  camera.x0 = (low + high) / 2;
  const double margins = count == 0 ? 1.4 : 1.1;
  const double wide = margins * (high - low) * pane.box.height / std::max(1.0, pane.box.width);
  const double tall = std::max(1.25 * top, wide);
  constexpr double far_above = 2;
  const bool include = count == 0 || 1.25 * lca < far_above * tall;
  camera.log_scale = std::log((include ? std::max(tall, 1.25 * lca) : tall) / 1.5);
  return camera;
}

bool ExplorerViewport::covers_ground() const {
  return panes_.size() == 1 && panes_[0].heat && !in_space();
}

void ExplorerViewport::create_scene() { painter_.create(); }
void ExplorerViewport::destroy_scene() {
  painter_.destroy();
  dirty_ = true;
}

void ExplorerViewport::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) dirty_ = true;  // The heat layer contains its colour.
  Viewport::changeEvent(event);
}

// ---- drawing ------------------------------------------------------------------------------------

std::shared_ptr<HeatRaster> ExplorerViewport::raster(std::size_t pane, int step) const {
  const Pane& p = panes_[pane];
  if (!shown_.heat || in_space() || !p.scene.error.empty()) return nullptr;
  return std::make_shared<HeatRaster>(
      frame(pane), p.choice, p.scene, step,
      is_dark(palette()) ? figure::ColourMap::dark : figure::ColourMap::sequential,
      figure_colour(palette().color(QPalette::Base)));
}

void ExplorerViewport::update_pictures() {
  Drawn now{{}, view_, size()};
  for (const Pane& pane : panes_) now.cameras.push_back(pane.camera);
  if (!(now == drawn_)) dirty_ = true;
  if (!dirty_) return;
  drawn_ = std::move(now);
  dirty_ = false;
  lay_out();
  for (std::size_t i = 0; i < panes_.size(); ++i) {
    Pane& pane = panes_[i];
    pane.triangles.clear();
    in_space() ? update_space(i)
               : void(pane.picture = cone_picture(pane.choice, pane.scene, frame(i)));
    pane.finer.reset();
    pane.heat = raster(i, coarse_step);
    if (pane.heat) pane.heat->run();
    ++pane.heat_version;
  }
  heat_step_ = coarse_step;
  resting_.start();
}

/// Computes a slice of the fine heat layer, and continues in the next frame until it is complete.
void ExplorerViewport::refine() {
  // A changed picture is drawn coarsely first and refined at rest.
  if (dirty_) return;
  bool whole = true;
  QElapsedTimer clock;
  clock.start();
  for (std::size_t i = 0; i < panes_.size(); ++i) {
    Pane& pane = panes_[i];
    if (!pane.heat) continue;
    if (!pane.finer) pane.finer = raster(i, fine_step);
    if (!pane.finer) continue;
    if (clock.elapsed() < slice) pane.finer->run(slice - static_cast<double>(clock.elapsed()));
    whole = whole && pane.finer->done();
  }
  if (!whole)
    return QTimer::singleShot(0, this, [this] {
      if (!dirty_ && !resting_.isActive()) refine();
    });
  for (Pane& pane : panes_) {
    if (pane.finer) pane.heat = std::move(pane.finer), ++pane.heat_version;
    pane.finer.reset();
  }
  heat_step_ = fine_step;
  wake(1);
}

void ExplorerViewport::draw_scene() {
  QElapsedTimer clock;
  clock.start();
  painter_.begin(QSizeF(width(), height()), devicePixelRatioF());
  for (std::size_t i = 0; i < panes_.size(); ++i) {
    Pane& pane = panes_[i];
    if (pane.heat)
      painter_.heat(static_cast<int>(i), pane.heat_version, *pane.heat, frame(i),
                    pane.picture.ground);
    painter_.triangles(pane.triangles);
    painter_.fills(pane.picture.fills, palette(), pane.box);
  }
  painter_.end();
  if (measured) QOpenGLContext::currentContext()->functions()->glFinish();
  frame_time_ += static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

void ExplorerViewport::draw_controls() {
  QElapsedTimer clock;
  clock.start();
  apply_palette(palette());
  if (!shown_.camera && fitted_ != size()) fit();
  handle_pointer();
  update_pictures();
  draw_panes();
  point_at_tokens();
  draw_settings();
  frame_time_ = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

/// Points are drawn over all texts.
void ExplorerViewport::draw_panes() {
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  titles_.clear();
  const auto each = [&](const auto& draw, double above = 0) {
    for (std::size_t i = 0; i < panes_.size(); ++i) {
      const figure::Box& b = panes_[i].box;
      list->PushClipRect(imgui_point(b.x, b.y - above), imgui_point(b.right(), b.bottom()), true);
      draw(i);
      list->PopClipRect();
    }
  };
  each([&](std::size_t i) { draw_strokes(panes_[i].picture.strokes); });
  each([&](std::size_t i) { draw_title(i); }, head_);
  legends_.clear();
  each([&](std::size_t i) { draw_legend(i); });
  names_.clear();
  arrows_.clear();
  each([&](std::size_t i) {
    if (i == 0) draw_tokens();
    draw_marks(i);
  });
}

void ExplorerViewport::draw_strokes(const std::vector<InkStroke>& strokes) {
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  std::vector<ImVec2> points;
  for (const InkStroke& stroke : strokes) {
    const ImU32 colour = packed(line_colour(stroke.ink, palette()), stroke.opacity);
    for (const Line& piece : stroke.pieces) {
      for (const Line& part : stroke.dashed ? dashed(piece, 5, 4) : std::vector<Line>{piece}) {
        points.clear();
        for (const figure::Point& p : part) points.push_back(imgui_point(p.x, p.y));
        list->AddPolyline(points.data(), static_cast<int>(points.size()), colour, ImDrawFlags_None,
                          static_cast<float>(stroke.width));
      }
    }
  }
}

/// Draws the points and finds the places of their names; u and v have precedence.
void ExplorerViewport::draw_marks(std::size_t pane) {
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  const Pane& p = panes_[pane];
  struct Mark {
    PlanePoint at;
    QColor colour;
    QString name;
    double radius;
  };
  const auto named = [&](const char* letter, const std::string& token) {
    return QString(letter) + (token.empty() ? "" : " " + QString::fromStdString(token));
  };
  const bool tokens = shows_tokens() && pane == 0;
  std::vector<Mark> marks = {
      {plane_point(shown_.u), line_colour(Ink::u, palette()),
       named("u", tokens ? tokens_.query : ""), 6},
      {plane_point(shown_.v), line_colour(Ink::v, palette()),
       named("v", tokens && tokens_.key ? tokens_.names[*tokens_.key] : ""), 6}};
  if (const auto& lca = p.scene.lca_place) {
    marks.push_back({*lca, line_colour(Ink::ancestors, palette()), "LCA", 5});
  }
  if (finite_family(p.choice)) {
    marks.push_back({plane_point(shown_.source), QColor(0xe6, 0x9f, 0x00), "light", 5});
  }
  std::vector<NamedPoint> points;
  std::vector<QString> texts;
  for (const Mark& m : marks) {
    const QPointF q = pixel_of(pane, m.at);
    const QRectF extent = fontMetrics().boundingRect(m.name);
    points.push_back({{q.x(), q.y()}, m.radius + 1.5, extent.width() + 8, extent.height()});
    texts.push_back(m.name);
  }
  place_names(pane, points, texts);
  for (std::size_t i = marks.size(); i-- > 0;) {  // Draws u last.
    const ImVec2 at = imgui_point(points[i].at.x, points[i].at.y);
    const auto radius = static_cast<float>(marks[i].radius);
    list->AddCircleFilled(at, radius + 1.5F, packed(palette().color(QPalette::Base), 0.85), 24);
    list->AddCircleFilled(at, radius, packed(marks[i].colour), 24);
    if (i < 2) draw_arrow(pane, marks[i].name, {points[i].at.x, points[i].at.y}, marks[i].colour);
  }
}

/// Draws an arrow with its name at the edge of a pane, towards a point outside of it.
void ExplorerViewport::draw_arrow(std::size_t pane, const QString& name, const QPointF& to,
                                  const QColor& colour) {
  constexpr double edge = 12, length = 10, half = 6;  // Pixels.
  const figure::Box& box = panes_[pane].box;
  if (box.contains({to.x(), to.y()})) return;
  const QPointF at(std::clamp(to.x(), box.x + edge, box.right() - edge),
                   std::clamp(to.y(), box.y + edge, box.bottom() - edge));
  const double away = std::hypot(to.x() - at.x(), to.y() - at.y());
  const QPointF along = (to - at) / away, across(-along.y(), along.x());
  const QPointF back = at - along * (length - edge + 2), tip = at + along * (edge - 2);
  ImGui::GetBackgroundDrawList()->AddTriangleFilled(
      imgui_point(tip), imgui_point(back + across * half), imgui_point(back - across * half),
      packed(colour));
  const double wide = fontMetrics().horizontalAdvance(name) + 8.0, high = fontMetrics().height();
  const QPointF middle = at - along * (edge + std::abs(along.x()) * wide / 2);
  const figure::Box label{std::clamp(middle.x() - wide / 2, box.x, box.right() - wide),
                          std::clamp(middle.y() - high / 2, box.y, box.bottom() - high), wide,
                          high};
  names_.push_back({name, label, {}});
  arrows_.push_back({pane, name, figure_box(desktop_rect(label) | QRectF(back, tip).normalized())});
}

std::optional<figure::Box> ExplorerViewport::arrow(const char* name, std::size_t pane) const {
  for (const Arrow& arrow : arrows_) {
    if (arrow.pane == pane && arrow.name.startsWith(QLatin1String(name))) return arrow.box;
  }
  return std::nullopt;
}

/// Says where the LCA is if it lies outside of the view; otherwise returns nothing.
std::optional<std::string> ExplorerViewport::about_hidden_ancestor(std::size_t pane) const {
  const auto& lca = panes_[pane].scene.lca_place;
  if (!lca || in_space()) return std::nullopt;
  const QPointF at = pixel_of(pane, *lca);
  if (panes_[pane].box.contains({at.x(), at.y()})) return std::nullopt;
  return fmt::format("LCA outside of the view, at ({:.4g}, {:.4g})", lca->x, lca->y);
}

/// Says how many tokens are not in the view; otherwise returns nothing.
std::optional<std::string> ExplorerViewport::about_hidden_tokens() const {
  const auto& places = tokens_.places;
  const auto beyond =
      std::ranges::count_if(places, [&](const PlanePoint& x) { return beyond_rim(x); });
  if (beyond > 0) return fmt::format("{} of {} tokens are beyond the rim", beyond, places.size());
  const auto outside = std::ranges::count_if(places, [&](const PlanePoint& x) {
    const QPointF at = pixel_of(0, x);
    return std::isfinite(x.x) && !panes_[0].box.contains({at.x(), at.y()});
  });
  if (outside == 0 || in_space()) return std::nullopt;
  return fmt::format("{} of {} tokens are outside of the view", outside, places.size());
}

/// Returns the lines of a title. If panes are narrow, K has a line of its own, errors take several
/// lines, and what the readout shows too is shortened or left out.
std::vector<std::string> ExplorerViewport::title_lines(std::size_t pane) const {
  const Pane& p = panes_[pane];
  const bool settings_right = panes_.size() == 1 &&
                              settings_place_.top() < p.box.y + 2 * head_line &&
                              settings_place_.left() > p.box.x + p.box.width / 3;
  const double room = settings_right ? settings_place_.left() - p.box.x : p.box.width;
  const auto fits = [&](const std::string& text) {
    return fontMetrics().horizontalAdvance(QString::fromStdString(text)) + title_margins <= room;
  };
  std::vector<std::string> lines;
  const std::string k = fmt::format("log K = {:.6g}", p.scene.similarity);
  const bool wrong = !p.scene.error.empty();
  if (panes_.size() > 1) {
    const bool one = head_lines(p.box.width) == 1;
    lines.push_back(p.choice.family + (one && !wrong ? "   " + k : ""));
    if (!one && !wrong) lines.push_back(k);
  }
  std::string line;
  for (const QString& word : QString::fromStdString(p.scene.error).split(' ')) {
    const std::string longer = line + (line.empty() ? "" : " ") + word.toStdString();
    if (!line.empty() && !fits(longer))
      lines.push_back(std::exchange(line, word.toStdString()));
    else
      line = longer;
  }
  if (!line.empty()) lines.push_back(line);
  const bool low = panes_.size() > 1 && p.box.height < lowest_text;  // It would lie over points.
  if (!wrong && !p.scene.lca_place && !low) lines.emplace_back("no common ancestor");
  if (const auto text = about_hidden_ancestor(pane)) {
    lines.push_back(fits(*text) ? *text : "LCA outside");
  }
  const auto hidden = pane == 0 ? about_hidden_tokens() : std::nullopt;
  if (hidden && fits(*hidden)) lines.push_back(*hidden);
  return lines;
}

/// Draws the family and K above a pane, where no point can cover them, and the rest inside of it.
/// Lines begin beside the settings where these are in the corner.
void ExplorerViewport::draw_title(std::size_t pane) {
  const Pane& p = panes_[pane];
  const bool in_corner =
      settings_place_.left() < p.box.x + 20 && settings_place_.right() < p.box.right() - 120;
  const bool wrong = !p.scene.error.empty();
  int above = panes_.size() == 1 ? 0 : wrong ? 1 : head_lines(p.box.width);
  double y = above > 0 ? p.box.y - head_ + 2 : p.box.y + 6;
  for (const std::string& line : title_lines(pane)) {
    const bool beside =
        in_corner && settings_place_.intersects({p.box.x, y, p.box.width, head_line});
    const double x = (beside ? settings_place_.right() : p.box.x) + 10;
    const double width = ImGui::CalcTextSize(line.c_str()).x;
    draw_text(*ImGui::GetBackgroundDrawList(), x, y, line.c_str(), palette());
    titles_.push_back({x - 3, y, width + 6, ImGui::GetTextLineHeight()});
    y += above > 0 ? head_line : 22;
    if (--above == 0) y = p.box.y + 6;
  }
}

}  // namespace conelab::desktop
