#include "widgets/maps/map_region.h"

#include <algorithm>

#include "core/base/error.h"

namespace conelab::desktop {
namespace {

constexpr std::int64_t cells_at_once = 1 << 20;

/// Returns the first and the last cell: "key 2 “ich” to key 10–11 “sie”".
std::string cells_text(const MapAxis& axis, std::int64_t begin, std::int64_t end) {
  const std::string first = axis.text_of(begin);
  return end - begin == 1 ? first : first + " to " + axis.text_of(end - 1);
}

/// Returns the share of a mass in the weights of its rows in per cent, if it has one.
std::optional<double> share_of(const RegionMass& mass, const MapPanel& panel) {
  const bool shares = !panel.summary.row_entropy.empty() && !panel.summary.is_signed();
  if (!shares || mass.rows <= 0) return std::nullopt;
  return 100 * mass.sum / mass.rows;
}

std::string text_of_mass(const RegionMass& mass, const MapPanel& panel) {
  const auto share = share_of(mass, panel);
  return fmt::format("Σ {:.6g}", mass.sum) +
         (share ? fmt::format(", {:.4g} % of its rows", *share) : "");
}

}  // namespace

RegionMass region_mass(const MatrixSource& source, const MapRegion& region,
                       const std::function<bool()>& cancelled) {
  RegionMass mass;
  const std::int64_t columns = source.columns();
  const std::int64_t step =
      std::max<std::int64_t>(1, cells_at_once / std::max<std::int64_t>(columns, 1));
  std::vector<float> cells;
  for (std::int64_t begin = region.query_begin; begin < region.query_end; begin += step) {
    stop_if(cancelled);
    const std::int64_t end = std::min(begin + step, region.query_end);
    cells.resize(static_cast<std::size_t>((end - begin) * columns));
    source.cells({begin, end, 0, columns}, cells.data());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (is_masked(cells[i])) continue;
      const std::int64_t column = static_cast<std::int64_t>(i) % columns;
      const auto value = static_cast<double>(cells[i]);
      mass.rows += value;
      if (column >= region.key_begin && column < region.key_end) mass.sum += value;
    }
  }
  return mass;
}

MapRegionModel::MapRegionModel(MapsModel& maps) : maps_(maps) {
  connect(&maps_, &MapsModel::panels_changed, this, &MapRegionModel::follow);
  connect(&maps_, &MapsModel::progressed, this, &MapRegionModel::follow);
  follow();
}

std::optional<MapRegion> MapRegionModel::region() const {
  std::optional<MapRegion> region = maps_.workspace().document().session().maps.region;
  if (!region) return std::nullopt;
  const auto inside = [](std::int64_t& begin, std::int64_t& end, std::int64_t size) {
    begin = std::clamp<std::int64_t>(begin, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    return begin < end;
  };
  const bool seen = inside(region->query_begin, region->query_end, maps_.rows()) &&
                    inside(region->key_begin, region->key_end, maps_.columns());
  return seen ? region : std::nullopt;
}

bool MapRegionModel::has_region(const MapPanel& panel) const {
  return panel.pyramid->rows() == maps_.rows() && panel.pyramid->columns() == maps_.columns();
}

void MapRegionModel::choose(const std::optional<MapRegion>& region) {
  maps_.workspace().document().edit(region ? tr("select a region") : tr("select no region"),
                                    [&](Session& s) { s.maps.region = region; });
}

/// Starts the job when the region or the complete maps are others than before.
void MapRegionModel::follow() {
  std::vector<std::shared_ptr<MapPyramid>> pyramids;
  for (const auto& panel : maps_.panels()) {
    if (panel->pyramid && panel->pyramid->complete() && has_region(*panel))
      pyramids.push_back(panel->pyramid);
  }
  const auto now = region();
  if (now == region_ && pyramids == pyramids_) return;
  region_ = now, pyramids_ = pyramids;
  masses_.clear();
  job_.cancel();
  if (region_ && !pyramids_.empty()) {
    job_ = maps_.workspace().jobs().start<Masses>(
        "mass of a region",
        [pyramids = pyramids_, region = *region_](const PoolContext& context) {
          Masses masses;
          for (const auto& pyramid : pyramids) {
            masses[pyramid.get()] = region_mass(pyramid->source(), region, context.cancel_check());
          }
          return masses;
        },
        [this](Masses masses) {
          masses_ = std::move(masses);
          emit changed();
        },
        nullptr, true);
  }
  emit changed();
}

std::string MapRegionModel::text() const {
  if (!region_) return "";
  const MapTokens& tokens = maps_.tokens();
  std::string text = fmt::format("region: {}, {}",
                                 cells_text(tokens.query, region_->query_begin, region_->query_end),
                                 cells_text(tokens.key, region_->key_begin, region_->key_end));
  for (const auto& panel : maps_.panels()) {
    if (!panel->pyramid || !has_region(*panel)) continue;
    const auto found = masses_.find(panel->pyramid.get());
    text +=
        fmt::format("\n{}: {}", panel->title,
                    found == masses_.end() ? "computing …" : text_of_mass(found->second, *panel));
  }
  return text;
}

std::string MapRegionModel::short_mass(const MapPanel& panel) const {
  const auto found = masses_.find(panel.pyramid.get());
  if (found == masses_.end()) return "";
  const auto share = share_of(found->second, panel);
  return fmt::format("Σ {:.4g}", found->second.sum) +
         (share ? fmt::format(", {:.3g} %", *share) : "");
}

}  // namespace conelab::desktop
