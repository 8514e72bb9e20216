// Holds what is drawn: the name of a figure, and its input. The names, keys and makers are rows of
// figure_table.h. There is one reader for each kind of source, which turns files into the numbers
// that a figure is made from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/files/tensor_source.h"
#include "core/job/job_spec.h"
#include "core/source/figure_table.h"

namespace conelab {

struct FigureRequest {
  std::string name;                 ///< A name of that table.
  std::vector<std::string> inputs;  ///< Each is FILE or FILE:/group.
  figure::Parameters parameters;    ///< The values of `-p KEY=VALUE`.
  std::string width;                ///< "86mm", "double", ...; empty takes the figure's preset.
  Reading reading = {};             ///< How the arrays of traces are read.
  JobContext context = {};          ///< Cancels the work and receives its remarks.
  /// Receives the file and the digest (Trace::sha256) of each layer that is read; may be null.
  std::vector<std::pair<std::string, std::string>>* layers_read = nullptr;
  bool draws_caption = true;  ///< Under the drawing; else only in the file's description.

  /// Returns the value that was given for the key, or the table's default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// Returns that value as a whole number from 0; throws misuse for anything else.
  [[nodiscard]] std::size_t index(const std::string& key) const;
  /// Returns the only input; throws misuse if there is none or more than one.
  [[nodiscard]] const std::string& single_input() const;
};

/// Throws misuse if the figure needs an input and there is none, or the other way round.
void check_inputs(const figure::FigureInfo& info, const std::vector<std::string>& inputs);

}  // namespace conelab
