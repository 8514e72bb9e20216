// Says whether the maps of a model are computed, for tests that wait for them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

inline bool is_whole(const MapPanel& panel) {
  return panel.pyramid && panel.pyramid->complete() && !panel.pass.active();
}

/// Returns whether there are so many maps, and each is computed.
inline bool are_whole(const MapsModel& model, std::size_t count) {
  const auto& panels = model.panels();
  return panels.size() == count &&
         std::all_of(panels.begin(), panels.end(), [](const auto& p) { return is_whole(*p); });
}

}  // namespace conelab::desktop
