#include "app/figure_sink.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <vector>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/figure/svg.h"
#include "core/files/atomic_file.h"
#include "core/files/replaceable.h"

namespace conelab {
namespace {

/// What each format begins with, and what tells where the figure came from.
struct Marks {
  std::string begin, origin;
};

Marks marks_of(const std::string& format) {
  if (format == "svg") return {"<?xml", "urn:conelab:figure"};
  if (format == "pdf") return {"%PDF", "urn:conelab:figure"};
  using namespace std::string_literals;
  return {"\x89PNG", "iTXtSoftware\0\0\0\0\0conelab "s};
}

/// Block by block: what lies there may be of any size.
bool is_own_figure(const std::string& path, const std::string& format) {
  constexpr std::size_t block = 1 << 20;
  const Marks marks = marks_of(format);
  std::ifstream file(path, std::ios::binary);
  std::string bytes(marks.begin.size(), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
      bytes != marks.begin) {
    return false;
  }
  do {
    // The end of what was searched may be the beginning of the mark.
    bytes.erase(0, bytes.size() - std::min(bytes.size(), marks.origin.size() - 1));
    const std::size_t kept = bytes.size();
    bytes.resize(kept + block);
    file.read(bytes.data() + kept, block);
    bytes.resize(kept + static_cast<std::size_t>(file.gcount()));
    if (bytes.find(marks.origin) != std::string::npos) return true;
  } while (file);
  return false;
}

}  // namespace

std::string claim_figure(const std::string& path) {
  const std::string format = figure_format(path);
  check_replaceable(path, "a figure of this program", [&] { return is_own_figure(path, format); });
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
