// The colours of a cone picture's inks in the light and the dark theme.
#pragma once

#include <QColor>
#include <QPalette>

#include "widgets/explorer/cone_picture.h"

namespace conelab::desktop {

/// Of a line, or of a fill at full opacity.
[[nodiscard]] QColor line_colour(Ink ink, const QPalette& palette);
[[nodiscard]] QColor fill_colour(Ink ink, const QPalette& palette);

}  // namespace conelab::desktop
