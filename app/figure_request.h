// A figure that is asked for by name: reads its input and draws it. The names, keys and looks are
// rows of the table in core/figure/templates.h; this header turns files into the numbers of a
// figure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/figure/geometry_templates.h"
#include "core/figure/templates.h"

namespace conelab {

struct FigureRequest {
  std::string name;                 ///< A name of that table.
  std::vector<std::string> inputs;  ///< Each is FILE or FILE:/group.
  figure::Parameters parameters;    ///< The values of `-p KEY=VALUE`.
  double width = 0;                 ///< In points; 0 takes the figure's preset.
  std::string spec;                 ///< The command line, which the figure's metadata state.
  /// Is polled throughout; once it returns true, Error(interrupted) is thrown. Empty: never.
  std::function<bool()> cancelled = {};

  /// Returns the value that was given for the key, or the table's default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// Returns that value as a whole number from 0; throws misuse for anything else.
  [[nodiscard]] std::size_t index(const std::string& key) const;
  /// Returns the only input; throws misuse if there is none or more than one.
  [[nodiscard]] const std::string& single_input() const;
};

/// Checks the name and the keys, reads the input, and draws the figure. Throws misuse for unknown
/// names, keys and values, and a failure for input that cannot be read.
[[nodiscard]] figure::DisplayList draw_figure(const FigureRequest& request);

/// Returns the names of all figures that `draw_figure` can draw.
[[nodiscard]] std::vector<std::string> drawn_figures();

// Each reads the request's input and returns the figure's numbers. The look is not set yet.
[[nodiscard]] figure::HeatmapFigure read_heatmap(const FigureRequest& request);
[[nodiscard]] figure::ArcsFigure read_arcs(const FigureRequest& request);
[[nodiscard]] figure::ScalingFigure read_scaling(const FigureRequest& request);
[[nodiscard]] figure::RooflineFigure read_roofline(const FigureRequest& request);
[[nodiscard]] figure::TreeFigure read_tree(const FigureRequest& request);

}  // namespace conelab
