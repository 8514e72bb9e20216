#include "widgets/explorer/snap.h"

#include <cmath>

namespace conelab::desktop {
namespace {

constexpr double reach = 9;  ///< Pixels within which another point attracts.

/// The smallest of 1, 2, 5 · 10^k that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * power >= least) return m * power;
  }
  return 10 * power;
}

}  // namespace

PlanePoint snapped(const ConeChoice& choice, const std::string& name, const PlanePoint& wanted,
                   const PlaneFrame& frame) {
  const PlanePoint here = frame.page(wanted);
  const auto pixels = [&](const PlanePoint& p) {
    const PlanePoint q = frame.page(p);
    return std::hypot(q.x - here.x, q.y - here.y);
  };
  // How far a pixel reaches at this place.
  const double across = 1e-3 * wanted.y;
  const double unit = across / std::max(1e-12, pixels({wanted.x + across, wanted.y}));
  const double step = round_step(8 * unit);
  PlanePoint p{std::round(wanted.x / step) * step,
               std::max(1.0, std::round(wanted.y / step)) * step};
  const bool finite = geometry::cone_family(choice.family).base == geometry::Base::sphere;
  for (const auto& [other, at] :
       {std::pair{"u", &choice.u}, {"v", &choice.v}, {"source", &choice.source}}) {
    if (name == other || (!finite && std::string(other) == "source")) continue;
    if (pixels({(*at)[0], wanted.y}) < reach) p.x = (*at)[0];
    if (pixels({wanted.x, (*at)[1]}) < reach) p.y = (*at)[1];
  }
  return p;
}

}  // namespace conelab::desktop
