// The caption under a figure, and the page's height that follows from it.
#pragma once

#include <string>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Writes the caption in lines below `top`, keeps it as the figure's description, and closes the
/// page under it.
void finish_with_caption(DisplayList& list, const std::string& caption, double top);

}  // namespace conelab::figure
