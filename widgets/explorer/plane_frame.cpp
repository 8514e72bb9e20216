#include "widgets/explorer/plane_frame.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

SpaceCamera SpaceCamera::bounded() const {
  return {std::remainder(yaw, 2 * M_PI), std::clamp(pitch, -1.5, 1.5), std::clamp(zoom, 0.2, 20.0)};
}

SpaceFrame::SpaceFrame(SpaceCamera camera, const figure::Box& box, const Eigen::Vector3d& centre,
                       double reach)
    : centre_(centre),
      reach_(reach / camera.zoom),
      scale_(std::min(box.width, box.height) / (2 * reach_)),
      middle_{box.x + box.width / 2, box.y + box.height / 2} {
  const double c = std::cos(camera.yaw), s = std::sin(camera.yaw);
  const double cp = std::cos(camera.pitch), sp = std::sin(camera.pitch);
  turn_ << c, s, 0,  //
      -s * sp, c * sp, cp, -s * cp, c * cp, -sp;
}

Eigen::Vector3d SpaceFrame::page(const Eigen::Vector3d& p) const {
  const Eigen::Vector3d q = turn_ * (p - centre_);
  return {middle_.x + scale_ * q.x(), middle_.y - scale_ * q.y(), q.z()};
}

Eigen::Vector3d SpaceFrame::under(double x, double y) const {
  return centre_ +
         turn_.transpose() * Eigen::Vector3d((x - middle_.x) / scale_, (middle_.y - y) / scale_, 0);
}

Eigen::Vector3d on_hyperboloid(const PlanePoint& p) {
  const double n = p.x * p.x + p.y * p.y;
  return Eigen::Vector3d(2 * p.x, n - 1, n + 1) / (2 * p.y);
}

Eigen::Vector3d on_hyperboloid(const figure::HemispherePoint& p) {
  if (p.z() * hyperboloid_rim >= 1) return Eigen::Vector3d(p.x(), p.y(), 1) / p.z();
  const double radius = std::sqrt(hyperboloid_rim * hyperboloid_rim - 1);
  const double length = std::max(1e-12, std::hypot(p.x(), p.y()));
  return {radius * p.x() / length, radius * p.y() / length, hyperboloid_rim};
}

Eigen::Vector3d in_slice(const PlanePoint& p) { return {p.x, 0, p.y}; }

namespace {

double minkowski(const Eigen::Vector3d& p, const Eigen::Vector3d& q) {
  return p.x() * q.x() + p.y() * q.y() - p.z() * q.z();
}

PlanePoint from_hyperboloid(const Eigen::Vector3d& p) {
  const double below = p.z() - p.y();
  return {p.x() / below, 1 / below};
}

/// Returns the points below the rim where the line a + s d meets the hyperboloid: ⟨a + s d, a + s
/// d⟩ = −1.
std::vector<Eigen::Vector3d> met(const Eigen::Vector3d& a, const Eigen::Vector3d& d) {
  const double dd = minkowski(d, d), ad = minkowski(a, d), aa = minkowski(a, a) + 1;
  std::vector<double> ways;
  if (std::abs(dd) < 1e-12) {
    ways = {-aa / (2 * ad)};
  } else if (const double root = ad * ad - dd * aa; root >= 0) {
    ways = {(-ad - std::sqrt(root)) / dd, (-ad + std::sqrt(root)) / dd};
  }
  std::vector<Eigen::Vector3d> places;
  for (const double s : ways) {
    const Eigen::Vector3d p = a + s * d;
    if (p.allFinite() && p.z() > 0 && p.z() <= hyperboloid_rim) places.push_back(p);
  }
  return places;
}

/// Returns the last pixel towards (x, y) at which the line of sight still meets the hyperboloid.
/// The picture of the hyperboloid is convex, so that the line from its middle leaves it once.
Eigen::Vector2d last_met(const SpaceFrame& f, const Eigen::Vector2d& pointer) {
  const Eigen::Vector2d middle = f.page({0, 0, (1 + hyperboloid_rim) / 2}).head<2>();
  double in = 0, out = 1;
  for (int i = 0; i < 40; ++i) {
    const double t = (in + out) / 2;
    const Eigen::Vector2d p = middle + t * (pointer - middle);
    (met(f.under(p.x(), p.y()), f.away()).empty() ? out : in) = t;
  }
  return middle + in * (pointer - middle);
}

}  // namespace

std::optional<PlanePoint> hyperboloid_under(const SpaceFrame& f, double x, double y) {
  const Eigen::Vector3d d = f.away();
  const std::vector<Eigen::Vector3d> places = met(f.under(x, y), d);
  const auto first = std::ranges::min_element(
      places, [&](const auto& p, const auto& q) { return d.dot(p) < d.dot(q); });
  return first == places.end() ? std::nullopt : std::optional(from_hyperboloid(*first));
}

PlanePoint dragged_on_hyperboloid(const SpaceFrame& f, double x, double y, const PlanePoint& held) {
  const Eigen::Vector3d d = f.away(), from = on_hyperboloid(held);
  std::vector<Eigen::Vector3d> places = met(f.under(x, y), d);
  if (places.empty()) {
    const Eigen::Vector2d last = last_met(f, {x, y});
    places = met(f.under(last.x(), last.y()), d);
  }
  const auto nearest = std::ranges::min_element(
      places, [&](const auto& p, const auto& q) { return (p - from).norm() < (q - from).norm(); });
  return nearest == places.end() ? held : from_hyperboloid(*nearest);
}

std::optional<PlanePoint> slice_under(const SpaceFrame& f, double x, double y) {
  const Eigen::Vector3d a = f.under(x, y), d = f.away();
  if (std::abs(d.y()) < 0.02) return std::nullopt;  // Seen edge-on.
  const Eigen::Vector3d p = a - a.y() / d.y() * d;
  if (p.z() <= 0) return std::nullopt;
  return PlanePoint{p.x(), p.z()};
}

}  // namespace conelab::desktop
