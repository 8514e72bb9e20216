#include "widgets/explorer/heat_field.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/parallel.h"

namespace conelab::desktop {
namespace {

constexpr int rows_at_once = 16;  ///< Rows between two checks of the time.

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

figure::SimilarityField heat_field(const ConeChoice& choice, const ConeScene& scene) {
  return {scene.system, {choice.u[0], choice.u[1]}, scene.measure, other_similarity(choice)};
}

figure::SimilarityRange heat_range(const ConeChoice& choice, const ConeScene& scene,
                                   const figure::PlanePart& part) {
  return heat_field(choice, scene).range(part);
}

HeatRaster::HeatRaster(const PlaneFrame& frame, const ConeChoice& choice, const ConeScene& scene,
                       int step, figure::ColourMap map, figure::Colour ground)
    : frame_(frame),
      field_(heat_field(choice, scene)),
      range_(heat_range(choice, scene, plane_part(frame))),
      step_(step),
      columns_(std::max(2, static_cast<int>(std::ceil(frame.width() / step)) + 1)),
      rows_(std::max(2, static_cast<int>(std::ceil(frame.height() / step)) + 1)),
      pixels_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) * 4, 255),
      near_(figure::heat_colours(map, ground, false)),
      beyond_(figure::heat_colours(map, ground, true)),
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
      const auto value = field_.at({point->x, point->y});
      const double t = (value.similarity - range_.low) / (range_.high - range_.low);
      const auto place =
          static_cast<std::size_t>(std::clamp(t, 0.0, 1.0) * static_cast<double>(near_.size() - 1));
      colour = (value.extended ? beyond_ : near_)[place];
    }
    out[0] = colour.r, out[1] = colour.g, out[2] = colour.b;
  }
}

void HeatRaster::run(double milliseconds) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    const int end = std::min(rows_, row_ + (milliseconds < all_of_it ? rows_at_once : rows_));
    run_tasks(end - row_, {}, [this](std::int64_t task, const auto&) {
      compute_row(row_ + static_cast<int>(task));
    });
    row_ = end;
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    if (spent.count() > milliseconds) return;
  }
}

}  // namespace conelab::desktop
