// The figure that corresponds to the maps view: the template of its layout with the choices of the
// session, so that `conelab figure` draws the same numbers.
#pragma once

#include <optional>

#include "core/trace/trace.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

/// Returns the figure: of all operators for maps, arcs and tables, of the one with this index for
/// trees and orders. Returns nothing if there is no such operator.
[[nodiscard]] std::optional<FigureChoice> map_figure(const Session& session, const Trace& trace,
                                                     std::size_t operation = 0);

/// Returns what the view shows and its figure does not, "merged words, marks of special tokens".
[[nodiscard]] std::string not_in_figure(const MapChoice& maps);

/// Returns whether the figure of a layout shows one operator only.
[[nodiscard]] bool figure_of_one(const std::string& layout);

}  // namespace conelab::desktop
