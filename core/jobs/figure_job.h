// The job `figure`: reads the input of a figure, makes it, and writes it in the format that the
// file's ending names.
#pragma once

#include <string>

#include "core/drawing/display_list.h"
#include "core/job/job_spec.h"
#include "core/source/figure_request.h"

namespace conelab {

/// Returns "svg", "pdf" or "png" after checking that a figure may be written to `path`. Throws
/// misuse for any other ending, for png if the context cannot write it, and if a file lies there
/// that is not a figure of this program. Throws a failure if it cannot be written.
std::string claim_figure(const std::string& path, const JobContext& context);

/// Writes the figure, whole or not at all. Throws a failure that names the file if it cannot be
/// written.
void write_figure_file(const figure::DisplayList& list, const std::string& path,
                       const JobContext& context);

/// Returns the request as a job without an output; its words are those of the command that draws
/// the figure again, keys in alphabetical order.
[[nodiscard]] JobSpec figure_spec(const FigureRequest& request);

/// Checks the name and the keys, reads the input, and draws the figure, whose metadata state that
/// command. Throws misuse for unknown names, keys and values, and a failure for input that cannot
/// be read.
[[nodiscard]] figure::DisplayList draw_figure(const FigureRequest& request);

}  // namespace conelab
