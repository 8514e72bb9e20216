// A figure to a file, by the file's ending. SVG needs nothing; PDF and PNG go through Qt.
#pragma once

#include <string>

#include "core/figure/display_list.h"

namespace conelab {

/// "svg", "pdf" or "png", by the ending of `path`. Misuse for any other, and for pdf and png in a
/// program built without Qt.
[[nodiscard]] std::string figure_format(const std::string& path);

/// The format; throws misuse where something else than a figure of this program lies at `path`, and
/// a failure where a figure could not be written there.
std::string claim_figure(const std::string& path);

// Defined in one of figure_sink_qt.cpp, figure_sink_plain.cpp.

/// Whether PDF and PNG can be written.
[[nodiscard]] bool has_page_painter();
/// Writes the figure whole or not at all; throws a failure that names the file, and misuse as
/// `figure_format` does.
void write_figure_file(const figure::DisplayList& list, const std::string& path);

}  // namespace conelab
