// The reactions of the explorer's viewport to the pointer, and the controls above its scene.
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "widgets/explorer/cone_scene.h"
#include "widgets/explorer/explorer_viewport.h"
#include "widgets/imgui/overlay.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double grasp = 14;          ///< Distance in pixels within which a point is grabbed.
constexpr int roomy = 560;            ///< Width from which the settings are open by default.
constexpr double farthest = 400;      ///< Final height of a receding light over its first height.
constexpr double recession_time = 3;  ///< Duration of the recession in seconds.

constexpr float usual_opacity = 0.86F, seen_through = 0.3F;  ///< Opacity of the settings.
constexpr double candidate_step = 30;  ///< Pixels between candidate positions.

/// Returns the candidate positions of the settings: in a corner, farther along a side, and then
/// anywhere. The first legend usually occupies one corner.
std::vector<OverlaySpot> spots(const QSizeF& view) {
  std::vector<OverlaySpot> all = {{true, false}, {false, false}, {true, true}};
  for (double across = 0; across < view.width() / 2; across += candidate_step) {
    for (double away = 0; away < view.height(); away += candidate_step) {
      for (const bool right : {true, false}) all.push_back({right, false, away, across});
    }
  }
  return all;
}

/// Returns the points without those that are too close to another one to matter.
std::vector<QPointF> thinned(const std::vector<QPointF>& points) {
  constexpr double cell = 12;
  std::map<std::pair<int, int>, QPointF> cells;
  for (const QPointF& p : points) {
    if (std::abs(p.x()) > 1e5 || std::abs(p.y()) > 1e5) continue;  // Far outside of the view.
    cells.emplace(std::pair(static_cast<int>(p.x() / cell), static_cast<int>(p.y() / cell)), p);
  }
  std::vector<QPointF> out;
  for (const auto& [where, p] : cells) out.push_back(p);
  return out;
}

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Returns the height from which a light recedes; it is above both points.
double lowest_light(const ConeChoice& c) { return std::max({1.05, 1.05 * c.u[1], 1.05 * c.v[1]}); }

void keep_in_domain(ConeChoice& c) {
  for (auto* each : {&c.u, &c.v}) {
    const PlanePoint p = into_domain(c, plane_point(*each));
    *each = {p.x, p.y};
  }
}

}  // namespace

void ExplorerViewport::move_camera(const std::optional<ConeCamera>& camera) {
  use_camera(camera);
  if (shows_tokens()) return;
  document_.edit(
      tr("move the view"), [&](Session& s) { s.cones.camera = camera; }, "explorer view");
}

template <class Change>
void ExplorerViewport::edit(const QString& label, Change change, const QString& merge) {
  document_.edit(
      label,
      [&](Session& s) {
        s.cones = shown_;
        // A user who moves a point wants to see that point. The view stays as it is, so that the
        // point follows the pointer.
        if (shows_tokens()) {
          s.cones.follow_tokens = false;
          s.cones.camera = current_camera(dragged_.isEmpty() ? 0 : dragged_pane_);
        }
        if (!dragged_.isEmpty()) keep_own_points(s);
        change(s.cones);
      },
      merge);
}

// ---- controls -----------------------------------------------------------------------------------

void ExplorerViewport::draw_settings() {
  place_settings();
  // Beside three families or more there is no place for them.
  const bool has_space = width() >= roomy && panes_.size() < 3 && !settings_crowded_;
  const bool open = settings_.value_or(has_space);
  Overlay overlay(*this, "settings", settings_spot_,
                  covered_points_ == 0 ? usual_opacity : seen_through);
  if (overlay.button(open ? "hide settings" : "settings")) {
    settings_ = !open;
    wake(5);  // The card has its new size two frames after its new content.
  }
  if (open) {
    draw_parameters(overlay);
    draw_toggles(overlay);
    draw_recession(overlay);
  }
  settings_settled_ = overlay.size() == settings_place_.size();
  if (!settings_settled_) wake();  // After opening or closing, the position is chosen again.
  settings_place_ = settings_spot_.place(overlay.size(), size());
  if (open && settings_settled_) settings_open_ = settings_place_.size();
}

/// Returns the points of a pane in pixels.
std::vector<QPointF> ExplorerViewport::points_shown(std::size_t pane) const {
  std::vector<PlanePoint> points = {plane_point(shown_.u), plane_point(shown_.v)};
  if (panes_[pane].scene.lca_place) points.push_back(*panes_[pane].scene.lca_place);
  if (finite_family(panes_[pane].choice)) points.push_back(plane_point(shown_.source));
  std::vector<QPointF> shown;
  for (const PlanePoint& p : points) shown.push_back(pixel_of(pane, p));
  if (pane > 0) return shown;
  for (const figure::Point& p : token_pixels_) {
    if (std::isfinite(p.x)) shown.emplace_back(p.x, p.y);
  }
  return shown;
}

/// Moves the settings to the position where they cover no points, or the fewest; never away from
/// under the pointer. If they would cover a point everywhere, they open only on request and are
/// translucent.
void ExplorerViewport::place_settings() {
  if (!settings_settled_) return;
  std::vector<QPointF> points;
  for (std::size_t i = 0; i < panes_.size(); ++i) {
    for (const QPointF& p : points_shown(i)) points.push_back(p);
  }
  points = thinned(points);
  const auto covered = [&](const OverlaySpot& spot, const QSizeF& card) {
    constexpr double space = 14, name = 44;  // Sizes of a point and of the name to its right.
    const QRectF place = spot.place(card, size());
    const QRectF around = place.adjusted(-name, -space, space, space);
    return std::ranges::count_if(points, [&](const QPointF& p) { return around.contains(p); });
  };
  // The lines within a single picture leave their corner to the settings (title_lines).
  std::vector<figure::Box> texts = legends_;
  if (panes_.size() > 1) texts.insert(texts.end(), titles_.begin(), titles_.end());
  const auto cost = [&](const OverlaySpot& spot, const QSizeF& card) {
    const QRectF place = spot.place(card, size());
    constexpr double off = 1000;  // Costs more than any number of points.
    double sum = 10 * static_cast<double>(covered(spot, card));
    if (place.bottom() > height() - 4 || place.left() < 4 || place.right() > width() - 4) {
      sum += off;
    }
    for (const figure::Box& text : texts) {
      sum += place.intersects(desktop_rect(text)) ? 1 : 0;
    }
    return sum;
  };
  // If the view or the settings have another size, the old position has no preference.
  const bool anew = placed_in_ != size() || placed_size_ != settings_place_.size();
  const std::vector<OverlaySpot> candidates = spots(size());
  const auto best = [&](const QSizeF& card) {
    OverlaySpot found = anew ? candidates.front() : settings_spot_;
    double least = cost(found, card);
    for (std::size_t i = 0; i < candidates.size() && least > 0; ++i) {
      const double next = cost(candidates[i], card);
      if (next < least) least = next, found = candidates[i];
    }
    return found;
  };
  covered_points_ = static_cast<int>(covered(settings_spot_, settings_place_.size()));
  if (ImGui::GetIO().WantCaptureMouse && dragged_.isEmpty()) return;
  const QSizeF open = settings_open_.isEmpty() ? settings_place_.size() : settings_open_;
  if (dragged_.isEmpty()) settings_crowded_ = cost(best(open), open) >= 10;
  const OverlaySpot spot = best(settings_place_.size());
  placed_in_ = size(), placed_size_ = settings_place_.size();
  if (!anew && cost(spot, settings_place_.size()) >= cost(settings_spot_, settings_place_.size()))
    return;
  settings_spot_ = spot;
  covered_points_ = static_cast<int>(covered(spot, settings_place_.size()));
  wake();
}

/// Draws the parameters of every family that is shown.
void ExplorerViewport::draw_parameters(Overlay& overlay) {
  for (const Pane& pane : panes_) {
    const geometry::ConeFamily& family = geometry::cone_family(pane.choice.family);
    for (const ParameterInfo& info : family.parameters) {
      const std::string key = info.key;
      const auto given = shown_.parameters.find(key);
      double value = given != shown_.parameters.end() ? given->second : info.initial;
      if (overlay.slider(key.c_str(), value, 0.02, 3, "%.3g", true)) {
        if (shows_tokens() && &pane == &panes_.front()) {
          emit parameter_wanted(info.key, QString::number(value, 'g', 4));
          continue;
        }
        edit(
            tr("change %1").arg(QString::fromStdString(key)),
            [&](ConeChoice& c) {
              c.parameters[key] = value;
              keep_in_domain(c);
            },
            "cone " + QString::fromStdString(key));
      }
      overlay.tooltip(info.about);
    }
  }
}

void ExplorerViewport::draw_toggles(Overlay& overlay) {
  const auto toggle = [&](const char* label, bool ConeChoice::*member, const char* about) {
    bool value = shown_.*member;
    if (overlay.checkbox(label, value)) {
      document_.edit(tr("show or hide %1").arg(label),
                     [&](Session& s) { s.cones.*member = value; });
    }
    overlay.tooltip(about);
  };
  toggle("heat of log K(u, ·)", &ConeChoice::heat,
         "the similarity of every point with u; paler where only a smaller light would do");
  toggle("level lines", &ConeChoice::level_lines, "where log K(u, ·) is constant");
  toggle("common ancestors", &ConeChoice::ancestors, "all points whose cones hold u and v");
  toggle("horospheres", &ConeChoice::horospheres,
         "the levels of u and v and, dashed, the depth that attention reads");
  toggle("geodesic", &ConeChoice::geodesic, "the shortest way from u to v");
  const bool umbral = std::ranges::any_of(panes_, [](const Pane& p) { return !p.scene.penumbral; });
  if (umbral) {
    toggle("object balls", &ConeChoice::objects, "the balls about u and v and their shadows");
  }
  toggle("snap", &ConeChoice::snap, "dragged points keep to round numbers and to each other");
}

void ExplorerViewport::draw_recession(Overlay& overlay) {
  if (!finite_family(shown_)) return;
  const double low = lowest_light(shown_);
  double height = std::clamp(shown_.source[1], low, low * farthest);
  if (overlay.slider("light's height", height, low, low * farthest, "%.4g", true)) {
    receding_.stop();
    set_source_height(height, tr("move the light"), "recede");
  }
  overlay.tooltip("as it recedes, the cones become those of the infinite family");
  if (overlay.button(receding() ? "pause" : "light to infinity")) recede();
}

// ---- pointer ------------------------------------------------------------------------------------

std::size_t ExplorerViewport::pane_at(const QPointF& p) const {
  for (std::size_t i = 0; i < panes_.size(); ++i) {
    figure::Box with_title = panes_[i].box;
    with_title.y -= head_, with_title.height += head_;
    if (with_title.contains({p.x(), p.y()})) return i;
  }
  return 0;
}

QString ExplorerViewport::handle_at(const QPointF& p, std::size_t pane) const {
  const auto near = [&](const char* name) {
    const QPointF away = handle(name, pane) - p;
    return std::hypot(away.x(), away.y()) < grasp;
  };
  if (near("u")) return "u";
  if (near("v")) return "v";
  return finite_family(panes_[pane].choice) && near("source") ? "source" : "";
}

void ExplorerViewport::handle_pointer() {
  const ImGuiIO& io = ImGui::GetIO();
  const QPointF pointer(io.MousePos.x, io.MousePos.y);
  const std::size_t pane = pane_at(pointer);
  const QString under = handle_at(pointer, pane);
  const auto under_pointer = [&](const Arrow& arrow) {
    return arrow.box.contains({pointer.x(), pointer.y()});
  };
  const bool at_arrow =
      dragged_.isEmpty() && !io.WantCaptureMouse && std::ranges::any_of(arrows_, under_pointer);
  if (at_arrow && ImGui::IsMouseClicked(0)) return move_camera({});
  if ((at_arrow || !under.isEmpty()) && !io.WantCaptureMouse) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  if (ImGui::IsMouseClicked(0) && !io.WantCaptureMouse) {
    dragged_ = under.isEmpty() ? "ground" : under;
    dragged_pane_ = pane;
    grabbed_ = point_under(pane, pointer);
    receding_.stop();
  }
  if (ImGui::IsMouseReleased(0)) {
    // Successive movements of the camera are one step of the history.
    if (dragged_ != "ground") document_.close_step();
    dragged_.clear();
  }
  if (!dragged_.isEmpty() && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    dragged_ == "ground" ? move_ground(pointer) : move_handle(pointer);
  }
  if (io.MouseWheel != 0 && !io.WantCaptureMouse) zoom(io.MouseWheel, pointer);
  if (ImGui::IsMouseDoubleClicked(0) && !io.WantCaptureMouse && under.isEmpty()) move_camera({});
}

/// Moves the camera by an isometry so that the grabbed point stays under the pointer.
void ExplorerViewport::move_ground(const QPointF& pointer) {
  ConeCamera next = current_camera(dragged_pane_);
  if (in_space()) {
    constexpr double turn = 0.008;  // Radians per pixel.
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    const SpaceCamera turned =
        SpaceCamera{view_.yaw + turn * by.x, view_.pitch + turn * by.y, view_.zoom}.bounded();
    next.yaw = turned.yaw, next.pitch = turned.pitch;
    return move_camera(next);
  }
  if (!grabbed_) return;
  const auto moved = frame(dragged_pane_).with_point_at(*grabbed_, pointer.x(), pointer.y());
  if (!moved) return;
  next.x0 = moved->x0, next.log_scale = moved->log_scale;
  move_camera(next);
}

/// Zooms. On the half-plane this is a dilation about the boundary point under the pointer; in the
/// other models the point under the pointer moves towards the middle or away from it.
void ExplorerViewport::zoom(double notches, const QPointF& pointer) {
  const std::size_t pane = pane_at(pointer);
  ConeCamera next = current_camera(pane);
  if (in_space()) {
    next.zoom = SpaceCamera{0, 0, view_.zoom * std::exp(0.15 * notches)}.bounded().zoom;
    return move_camera(next);
  }
  const PlaneFrame f = frame(pane);
  const auto before = f.plane(pointer.x(), pointer.y());
  if (!before) return;
  if (shown_.model == "halfspace") {
    const double scale_before = next.log_scale;
    next.log_scale =
        std::clamp(next.log_scale - 0.25 * notches, PlaneCamera::deepest, PlaneCamera::farthest);
    next.x0 = before->x - (before->x - next.x0) * std::exp(next.log_scale - scale_before);
  } else {
    const PlanePoint o = f.origin();
    const double part = std::exp(-0.25 * notches);
    const double x = o.x + part * (pointer.x() - o.x), y = o.y + part * (pointer.y() - o.y);
    const auto moved = f.with_point_at(*before, x, y);
    if (!moved) return;
    next.x0 = moved->x0, next.log_scale = moved->log_scale;
  }
  move_camera(next);
}

std::optional<PlanePoint> ExplorerViewport::dragged_to(const QPointF& to) const {
  if (shown_.model != "hyperboloid") return point_under(dragged_pane_, to);
  const auto& held = dragged_ == "u" ? shown_.u : dragged_ == "v" ? shown_.v : shown_.source;
  return dragged_on_hyperboloid(turned_frame(dragged_pane_), to.x(), to.y(), plane_point(held));
}

void ExplorerViewport::move_handle(const QPointF& to) {
  const PlaneFrame f = frame(dragged_pane_);
  auto wanted = dragged_to(to);
  if (!wanted) return;
  const QString name = dragged_;
  if (shown_.snap && !in_space()) wanted = snapped(shown_, name.toStdString(), *wanted, f);
  const std::string family = panes_[dragged_pane_].choice.family;
  edit(
      tr("move %1").arg(name),
      [&](ConeChoice& c) {
        ConeChoice seen = c;
        seen.family = family;  // The domain of the pane's family applies.
        if (name == "source") {
          seen.source = c.source = {wanted->x, std::max(wanted->y, 1e-12)};
          keep_in_domain(seen);
          c.u = seen.u, c.v = seen.v;
        } else {
          const PlanePoint p = into_domain(seen, *wanted);
          (name == "u" ? c.u : c.v) = {p.x, p.y};
        }
      },
      "drag " + name);
}

void ExplorerViewport::put_handle(const QString& name, const QPointF& to) {
  receding_.stop();
  dragged_ = name;
  dragged_pane_ = pane_at(to);
  move_handle(to);
  document_.close_step();
  dragged_.clear();
}

// ---- the receding source ------------------------------------------------------------------------

/// The ball of a penumbral source touches one horosphere all the time, so that its cones have a
/// limit.
void ExplorerViewport::set_source_height(double height, const QString& label,
                                         const QString& merge) {
  edit(
      label,
      [&](ConeChoice& c) {
        c.source = {(c.u[0] + c.v[0]) / 2, height};
        if (c.family == "penumbral-finite") {
          c.parameters["source_radius"] = std::log(height / lowest_light(c)) + 0.05;
        }
        keep_in_domain(c);
      },
      merge);
}

void ExplorerViewport::recede() {
  if (receding_.isActive()) {
    receding_.stop();
    return document_.close_step();
  }
  recede_time_ = seconds_now();
  document_.close_step();
  const double low = lowest_light(shown_);
  if (shown_.source[1] < low || shown_.source[1] > 0.99 * farthest * low) {
    set_source_height(low, tr("let the light recede"), "recede");
  }
  receding_.start();
}

void ExplorerViewport::advance() {
  const double now = seconds_now();
  const double low = lowest_light(shown_);
  const double grown =
      shown_.source[1] * std::pow(farthest, std::min(now - recede_time_, 0.2) / recession_time);
  recede_time_ = now;
  set_source_height(std::min(grown, farthest * low), tr("let the light recede"), "recede");
  if (grown >= farthest * low) {
    receding_.stop();
    document_.close_step();
  }
}

}  // namespace conelab::desktop
