// Holds what a program without Qt does not have: the desktop, and PNG, which Qt paints. The
// functions are defined in desktop_qt.cpp, or in desktop_plain.cpp for builds without Qt.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::desktop {
struct Backends;
}

namespace conelab {

/// Returns whether this build has a desktop and the environment names a display.
[[nodiscard]] bool desktop_available();

/// Opens `files` in the desktop, runs it until its window is closed, and returns the exit status.
/// Throws a failure without a display, without OpenGL 3.3, and in a build without Qt.
int run_desktop(const std::vector<std::string>& files);

/// Makes the functions that the program hands to its window, because widgets include neither app
/// nor gpu; see widgets/window/backends.h for each. It is not defined in a build without Qt.
[[nodiscard]] desktop::Backends desktop_backends();

/// Returns what writes figures as PNG (core/job/job_spec.h); it is empty in a build without Qt.
[[nodiscard]] std::function<void(const figure::DisplayList&, const std::string&)> png_writer();

}  // namespace conelab
