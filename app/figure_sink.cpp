#include "app/figure_sink.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/figure/svg.h"
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
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  std::string ending = has_ending ? path.substr(dot + 1) : "";
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string> known = {"svg", "pdf", "png"};
  if (std::find(known.begin(), known.end(), ending) == known.end()) {
    misuse("{}: unknown figure format '{}' (known: {})", path, ending, join(known));
  }
  if (ending != "svg" && !has_page_painter()) {
    misuse("{}: this program was built without Qt and writes figures as SVG only", path);
  }
  return ending;
}

void write_figure_file(const figure::DisplayList& list, const std::string& path) {
  const std::string format = figure_format(path);
  if (format == "svg") {
    write_text_atomically(path, figure::to_svg(list));
  } else {
    write_page(list, path, format);
  }
}

}  // namespace conelab
