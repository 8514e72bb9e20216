#include "widgets/explorer/space_frame.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {

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

std::optional<PlanePoint> hyperboloid_under(const SpaceFrame& f, double x, double y) {
  const Eigen::Vector3d a = f.under(x, y), d = f.away();
  const auto product = [](const Eigen::Vector3d& p, const Eigen::Vector3d& q) {
    return p.x() * q.x() + p.y() * q.y() - p.z() * q.z();
  };
  // ⟨a + s d, a + s d⟩ = −1; of its upper points the nearest to the viewer below the rim.
  const double dd = product(d, d), ad = product(a, d), aa = product(a, a) + 1;
  std::optional<Eigen::Vector3d> seen;
  const auto consider = [&](double s) {
    const Eigen::Vector3d p = a + s * d;
    if (p.z() <= 0 || p.z() > hyperboloid_rim || !p.allFinite()) return;
    if (!seen || d.dot(p) < d.dot(*seen)) seen = p;
  };
  if (std::abs(dd) < 1e-12) {
    consider(-aa / (2 * ad));
  } else if (const double root = ad * ad - dd * aa; root >= 0) {
    for (const double sign : {-1.0, 1.0}) consider((-ad + sign * std::sqrt(root)) / dd);
  }
  if (!seen) return std::nullopt;
  const double below = seen->z() - seen->y();
  return PlanePoint{seen->x() / below, 1 / below};
}

std::optional<PlanePoint> slice_under(const SpaceFrame& f, double x, double y) {
  const Eigen::Vector3d a = f.under(x, y), d = f.away();
  if (std::abs(d.y()) < 0.02) return std::nullopt;  // Seen edge-on.
  const Eigen::Vector3d p = a - a.y() / d.y() * d;
  if (p.z() <= 0) return std::nullopt;
  return PlanePoint{p.x(), p.z()};
}

}  // namespace conelab::desktop
