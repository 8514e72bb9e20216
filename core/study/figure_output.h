// Writes figures to files, in the format that the file's ending names.
#pragma once

#include <string>

#include "core/figure/display_list.h"
#include "core/study/job.h"

namespace conelab {

/// Returns "svg", "pdf" or "png" after checking that a figure may be written to `path`. Throws
/// misuse for any other ending, for png if the context cannot write it, and if a file lies there
/// that is not a figure of this program. Throws a failure if it cannot be written.
std::string claim_figure(const std::string& path, const JobContext& context);

/// Writes the figure, whole or not at all. Throws a failure that names the file if it cannot be
/// written.
void write_figure_file(const figure::DisplayList& list, const std::string& path,
                       const JobContext& context);

}  // namespace conelab
