#include "core/files/replaceable.h"

#include <filesystem>

#include "core/base/error.h"
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

}  // namespace

std::string result_kind(const std::string& path, const SandboxLimits& limits) {
  std::string kind;
  try {
    run_sandboxed(
        path, limits,
        [&](ArchiveWriter& writer) {
          kind = kind_of_root(path);
          visit(writer, kind);
        },
        [&](ArchiveReader& reader) { visit(reader, kind); });
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return "";
  }
  return kind;
}

void check_replaceable(const std::string& path, const std::string& expected,
                       const std::function<bool()>& own) {
  namespace fs = std::filesystem;
  std::error_code error;  // What cannot be seen is for whoever writes to complain of.
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0 || error) return;
  if (own()) return;
  misuse("{}: is not {}, and would be lost; remove it, or give another name", path, expected);
}

void check_replaceable_result(const std::string& path, const std::string& kind,
                              const std::string& command, const SandboxLimits& limits) {
  check_replaceable(path, "a result of `" + command + "`",
                    [&] { return result_kind(path, limits) == kind; });
}

}  // namespace conelab
