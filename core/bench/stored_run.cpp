#include "core/bench/stored_run.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/replaceable.h"

namespace conelab {
namespace {

/// A list of texts among the attributes of a group; empty where it has none.
std::vector<std::string> texts_of(const LabelledArray& group, const std::string& name) {
  for (const auto& [key, value] : group.attributes) {
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    if (key == name && list != nullptr) return *list;
  }
  return {};
}

std::vector<std::string> peers_of(const RunIdentity& identity) {
  std::vector<std::string> peers;
  for (const auto& [name, value] : identity) {
    if (name.starts_with("peer ")) peers.push_back(value);
  }
  return peers;
}

Sweep sweep_of(const RunIdentity& items, const std::string& output) {
  try {
    return sweep_of_items(items);
  } catch (const Error& error) {
    misuse("{}: its run is of no sweep: {}", output, error.what());
  }
}

}  // namespace

std::optional<StoredRun> stored_run(const std::string& output, const SandboxLimits& limits) {
  const bool finished = result_lies_at(output);
  if (Parts::exist(output)) {
    const RunIdentity identity = Parts::identity(output);
    return StoredRun{sweep_of(identity, output), peers_of(identity)};
  }
  if (!finished) return std::nullopt;
  return StoredRun{sweep_of(items_of_result(output, limits), output),
                   texts_of(read_labelled_sandboxed(output, "bench/environment", limits), "peers")};
}

bool result_lies_at(const std::string& output) {
  check_replaceable_result(output, "bench", "bench");
  std::error_code error;
  const auto size = std::filesystem::file_size(output, error);
  return !error && size > 0;
}

RunIdentity items_of_result(const std::string& path, const SandboxLimits& limits) {
  RunIdentity items;
  const LabelledArray runtime = read_labelled_sandboxed(path, "bench/runtime", limits);
  for (const std::string& line : texts_of(runtime, "sweep")) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    items.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  // Results from before it could be asked for do not say it.
  const auto says = [](const auto& item) { return item.first == "controls"; };
  if (std::none_of(items.begin(), items.end(), says)) {
    items.emplace_back("controls", std::to_string(Sweep().controls));
  }
  return items;
}

}  // namespace conelab
