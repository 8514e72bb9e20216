// Stands in for figure_sink_qt.cpp in a program built without Qt.
#include "app/figure_sink.h"
#include "core/base/error.h"

namespace conelab {

bool has_page_painter() { return false; }

void write_page(const figure::DisplayList&, const std::string& path, const std::string&) {
  misuse("{}: this program was built without Qt", path);
}

}  // namespace conelab
