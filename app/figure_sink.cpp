#include "app/figure_sink.h"

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "core/figure/file_format.h"
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
  std::string format = figure::file_format(path);
  if (format != "svg" && !has_page_painter()) {
    misuse("{}: this program was built without Qt and writes figures as SVG only", path);
  }
  return format;
}

}  // namespace conelab
