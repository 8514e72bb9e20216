// The mass of a region of the maps: how much attention goes from some queries to some keys.
#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <optional>

#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

/// The sum of the cells of a region, and that of all cells of its rows. Masked and excluded cells
/// have no part in them.
struct RegionMass {
  double sum = 0, rows = 0;
};
[[nodiscard]] RegionMass region_mass(const MatrixSource& source, const MapRegion& region,
                                     const std::function<bool()>& cancelled);

/// Computes the masses of the session's region in all panels, as a job.
class MapRegionModel : public QObject {
  Q_OBJECT

 public:
  explicit MapRegionModel(MapsModel& maps);

  /// Returns the region, as far as it lies inside the maps.
  [[nodiscard]] std::optional<MapRegion> region() const;
  /// Sets the region of the session; none removes it.
  void choose(const std::optional<MapRegion>& region);
  /// Returns the tokens of the region and its mass in each panel; empty without a region.
  [[nodiscard]] std::string text() const;
  /// Returns its mass in a panel, to fewer digits; empty if it is not known yet.
  [[nodiscard]] std::string short_mass(const MapPanel& panel) const;

 signals:
  void changed();

 private:
  /// Returns whether a map contains the cells of the region. A map that is compared may have
  /// another size.
  [[nodiscard]] bool has_region(const MapPanel& panel) const;
  using Masses = std::map<const MapPyramid*, RegionMass>;
  void follow();

  MapsModel& maps_;
  std::optional<MapRegion> region_;  ///< The region of `masses_` and of the job.
  std::vector<std::shared_ptr<MapPyramid>> pyramids_;
  Masses masses_;
  JobHandle job_;
};

}  // namespace conelab::desktop
