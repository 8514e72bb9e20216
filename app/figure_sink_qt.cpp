// PDF and PNG through the Qt painters.
#include "app/figure_sink.h"
#include "widgets/painter/painter.h"

namespace conelab {

bool has_page_painter() { return true; }

void write_page(const figure::DisplayList& list, const std::string& path,
                const std::string& format) {
  format == "pdf" ? figure::write_pdf(list, path) : figure::write_png(list, path);
}

}  // namespace conelab
