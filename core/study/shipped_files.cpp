#include "core/study/shipped_files.h"

#include <algorithm>
#include <filesystem>

namespace conelab {
namespace {

namespace fs = std::filesystem;

/// Returns share/conelab beside the folder of the program, as it is installed and as it is built.
fs::path shipped_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share" / "conelab";
}

}  // namespace

std::string shipped_file(const std::string& name) {
  std::error_code error;
  const fs::path file = shipped_folder() / name;
  return fs::is_regular_file(file, error) ? file.string() : "";
}

std::vector<std::string> shipped_studies() {
  std::vector<std::string> found;
  const std::string first = shipped_file("studies/first.toml");
  if (first.empty()) return found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(first).parent_path(), error)) {
    if (entry.path().extension() == ".toml") found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace conelab
