#include "widgets/explorer/plane_frame.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

using geometry::Model;

constexpr double window_height = 1.5;  ///< Of the half-plane at scale 1.
constexpr double bottom_margin = 26;   ///< Pixels below the boundary.
constexpr double band_half_length = 2.6;

}  // namespace

PlaneFrame::PlaneFrame(Model model, PlaneCamera camera, double width, double height)
    : model_(model), camera_(camera), width_(width), height_(height) {
  if (model != Model::halfspace) camera_ = {};  // The others show all of the plane.
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
}

double PlaneFrame::lambda() const {
  return model_ == Model::halfspace ? std::exp(camera_.log_scale) : 1;
}

PlanePoint PlaneFrame::to_model(const PlanePoint& p) const {
  if (model_ == Model::halfspace) return {(p.x - camera_.x0) / lambda(), p.y / lambda()};
  const double n = p.x * p.x + p.y * p.y;
  if (model_ == Model::band) return {std::atan2(p.x, p.y), std::log(n) / 2};
  const double below = model_ == Model::ball ? 1 + 2 * p.y + n : 1 + n;
  return {2 * p.x / below, (n - 1) / below};
}

PlanePoint PlaneFrame::page(const PlanePoint& p) const {
  const PlanePoint m = to_model(p);
  return {origin_.x + m.x / unit_, origin_.y - m.y / unit_};
}

std::optional<PlanePoint> PlaneFrame::plane(double x, double y) const {
  PlanePoint m{(x - origin_.x) * unit_, (origin_.y - y) * unit_};
  if (model_ == Model::halfspace) {
    if (m.y <= 0) return std::nullopt;
    return PlanePoint{camera_.x0 + m.x * lambda(), m.y * lambda()};
  }
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

}  // namespace conelab::desktop
