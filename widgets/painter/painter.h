// A display list through QPainter: the screen, PDF and PNG.
//
// Fonts are the embedded ones, placed by core's metrics, so that Qt neither substitutes nor moves
// text. PDF carries text as text (embedded fonts); everywhere else glyphs are filled outlines, so
// that pixels do not depend on the platform's text rendering.
#pragma once

#include <QPainter>
#include <cstdint>
#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Draws in points with the origin at the page's top left; the caller scales the painter. Restores
/// the painter's state. Throws a failure for a list that is not sound.
void paint(const DisplayList& list, QPainter& painter);

/// The figure as a one-page PDF 1.4 of exactly its size (whole points; others are rounded), with
/// fonts embedded, arcs as curves within 0.002 pt, lossless images; no wall clock. One at a time:
/// others wait.
[[nodiscard]] std::vector<std::uint8_t> to_pdf(const DisplayList& list);

/// The figure as PNG on white. Throws misuse for a density outside [10, 2400] dots per inch.
[[nodiscard]] std::vector<std::uint8_t> to_png(const DisplayList& list, double dots_per_inch = 300);

/// To a file, whole or not at all (core/files/atomic_file.h), by the ending: .svg, .pdf or .png at
/// that density; misuse for any other. Throws a failure naming the file.
void write_figure(const DisplayList& list, const std::string& path, double dots_per_inch = 300);

/// PDF and fonts need an application object. Without one this creates an offscreen one, which
/// needs no display; the other functions here call it themselves.
void ensure_application();

}  // namespace conelab::figure
