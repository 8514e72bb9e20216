// A figure on the ground of the theme: figures are drawn for white paper, views on what the user
// works on.
#pragma once

#include <QPalette>

#include "core/figure/display_list.h"

namespace conelab::desktop {

/// The list with its greys between the palette's ground and text, and its colours lighter on dark
/// ground; alpha stays. On light ground it is returned as it is. Images are left alone.
[[nodiscard]] figure::DisplayList on_ground(figure::DisplayList list, const QPalette& palette);

/// A colour as figures take it.
[[nodiscard]] figure::Colour figure_colour(const QColor& colour);

}  // namespace conelab::desktop
