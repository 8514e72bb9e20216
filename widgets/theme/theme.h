// The appearance of the program: light and dark palettes with one accent colour, and the colours of
// views and figures.
#pragma once

#include <QColor>
#include <QPalette>
#include <QRectF>
#include <QString>
#include <QWidget>
#include <functional>

#include "core/drawing/display_list.h"

class QApplication;
class QComboBox;
class QMenu;
class QToolButton;

namespace conelab::desktop {

/// Applies the theme "light", "dark" or "system" (that of the desktop environment).
void apply_theme(QApplication& application, const QString& theme);

/// Returns whether a palette is dark.
[[nodiscard]] bool is_dark(const QPalette& palette);

// Colours for drawing in views, for the palette of the view.
[[nodiscard]] QColor quiet_ink(const QPalette& palette);  ///< Ticks, secondary text.
[[nodiscard]] QColor hair_line(const QPalette& palette);  ///< Frames and grids.
[[nodiscard]] QColor canvas_ground(const QPalette& palette);
/// Returns the colour of the focused pair, which is visible over every colour map.
[[nodiscard]] QColor focus_colour();
/// Draws a frame around a canvas while it has the focus of the keyboard, unless the mouse gave it.
void show_focus_of(QWidget& canvas);
/// Returns the colour of errors in a form.
[[nodiscard]] QColor error_ink(const QPalette& palette);
/// Returns the colour of a verdict: faster (true) or slower.
[[nodiscard]] QColor verdict_colour(bool faster, const QPalette& palette);
/// Returns the colour of the i-th operator: that of Okabe and Ito, lighter in a dark theme.
[[nodiscard]] QColor operator_colour(std::size_t i, const QPalette& palette);

/// Returns the list for the background of the theme; figures are drawn for white paper. In a dark
/// theme, greys are mapped to colours between the background and the text of the palette, and other
/// colours become lighter; alpha and images do not change. In a light theme the list is unchanged.
[[nodiscard]] figure::DisplayList on_ground(figure::DisplayList list, const QPalette& palette);

/// Names a new widget: as an object, by which tests find it; for screen readers; and in a tool tip.
/// Names that are empty here stay as the widget has set them.
template <class Widget>
Widget* named(Widget* widget, const QString& object, const QString& accessible = {},
              const QString& tip = {}) {
  widget->setObjectName(object);
  if (!accessible.isEmpty()) widget->setAccessibleName(accessible);
  if (!tip.isEmpty()) widget->setToolTip(tip);
  return widget;
}

/// Sets the colour of a label's text.
void set_ink(QWidget& label, const QColor& ink);

/// Adds an entry with a tool tip and data of its own to a choice.
void add_entry(QComboBox& box, const QString& text, const QString& tip, const QVariant& data = {});
/// Makes the list of a choice as wide as its entries, where the choice itself is narrower.
void widen_list(QComboBox& box);

/// The pixels for a point of a figure whose text is to be as large as the window's.
inline constexpr double pixels_a_point = 1.3;

/// Convert a box of figures to a rectangle of Qt and back.
[[nodiscard]] inline QRectF desktop_rect(const figure::Box& b) {
  return {b.x, b.y, b.width, b.height};
}
[[nodiscard]] inline figure::Box figure_box(const QRectF& r) {
  return {r.x(), r.y(), r.width(), r.height()};
}
/// Converts a colour to that of figures.
[[nodiscard]] figure::Colour figure_colour(const QColor& colour);

/// Calls `recolour` now and whenever the palette of `widget` has changed.
void follow_palette(QWidget* widget, std::function<void()> recolour);

/// Gives a button a menu. When the menu closes, the button looks as it does without the pointer,
/// unless the pointer is over it.
void set_menu(QToolButton& button, QMenu* menu);

}  // namespace conelab::desktop
