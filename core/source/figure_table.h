// The table of figures: what each figure shows, what it reads, its parameters, and the function
// that makes it.
//
// `conelab list figures`, `conelab figure NAME` and the desktop's figure panel iterate over it. A
// new figure is a file with its maker, a row in figure_table.cpp, and its test. A new source is a
// constant above the rows; the file of a figure in this folder may hold its reader as well as its
// maker.
#pragma once

#include "core/figure/figure_input.h"

namespace conelab::figure {

[[nodiscard]] const std::vector<FigureInfo>& figure_table();
/// Returns the figure with this name. Throws misuse, with the nearest known name, if there is none.
[[nodiscard]] const FigureInfo& figure_named(const std::string& name);
/// Returns the first figure that draws results of a kind; null if none does.
[[nodiscard]] const FigureInfo* figure_of_results(const std::string& kind);

}  // namespace conelab::figure
