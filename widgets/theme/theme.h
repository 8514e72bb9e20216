// The look of the program: light and dark palettes, one accent, the same measures everywhere.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

class QApplication;

namespace conelab::desktop {

/// "light", "dark" or "system" (what the desktop environment uses).
void apply_theme(QApplication& application, const QString& theme);

/// Whether a palette is a dark one.
[[nodiscard]] bool is_dark(const QPalette& palette);

// Colours that views draw with, by the palette they are shown in.
[[nodiscard]] QColor quiet_ink(const QPalette& palette);  ///< Ticks, secondary text.
[[nodiscard]] QColor hair_line(const QPalette& palette);  ///< Frames and grids.
[[nodiscard]] QColor canvas_ground(const QPalette& palette);
/// The colour of the pair that is looked at, over any colour map.
[[nodiscard]] QColor focus_colour();
/// What is wrong in a form.
[[nodiscard]] QColor error_ink(const QPalette& palette);
/// Verdicts: faster (true) and slower.
[[nodiscard]] QColor verdict_colour(bool faster, const QPalette& palette);
/// The i-th operator's colour: Okabe and Ito's, lighter on dark ground.
[[nodiscard]] QColor operator_colour(std::size_t i, const QPalette& palette);

}  // namespace conelab::desktop
