#include "widgets/explorer/heat_field.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/parallel.h"

namespace conelab::desktop {
namespace {

constexpr int table_size = 256;
constexpr int rows_at_once = 16;                 ///< Rows between two checks of the time.
constexpr double least_range = 1e-3;             ///< Smallest range of depths (u near the light).
constexpr double strength = 0.55, faint = 0.30;  ///< Opacity of the colours over the background.

figure::Colour mixed(const figure::Colour& a, const figure::Colour& b, double t) {
  const auto part = [t](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::lround(x + (y - x) * t));
  };
  return {part(a.r, b.r), part(a.g, b.g), part(a.b, b.b), 255};
}

std::vector<figure::Colour> table(figure::ColourMap map, figure::Colour ground, double alpha) {
  std::vector<figure::Colour> out;
  for (int i = 0; i < table_size; ++i) {
    out.push_back(mixed(ground, figure::colour_at(map, i / (table_size - 1.0)), alpha));
  }
  return out;
}

/// Returns the point at a pixel, or the nearest point if the pixel is outside the model, so that
/// colours are not mixed at the border of the model.
std::optional<PlanePoint> plane_nearby(const PlaneFrame& frame, double x, double y) {
  const PlanePoint o = frame.origin();
  if (frame.model() == geometry::Model::halfspace) return frame.plane(x, std::min(y, o.y - 0.01));
  if (frame.model() == geometry::Model::band) {
    const double reach = (M_PI / 2 - 1e-3) / frame.unit();
    return frame.plane(std::clamp(x, o.x - reach, o.x + reach), y);
  }
  const double away = std::hypot(x - o.x, y - o.y) * frame.unit();
  const double part = away > 0.999 ? 0.999 / away : 1;
  return frame.plane(o.x + part * (x - o.x), o.y + part * (y - o.y));
}

}  // namespace

figure::PlanePart plane_part(const PlaneFrame& frame) {
  const double top = 1.5 * frame.lambda();
  const bool flat = frame.model() == geometry::Model::halfspace;
  const double half = flat ? frame.width() / 2 * frame.unit() * frame.lambda()
                           : top / 2 * frame.width() / frame.height();
  return {frame.x0() - half, frame.x0() + half, top};
}

figure::SimilarityRange heat_range(const ConeChoice& choice, const ConeScene& scene,
                                   const figure::PlanePart& part) {
  if (const auto* other = other_similarity(choice)) {
    return figure::similarity_range(other->similarity, {choice.u[0], choice.u[1]}, part);
  }
  const auto depth = [&](double radial) {
    return geometry::depth_of(scene.system, radial, scene.measure);
  };
  const double own = depth(scene.u.radial);
  if (!scene.infinite) return {0, std::max(own, least_range), false};
  const double low = depth(scene.penumbral ? scene.parameter : part.top);
  if (scene.measure == geometry::DepthMeasure::height) return {low, 0, true};
  return {std::min(low, own - least_range), own, true};
}

HeatField::HeatField(const ConeChoice& choice, const ConeScene& scene)
    : system_(scene.system),
      domain_(system_.family->domain(system_.values)),
      measure_(scene.measure),
      other_(other_similarity(choice)),
      u_place_(choice.u[0], choice.u[1]),
      infinite_(scene.infinite),
      largest_(scene.largest_shadow),
      u_(scene.u),
      source_{choice.source[0], choice.source[1]} {}

LawPoint HeatField::locate(const PlanePoint& x, bool& outside) const {
  LawPoint p;
  if (infinite_) {
    p.axis = x.x, p.radial = x.y;
  } else {
    const double a = (x.x - source_.x) / source_.y, b = x.y / source_.y;
    p.axis = std::atan2(a * a + b * b - 1, 2 * a);
    p.radial = 2 * std::asinh(std::hypot(a, b - 1) / (2 * std::sqrt(b)));
  }
  outside = p.radial <= domain_.low || p.radial >= domain_.high;
  if (outside) {
    p.radial = infinite_ ? domain_.high * (1 - 1e-12) : domain_.low * (1 + 1e-9) + 1e-12;
  }
  p.shadow = system_.family->shadow(system_.values, p.radial);
  return p;
}

double HeatField::radial_of_lca(const LawPoint& p, bool& extended) const {
  const geometry::ConeFamily& family = *system_.family;
  double base = std::abs(p.axis - u_.axis);
  if (!infinite_) base = std::min(base, 2 * M_PI - base);
  const double shadow = std::max({u_.shadow, p.shadow, (u_.shadow + p.shadow + base) / 2});
  extended = shadow > largest_;
  if (shadow == u_.shadow) return u_.radial;
  if (shadow == p.shadow) return p.radial;
  if (extended && family.extension != nullptr) {
    return family.extension(system_.values, u_.radial, p.radial, base);
  }
  return family.radial(system_.values, std::min(shadow, largest_));
}

HeatField::Value HeatField::at(const PlanePoint& x) const {
  Value value;
  value.place = locate(x, value.outside);
  if (other_ != nullptr) {
    value.similarity = figure::similarity_of(other_->similarity, u_place_, {x.x, x.y});
    return value;
  }
  const double radial = radial_of_lca(value.place, value.extended);
  value.similarity = geometry::depth_of(system_, radial, measure_);
  return value;
}

HeatRaster::HeatRaster(const PlaneFrame& frame, const ConeChoice& choice, const ConeScene& scene,
                       int step, figure::ColourMap map, figure::Colour ground)
    : frame_(frame),
      field_(choice, scene),
      range_(heat_range(choice, scene, plane_part(frame))),
      step_(step),
      columns_(std::max(2, static_cast<int>(std::ceil(frame.width() / step)) + 1)),
      rows_(std::max(2, static_cast<int>(std::ceil(frame.height() / step)) + 1)),
      pixels_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) * 4, 255),
      near_(table(map, ground, strength)),
      beyond_(table(map, ground, faint)),
      ground_(ground) {}

/// Returns whether a node is so far outside a round model that no pixel inside uses its colour.
bool HeatRaster::hidden(double x, double y) const {
  if (frame_.model() == geometry::Model::halfspace || frame_.model() == geometry::Model::band) {
    return false;
  }
  const PlanePoint o = frame_.origin();
  return std::hypot(x - o.x, y - o.y) > 1 / frame_.unit() + 2 * step_;
}

void HeatRaster::compute_row(int row) {
  const double y = frame_.corner().y + frame_.height() * row / (rows_ - 1.0);
  std::uint8_t* out = pixels_.data() + static_cast<std::size_t>(row * columns_) * 4;
  for (int column = 0; column < columns_; ++column, out += 4) {
    const double x = frame_.corner().x + frame_.width() * column / (columns_ - 1.0);
    const auto point = hidden(x, y) ? std::nullopt : plane_nearby(frame_, x, y);
    figure::Colour colour = ground_;
    if (point) {
      const HeatField::Value value = field_.at(*point);
      const double t = (value.similarity - range_.low) / (range_.high - range_.low);
      const auto place = static_cast<std::size_t>(std::clamp(t, 0.0, 1.0) * (table_size - 1));
      colour = (value.extended ? beyond_ : near_)[place];
    }
    out[0] = colour.r, out[1] = colour.g, out[2] = colour.b;
  }
}

void HeatRaster::run(double milliseconds) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    const int end = std::min(rows_, row_ + (milliseconds < all_of_it ? rows_at_once : rows_));
    run_tickets(end - row_, {}, [this](std::int64_t ticket, const auto&) {
      compute_row(row_ + static_cast<int>(ticket));
    });
    row_ = end;
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    if (spent.count() > milliseconds) return;
  }
}

}  // namespace conelab::desktop
