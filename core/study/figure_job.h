// Writes figures to files, in the format that the file's ending names.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/files/tensor_source.h"
#include "core/study/figure_table.h"
#include "core/study/job_spec.h"

namespace conelab {

/// Returns "svg", "pdf" or "png" after checking that a figure may be written to `path`. Throws
/// misuse for any other ending, for png if the context cannot write it, and if a file lies there
/// that is not a figure of this program. Throws a failure if it cannot be written.
std::string claim_figure(const std::string& path, const JobContext& context);

/// Writes the figure, whole or not at all. Throws a failure that names the file if it cannot be
/// written.
void write_figure_file(const figure::DisplayList& list, const std::string& path,
                       const JobContext& context);

// The job `figure`: reads the input of a figure, given its name, and makes it. The names, keys and
// makers are rows of core/study/figure_table.h. There is one reader for each kind of source, which
// turns files into the numbers that a figure is made from.

struct FigureRequest {
  std::string name;                 ///< A name of that table.
  std::vector<std::string> inputs;  ///< Each is FILE or FILE:/group.
  figure::Parameters parameters;    ///< The values of `-p KEY=VALUE`.
  std::string width;                ///< "86mm", "double", ...; empty takes the figure's preset.
  Reading reading = {};             ///< How the arrays of traces are read.
  JobContext context = {};          ///< Cancels the work and receives its remarks.

  /// Returns the value that was given for the key, or the table's default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// Returns that value as a whole number from 0; throws misuse for anything else.
  [[nodiscard]] std::size_t index(const std::string& key) const;
  /// Returns the only input; throws misuse if there is none or more than one.
  [[nodiscard]] const std::string& single_input() const;
};

/// Returns the request as a job without an output; its words are those of the command that draws
/// the figure again, keys in alphabetical order.
[[nodiscard]] JobSpec figure_spec(const FigureRequest& request);

/// Checks the name and the keys, reads the input, and draws the figure, whose metadata state that
/// command. Throws misuse for unknown names, keys and values, and a failure for input that cannot
/// be read.
[[nodiscard]] figure::DisplayList draw_figure(const FigureRequest& request);

}  // namespace conelab
