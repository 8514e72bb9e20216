#include "core/files/replaceable.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/files/byte_file.h"
#include "core/files/hdf5_read.h"

namespace conelab {
namespace {

std::string kind_of_root(const std::string& path) {
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::open_file(path);
  const hdf5::Where where{path, "/"};
  const hdf5::Object root = hdf5::open_object(file, where);
  if (!hdf5::read_attribute(root.id(), "conelab_format", where)) return "";
  const auto kind = hdf5::read_attribute(root.id(), "default", where);
  const auto* text = kind ? std::get_if<std::string>(&*kind) : nullptr;
  return text == nullptr ? "" : *text;
}

/// What a file of a format begins with, and a text that only this program writes into its figures.
struct Marks {
  std::string begin, origin;
};

Marks marks_of(const std::string& format) {
  if (format == "svg") return {"<?xml", "urn:conelab:figure"};
  if (format == "pdf") return {"%PDF", "urn:conelab:figure"};
  using namespace std::string_literals;
  return {"\x89PNG", "iTXtSoftware\0\0\0\0\0conelab "s};
}

/// Returns whether the file is a figure of this program. It is read block by block, because it may
/// be of any size.
bool is_own_figure(const std::string& path, const std::string& format) {
  constexpr std::size_t block = 1 << 20;
  const Marks marks = marks_of(format);
  if (ByteFile(path).peek(0, marks.begin.size()) != marks.begin) return false;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  do {
    // The mark may begin at the end of what was searched.
    bytes.erase(0, bytes.size() - std::min(bytes.size(), marks.origin.size() - 1));
    const std::size_t kept = bytes.size();
    bytes.resize(kept + block);
    file.read(bytes.data() + kept, block);
    bytes.resize(kept + static_cast<std::size_t>(file.gcount()));
    if (bytes.find(marks.origin) != std::string::npos) return true;
  } while (file);
  return false;
}

/// Throws misuse if a file is neither empty nor `own`. `own` throws a failure if the file cannot be
/// read.
void check_replaceable(const std::string& path, const std::string& expected,
                       const std::function<bool()>& own) {
  namespace fs = std::filesystem;
  // If the file is not accessible, writing it will fail with a better message.
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0 || error) return;
  try {
    if (own()) return;
  } catch (const Error& unread) {
    if (unread.kind() == ErrorKind::interrupted) throw;
    misuse(
        "{}; it may be something else than {}, and would be lost; remove it, or give another name",
        unread.what(), expected);
  }
  misuse("{}: is not {}, and would be lost; remove it, or give another name", path, expected);
}

}  // namespace

std::string result_kind(const std::string& path, const SandboxLimits& limits) {
  // Results of this program begin without a user block.
  if (ByteFile(path).peek(0, 8) != "\x89HDF\r\n\x1a\n") return "";
  std::string kind;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        kind = kind_of_root(path);
        visit(writer, kind);
      },
      [&](ArchiveReader& reader) { visit(reader, kind); });
  return kind;
}

void check_replaceable_result(const std::string& path, const std::string& kind,
                              const std::string& command, const SandboxLimits& limits) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (path == "-") misuse("results are HDF5 files, which are not written to standard output");
  for (const char* other : {".npz", ".npy", ".safetensors", ".pt", ".pth", ".txt", ".csv", ".json",
                            ".svg", ".pdf", ".png"}) {
    if (ending == other) misuse("{}: results are HDF5 files; give a name that ends in .h5", path);
  }
  check_replaceable(path, "a result of `" + command + "`",
                    [&] { return result_kind(path, limits) == kind; });
}

void check_replaceable_figure(const std::string& path, const std::string& format) {
  check_replaceable(path, "a figure of this program", [&] { return is_own_figure(path, format); });
}

}  // namespace conelab
