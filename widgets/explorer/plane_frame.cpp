#include "widgets/explorer/plane_frame.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

using geometry::Model;

constexpr double window_height = 1.5;  ///< Height of the visible half-plane at scale 1.
constexpr double bottom_margin = 26;   ///< Pixels below the boundary.
constexpr double band_half_length = 2.6;
constexpr double far_away = 1e9;  ///< Pixels; represents infinity.

double bounded(double pixels) {
  return std::isnan(pixels) ? far_away : std::clamp(pixels, -far_away, far_away);
}

}  // namespace

PlaneFrame::PlaneFrame(Model model, PlaneCamera camera, double width, double height,
                       PlanePoint corner)
    : model_(model), camera_(camera), width_(width), height_(height), corner_(corner) {
  switch (model) {
    case Model::halfspace:
      unit_ = window_height / std::max(1.0, height - bottom_margin);
      origin_ = {width / 2, height - bottom_margin};
      break;
    case Model::band:
      unit_ = std::max(2 * band_half_length / height, (M_PI + 0.2) / width);
      origin_ = {width / 2, height / 2};
      break;
    default:
      unit_ = 2.12 / std::max(1.0, std::min(width, height));
      origin_ = {width / 2, height / 2};
  }
  origin_.x += corner.x, origin_.y += corner.y;
}

double PlaneFrame::lambda() const { return std::exp(camera_.log_scale); }

PlanePoint PlaneFrame::to_model(const PlanePoint& p) const {
  const PlanePoint z{(p.x - camera_.x0) / lambda(), p.y / lambda()};
  if (model_ == Model::halfspace) return z;
  const double n = z.x * z.x + z.y * z.y;
  if (model_ == Model::band) return {std::atan2(z.x, z.y), std::log(n) / 2};
  if (!std::isfinite(n)) return {0, 1};
  const double below = model_ == Model::klein ? 1 + n : 1 + 2 * z.y + n;
  return {2 * z.x / below, (n - 1) / below};
}

PlanePoint PlaneFrame::page(const PlanePoint& p) const {
  const PlanePoint m = to_model(p);
  return {bounded(origin_.x + m.x / unit_), bounded(origin_.y - m.y / unit_)};
}

PlanePoint PlaneFrame::project(const figure::HemispherePoint& p) const {
  const Eigen::Vector2d z = figure::to_half_plane(p);
  if (z.allFinite()) return page(PlanePoint{z.x(), z.y()});
  switch (model_) {
    case Model::halfspace:
    case Model::band:
      return {origin_.x, -far_away};
    default:
      return {origin_.x, origin_.y - 1 / unit_};
  }
}

std::optional<PlanePoint> PlaneFrame::relative(double x, double y) const {
  PlanePoint m{(x - origin_.x) * unit_, (origin_.y - y) * unit_};
  if (model_ == Model::halfspace) return m.y > 0 ? std::optional(m) : std::nullopt;
  if (model_ == Model::band) {
    if (std::abs(m.x) >= M_PI / 2) return std::nullopt;
    const double r = std::exp(m.y);
    return PlanePoint{r * std::sin(m.x), r * std::cos(m.x)};
  }
  double n = m.x * m.x + m.y * m.y;
  if (n >= 1) return std::nullopt;
  if (model_ == Model::klein) {
    const double s = 1 / (1 + std::sqrt(1 - n));
    m = {m.x * s, m.y * s}, n *= s * s;
  }
  const double below = m.x * m.x + (1 - m.y) * (1 - m.y);
  return PlanePoint{2 * m.x / below, (1 - n) / below};
}

std::optional<PlanePoint> PlaneFrame::plane(double x, double y) const {
  const auto z = relative(x, y);
  if (!z) return std::nullopt;
  return PlanePoint{camera_.x0 + z->x * lambda(), z->y * lambda()};
}

std::optional<PlaneCamera> PlaneFrame::with_point_at(const PlanePoint& p, double x,
                                                     double y) const {
  const auto z = relative(x, y);
  if (!z) return std::nullopt;
  const double log_scale =
      std::clamp(std::log(p.y / z->y), PlaneCamera::deepest, PlaneCamera::farthest);
  return PlaneCamera{p.x - std::exp(log_scale) * z->x, log_scale};
}

}  // namespace conelab::desktop
