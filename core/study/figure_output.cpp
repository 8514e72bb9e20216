#include "core/study/figure_output.h"

#include "core/base/error.h"
#include "core/figure/file_format.h"
#include "core/figure/pdf.h"
#include "core/figure/svg.h"
#include "core/files/atomic_file.h"
#include "core/files/replaceable.h"

namespace conelab {

std::string claim_figure(const std::string& path, const JobContext& context) {
  std::string format = figure::file_format(path);
  if (format == "png" && !context.write_png) {
    misuse("{}: this program was built without Qt and writes figures as SVG and PDF only", path);
  }
  check_replaceable_figure(path, format);
  probe_writable(path);
  return format;
}

void write_figure_file(const figure::DisplayList& list, const std::string& path,
                       const JobContext& context) {
  const std::string format = figure::file_format(path);
  if (format == "png") return context.write_png(list, path);
  write_text_atomically(path, format == "pdf" ? figure::to_pdf(list) : figure::to_svg(list));
}

}  // namespace conelab
