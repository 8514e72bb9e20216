// The desktop program, where this build has one.
#pragma once

#include <string>
#include <vector>

namespace conelab {

/// Whether a window can be expected to open: this build has a desktop, and there is a display.
[[nodiscard]] bool desktop_available();

/// Runs the desktop until its window is closed; returns the exit status. Fails without a display,
/// without OpenGL 3.3, and in a build without Qt. Defined in desktop_qt.cpp or desktop_plain.cpp.
int run_desktop(const std::vector<std::string>& files);

}  // namespace conelab
