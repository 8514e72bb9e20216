// Writes figures with the painters of Qt, as the desktop does.
#include "app/figure_sink.h"
#include "widgets/painter/painter.h"

namespace conelab {

bool has_pixel_painter() { return true; }

void write_figure_file(const figure::DisplayList& list, const std::string& path) {
  figure::write_figure(list, path);
}

}  // namespace conelab
