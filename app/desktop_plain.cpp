// A build without Qt has no desktop.
#include "app/desktop.h"
#include "core/base/error.h"

namespace conelab {

bool desktop_available() { return false; }

int run_desktop(const std::vector<std::string>&) {
  fail("this program was built without the desktop; every command works without it");
}

std::function<void(const figure::DisplayList&, const std::string&)> png_writer() { return {}; }

}  // namespace conelab
