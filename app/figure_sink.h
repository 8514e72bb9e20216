// Writes figures to files, in the format that the file's ending names. PNG is
// painted by Qt.
#pragma once

#include <string>

#include "core/figure/display_list.h"

namespace conelab {

/// Returns "svg", "pdf" or "png", by the ending of `path`. Throws misuse for any other ending, and
/// for png in a program that was built without Qt.
[[nodiscard]] std::string figure_format(const std::string& path);

/// Returns the format of `path` after checking that a figure may be written there. Throws misuse if
/// a file lies there that is not a figure of this program, and a failure if it cannot be written.
std::string claim_figure(const std::string& path);

// These are defined in figure_sink_qt.cpp, or in figure_sink_plain.cpp for builds without Qt.

/// Returns whether this build writes PNG.
[[nodiscard]] bool has_pixel_painter();
/// Writes the figure, whole or not at all. Throws a failure that names the file if it cannot be
/// written, and misuse as `figure_format` does.
void write_figure_file(const figure::DisplayList& list, const std::string& path);

}  // namespace conelab
