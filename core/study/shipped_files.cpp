#include "core/study/shipped_files.h"

#include <algorithm>
#include <filesystem>

namespace conelab {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> shipped_folders() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path source(CONELAB_SOURCE);
  return {program.parent_path() / "share" / "conelab", program, source / "datasets",
          source / "resources"};
}

}  // namespace

std::string shipped_file(const std::string& name) {
  std::error_code error;
  for (const fs::path& folder : shipped_folders()) {
    if (fs::is_regular_file(folder / name, error)) return (folder / name).string();
  }
  return "";
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
