#include "app/figure_sink.h"

#include "core/base/error.h"
#include "core/figure/file_format.h"
#include "core/files/atomic_file.h"
#include "core/files/replaceable.h"

namespace conelab {

std::string claim_figure(const std::string& path) {
  const std::string format = figure_format(path);
  check_replaceable_figure(path, format);
  probe_writable(path);
  return format;
}

std::string figure_format(const std::string& path) {
  std::string format = figure::file_format(path);
  if (format == "png" && !has_pixel_painter()) {
    misuse("{}: this program was built without Qt and writes figures as SVG and PDF only", path);
  }
  return format;
}

}  // namespace conelab
