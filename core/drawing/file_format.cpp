#include "core/drawing/file_format.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab::figure {

std::string file_format(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  std::string ending = has_ending ? path.substr(dot + 1) : "";
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string> known = {"svg", "pdf", "png"};
  if (std::ranges::find(known, ending) == known.end()) {
    misuse("{}: unknown figure format '{}' (known: {})", path, ending, join(known));
  }
  return ending;
}

}  // namespace conelab::figure
