// A hierarchy from a folder: itself, the folders and files in it, and so on. Links are leaves, so
// that none is followed in a circle.
#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/dataset/import.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_entries = 5'000'000;

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder, std::error_code& error) {
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(*at);
  }
  std::ranges::sort(entries, {}, [](const auto& entry) { return entry.path().native(); });
  return entries;
}

}  // namespace

MadeData imported_folder(const KeyValues& values) {
  const std::string& path = values.text("path");
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (error) fail("{}: {}", path, error.message());
  if (!fs::is_directory(root)) fail("{}: is no folder", path);
  ImportedNodes nodes;
  std::vector<std::pair<fs::path, Node>> waiting = {{root, nodes.add(root.filename().native())}};
  std::size_t closed = 0;
  std::string first;
  while (!waiting.empty()) {
    const auto [at, node] = waiting.back();
    waiting.pop_back();
    for (const fs::directory_entry& entry : sorted_entries(at, error)) {
      const Node child = nodes.add(entry.path().filename().native());
      nodes.link(child, node);
      std::error_code none;
      const bool goes_on = !entry.is_symlink(none) && entry.is_directory(none);
      if (goes_on) waiting.emplace_back(entry.path(), child);
    }
    if (error && closed++ == 0) first = at.native() + ": " + error.message();
    if (nodes.size() > most_entries) fail("{}: holds more than {} entries", path, most_entries);
  }
  if (nodes.size() == 1 && closed > 0) fail("{}", first);
  if (closed > 0) {
    nodes.remarks.push_back(
        fmt::format("{}: {} folders cannot be read (the first: {})", path, closed, first));
  }
  return nodes.finish(values);
}

}  // namespace conelab
