// What the maps view shows as a figure: the template of its layout with the session's choices, so
// that `conelab figure` draws the same numbers.
#pragma once

#include <optional>

#include "widgets/session/session.h"
#include "widgets/trace/trace.h"

namespace conelab::desktop {

/// Of maps, arcs and tables all operators; of trees and orders that of the `operation`-th. None for
/// all heads at once, which no figure shows, and where there is no such operator.
[[nodiscard]] std::optional<FigureChoice> map_figure(const Session& session, const Trace& trace,
                                                     std::size_t operation = 0);

/// Whether a layout's figure is of one operator.
[[nodiscard]] bool figure_of_one(const std::string& layout);

}  // namespace conelab::desktop
