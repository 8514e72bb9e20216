#include "widgets/explorer/explorer_viewport.h"

#include <imgui.h>

#include <QElapsedTimer>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/geometry/tangent.h"
#include "widgets/imgui/overlay.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double grasp = 14;  ///< Pixels around a point within which it is taken.

ImU32 packed(const QColor& c, double alpha = 1) {
  return IM_COL32(c.red(), c.green(), c.blue(), static_cast<int>(255 * alpha));
}

ImVec2 at(const PlaneFrame& frame, const PlanePoint& p) {
  const PlanePoint q = frame.page(p);
  return {static_cast<float>(q.x), static_cast<float>(q.y)};
}

PlanePoint point(const std::array<double, 2>& p) { return {p[0], p[1]}; }

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

bool finite_family(const ConeChoice& choice) {
  return geometry::cone_family(choice.family).base == geometry::Base::sphere;
}

}  // namespace

ExplorerViewport::ExplorerViewport(Document& document, QWidget* parent)
    : Viewport(parent), document_(document) {
  setObjectName("explorer-viewport");
  setAccessibleName(tr("Cone explorer"));
  setMinimumSize(260, 220);
  receding_.setInterval(16);
  connect(&receding_, &QTimer::timeout, this, &ExplorerViewport::advance);
  shown_ = document_.session().cones;
  scene_ = cone_scene(shown_);
}

ExplorerViewport::~ExplorerViewport() = default;

void ExplorerViewport::show_choice(const ConeChoice& choice) {
  wake();
  if (choice == shown_) return;
  shown_ = choice;
  scene_ = cone_scene(shown_);
  emit scene_changed();
}

PlaneFrame ExplorerViewport::frame() const {
  return {geometry::model_from_name(shown_.model), camera, static_cast<double>(width()),
          static_cast<double>(height())};
}

QPointF ExplorerViewport::handle(const char* name) const {
  const std::string_view which = name;
  const auto& p = which == "u" ? shown_.u : which == "v" ? shown_.v : shown_.source;
  const PlanePoint q = frame().page(point(p));
  return {q.x, q.y};
}

void ExplorerViewport::fit() {
  camera = {};
  const double top = std::max({shown_.u[1], shown_.v[1], scene_.lca_place ? scene_.lca_place->y : 0,
                               finite_family(shown_) ? 1.5 * shown_.source[1] : 0,
                               scene_.infinite && scene_.penumbral ? scene_.parameter : 0.2});
  camera.x0 = (shown_.u[0] + shown_.v[0]) / 2;
  const double wide = std::abs(shown_.u[0] - shown_.v[0]) * height() / std::max(1, width());
  camera.log_scale = std::log(std::max(1.25 * top, 1.4 * wide) / 1.5);
  fitted_ = size();
  fits_ = true;
  wake();
}

void ExplorerViewport::create_scene() { shader_.create(); }
void ExplorerViewport::destroy_scene() { shader_.destroy(); }

void ExplorerViewport::draw_scene() {
  QElapsedTimer clock;
  clock.start();
  shader_.draw(frame(), scene_, shown_, QSizeF(width(), height()), devicePixelRatioF(), palette());
  if (measured) QOpenGLContext::currentContext()->functions()->glFinish();
  frame_time_ = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

template <class Change>
void ExplorerViewport::edit(const QString& label, Change change, const QString& merge) {
  document_.edit(
      label,
      [&](Session& s) {
        s.cones = shown_;
        s.cones.follow_tokens = false;  // Who moves a point looks at that point.
        change(s.cones);
      },
      merge);
}

// ---- controls -----------------------------------------------------------------------------------

void ExplorerViewport::draw_controls() {
  apply_palette(palette());
  if (fits_ && fitted_ != size()) fit();
  handle_pointer();
  draw_marks();
  draw_settings();
}

void ExplorerViewport::draw_marks() {
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  const PlaneFrame f = frame();
  const ImU32 ink = packed(palette().color(QPalette::WindowText));
  const ImU32 ground = packed(palette().color(QPalette::Base), 0.85);
  const auto mark = [&](const PlanePoint& p, const QColor& colour, const char* name, float size) {
    const ImVec2 c = at(f, p);
    list->AddCircleFilled(c, size + 1.5F, ground, 24);
    list->AddCircleFilled(c, size, packed(colour), 24);
    const ImVec2 extent = ImGui::CalcTextSize(name);
    const ImVec2 label(c.x + size + 4, c.y - extent.y - 1);
    list->AddRectFilled(ImVec2(label.x - 2, label.y),
                        ImVec2(label.x + extent.x + 2, label.y + extent.y), ground, 3);
    list->AddText(label, ink, name);
  };
  if (shown_.geodesic && scene_.error.empty()) {
    const Eigen::Vector2d a(shown_.u[0], shown_.u[1]), b(shown_.v[0], shown_.v[1]);
    std::vector<ImVec2> line;
    for (int i = 0; i <= 96; ++i) {
      const geometry::Vector q = geometry::along_geodesic(a, b, i / 96.0);
      line.push_back(at(f, {q[0], q[1]}));
    }
    list->AddPolyline(line.data(), static_cast<int>(line.size()), packed(quiet_ink(palette())),
                      ImDrawFlags_None, 1.4F);
  }
  if (finite_family(shown_)) mark(point(shown_.source), QColor(0xe6, 0x9f, 0x00), "source", 5);
  if (scene_.lca_place) mark(*scene_.lca_place, operator_colour(2, palette()), "LCA", 5);
  mark(point(shown_.v), operator_colour(1, palette()), "v", 6);
  mark(point(shown_.u), operator_colour(0, palette()), "u", 6);
}

void ExplorerViewport::draw_settings() {
  Overlay overlay(*this, "settings", Overlay::Corner::top_right);
  const geometry::ConeFamily& family = geometry::cone_family(shown_.family);
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    const std::string key = family.parameters[i].key;
    const auto given = shown_.parameters.find(key);
    double value = given != shown_.parameters.end() ? given->second : family.parameters[i].initial;
    if (overlay.slider(key.c_str(), value, 0.02, 3, "%.3g", true)) {
      edit(
          tr("change %1").arg(QString::fromStdString(key)),
          [&](ConeChoice& c) {
            c.parameters[key] = value;
            const PlanePoint u = into_domain(c, point(c.u)), v = into_domain(c, point(c.v));
            c.u = {u.x, u.y}, c.v = {v.x, v.y};
          },
          "cone " + QString::fromStdString(key));
    }
    overlay.tooltip(family.parameters[i].about);
  }
  const auto toggle = [&](const char* label, bool ConeChoice::*member) {
    bool value = shown_.*member;
    if (overlay.checkbox(label, value)) {
      document_.edit(tr("show or hide %1").arg(label),
                     [&](Session& s) { s.cones.*member = value; });
    }
  };
  toggle("heat of K(u, ·)", &ConeChoice::heat);
  toggle("level lines", &ConeChoice::level_lines);
  toggle("common ancestors", &ConeChoice::ancestors);
  toggle("geodesic", &ConeChoice::geodesic);
  if (!scene_.penumbral) toggle("object balls", &ConeChoice::objects);
  toggle("follow tokens", &ConeChoice::follow_tokens);
  if (finite_family(shown_) && overlay.button("source to infinity")) recede();
}

// ---- pointer ------------------------------------------------------------------------------------

void ExplorerViewport::handle_pointer() {
  const ImGuiIO& io = ImGui::GetIO();
  const QPointF pointer(io.MousePos.x, io.MousePos.y);
  const auto near = [&](const char* name) {
    const QPointF away = handle(name) - pointer;
    return std::hypot(away.x(), away.y()) < grasp;
  };
  QString under;
  if (near("u"))
    under = "u";
  else if (near("v"))
    under = "v";
  else if (finite_family(shown_) && near("source"))
    under = "source";
  if (!under.isEmpty() && !io.WantCaptureMouse) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsMouseClicked(0) && !io.WantCaptureMouse) {
    dragged_ = under.isEmpty() ? "ground" : under;
    receding_.stop();
  }
  if (ImGui::IsMouseReleased(0)) {
    dragged_.clear();
    document_.close_step();
  }
  const bool half_plane = shown_.model == "halfspace";
  if (dragged_ == "ground" && half_plane && io.MouseDelta.x != 0) {
    fits_ = false;
    camera.x0 -= io.MouseDelta.x * frame().unit() * frame().lambda();
    wake();
  } else if (!dragged_.isEmpty() && dragged_ != "ground" &&
             (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    move_handle(pointer);
  }
  if (io.MouseWheel != 0 && half_plane && !io.WantCaptureMouse) {
    const auto before = frame().plane(pointer.x(), pointer.y());
    fits_ = false;
    camera.log_scale -= 0.25 * io.MouseWheel;
    const auto after = frame().plane(pointer.x(), pointer.y());
    if (before && after) camera.x0 += before->x - after->x;
    wake();
  }
  if (ImGui::IsMouseDoubleClicked(0) && !io.WantCaptureMouse && under.isEmpty()) fit();
}

void ExplorerViewport::move_handle(const QPointF& to) {
  const auto wanted = frame().plane(to.x(), to.y());
  if (!wanted) return;
  const QString name = dragged_;
  edit(
      tr("move %1").arg(name),
      [&](ConeChoice& c) {
        if (name == "source") {
          c.source = {wanted->x, std::max(wanted->y, 1e-6)};
        } else {
          const PlanePoint p = into_domain(c, *wanted);
          (name == "u" ? c.u : c.v) = {p.x, p.y};
          return;
        }
        for (auto* each : {&c.u, &c.v}) {
          const PlanePoint p = into_domain(c, point(*each));
          *each = {p.x, p.y};
        }
      },
      "drag " + name);
}

// ---- the receding source ------------------------------------------------------------------------

void ExplorerViewport::recede() {
  recede_time_ = seconds_now();
  document_.close_step();
  receding_.start();
}

void ExplorerViewport::advance() {
  constexpr double seconds = 3, farthest = 400;
  const double part = std::min(1.0, (seconds_now() - recede_time_) / seconds);
  edit(
      tr("let the source recede"),
      [&](ConeChoice& c) {
        const double top = std::max({1.05, 1.05 * c.u[1], 1.05 * c.v[1]});
        const double height = top * std::pow(farthest, part);
        c.source = {(c.u[0] + c.v[0]) / 2, height};
        // The ball of a penumbral source keeps touching one horosphere.
        if (c.family == "penumbral-finite") {
          c.parameters["source_radius"] = std::log(height / top) + 0.05;
        }
      },
      "recede");
  if (part >= 1) {
    receding_.stop();
    document_.close_step();
  }
}

}  // namespace conelab::desktop
