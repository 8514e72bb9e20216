// A figure asked for by name: reads its input and draws it. Names, keys and looks are core's table
// (core/figure/templates.h); what is here turns files into the numbers of a figure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/figure/geometry_templates.h"
#include "core/figure/templates.h"

namespace conelab {

struct FigureRequest {
  std::string name;                 ///< Of core's table.
  std::vector<std::string> inputs;  ///< FILE or FILE:/group
  figure::Parameters parameters;    ///< `-p KEY=VALUE`
  double width = 0;                 ///< Points; 0: the figure's preset.
  std::string spec;                 ///< The command, for the figure's metadata.
  /// Polled throughout; true stops with Error(interrupted). Empty: never.
  std::function<bool()> cancelled = {};

  /// The value given, or the table's default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// The same as a whole number from 0; misuse for anything else.
  [[nodiscard]] std::size_t index(const std::string& key) const;
  /// The one input; misuse where there is none or more than one.
  [[nodiscard]] const std::string& single_input() const;
};

/// Checks the name and the keys, reads the input and draws. Throws misuse for unknown names, keys
/// and values, failures for unreadable inputs.
[[nodiscard]] figure::DisplayList draw_figure(const FigureRequest& request);

/// The names that `draw_figure` has a function for: those of core's table.
[[nodiscard]] std::vector<std::string> drawn_figures();

// From input to numbers, one file each; the look is not set yet.
[[nodiscard]] figure::HeatmapFigure read_heatmap(const FigureRequest& request);
[[nodiscard]] figure::ArcsFigure read_arcs(const FigureRequest& request);
[[nodiscard]] figure::ScalingFigure read_scaling(const FigureRequest& request);
[[nodiscard]] figure::RooflineFigure read_roofline(const FigureRequest& request);
[[nodiscard]] figure::TreeFigure read_tree(const FigureRequest& request);

}  // namespace conelab
