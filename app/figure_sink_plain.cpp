// Stands in for figure_sink_qt.cpp in a program built without Qt.
#include "app/figure_sink.h"
#include "core/figure/pdf.h"
#include "core/figure/svg.h"
#include "core/files/atomic_file.h"

namespace conelab {

bool has_pixel_painter() { return false; }

void write_figure_file(const figure::DisplayList& list, const std::string& path) {
  const bool pdf = figure_format(path) == "pdf";
  write_text_atomically(path, pdf ? figure::to_pdf(list) : figure::to_svg(list));
}

}  // namespace conelab
