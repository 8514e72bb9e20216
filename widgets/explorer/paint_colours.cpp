#include "widgets/explorer/paint_colours.h"

#include "widgets/theme/theme.h"

namespace conelab::desktop {

QColor line_colour(Ink ink, const QPalette& palette) {
  const bool dark = is_dark(palette);
  switch (ink) {
    case Ink::u:
      return operator_colour(0, palette);
    case Ink::v:
      return operator_colour(1, palette);
    case Ink::ancestors:
      return operator_colour(2, palette);
    case Ink::depth:
      return focus_colour();
    case Ink::light:
      return dark ? QColor(0xe6, 0xb8, 0x4a) : QColor(0xc9, 0x86, 0x00);
    case Ink::level:
      return dark ? QColor(0xd0, 0xd6, 0xde) : QColor(0x30, 0x48, 0x5c);
    case Ink::geodesic:
      return dark ? QColor(0xe4, 0xe6, 0xea) : QColor(0x40, 0x46, 0x4e);
    default:
      return quiet_ink(palette);
  }
}

QColor fill_colour(Ink ink, const QPalette& palette) {
  const bool dark = is_dark(palette);
  switch (ink) {
    case Ink::light:
      return dark ? QColor(0x57, 0x4a, 0x22) : QColor(0xff, 0xf0, 0xc4);
    case Ink::excluded:
      return palette.color(QPalette::Window);
    case Ink::outside:
      return palette.color(QPalette::Window);
    case Ink::shadow:
      return dark ? QColor(0, 0, 0) : QColor(0x50, 0x50, 0x50);
    default:
      return line_colour(ink, palette);
  }
}

}  // namespace conelab::desktop
