// Stands in for figure_sink_qt.cpp in a program built without Qt.
#include "app/figure_sink.h"
#include "core/figure/svg.h"
#include "core/files/atomic_file.h"

namespace conelab {

bool has_page_painter() { return false; }

void write_figure_file(const figure::DisplayList& list, const std::string& path) {
  static_cast<void>(figure_format(path));  // It refuses other formats than SVG.
  write_text_atomically(path, figure::to_svg(list));
}

}  // namespace conelab
