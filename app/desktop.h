// Opens the desktop program. A build without Qt has none.
#pragma once

#include <string>
#include <vector>

namespace conelab {

/// Returns whether this build has a desktop and the environment names a display.
[[nodiscard]] bool desktop_available();

/// Opens `files` in the desktop, runs it until its window is closed, and returns the exit status.
/// Throws a failure without a display, without OpenGL 3.3, and in a build without Qt. It is defined
/// in desktop_qt.cpp, or in desktop_plain.cpp for builds without Qt.
int run_desktop(const std::vector<std::string>& files);

}  // namespace conelab
