#include "core/files/layers.h"

#include <algorithm>

namespace conelab {
namespace {

std::string folder_of(const std::string& group) { return group.substr(0, group.rfind('/')); }

}  // namespace

std::vector<std::string> groups_with_queries(const Inspection& inspection,
                                             const std::string& query) {
  std::vector<std::string> groups;
  const std::string end = "/" + query;
  for (const InspectedItem& item : inspection.items) {
    if (item.kind == ItemKind::array && item.path.ends_with(end) && !is_gradient(item.path)) {
      groups.push_back(item.path.substr(0, item.path.size() - end.size()));
    }
  }
  return by_parent(groups);
}

std::vector<std::string> by_parent(const std::vector<std::string>& groups) {
  std::vector<std::string> sorted;
  for (const std::string& each : groups) {
    if (std::find(sorted.begin(), sorted.end(), each) != sorted.end()) continue;
    const std::vector<std::string> layers = layers_beside(groups, each);
    sorted.insert(sorted.end(), layers.begin(), layers.end());
  }
  return sorted;
}

std::vector<std::string> layers_beside(const std::vector<std::string>& groups,
                                       const std::string& group) {
  std::vector<std::string> layers;
  for (const std::string& each : groups) {
    if (folder_of(each) == folder_of(group)) layers.push_back(each);
  }
  std::stable_sort(layers.begin(), layers.end(), naturally_before);
  return layers;
}

std::vector<std::string> layers_up_to(std::vector<std::string> layers, const std::string& group) {
  const auto at = std::find(layers.begin(), layers.end(), group);
  if (at == layers.end()) return {group};
  layers.erase(at + 1, layers.end());
  return layers;
}

std::string layer_name(const std::string& group) {
  return group.empty() ? "trace" : group.substr(group.rfind('/') + 1);
}

bool naturally_before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (!digit(a[i]) || !digit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i, ++k;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;  // Zeros in front do not count.
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string x = number(a, i), y = number(b, k);
    if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
  }
  return a.size() - i < b.size() - k;
}

std::string subject_name(const std::string& group, std::int64_t head, const std::string& join,
                         bool whole) {
  const std::string layer = whole && !group.empty() ? group.substr(1) : layer_name(group);
  if (join == "rollout") return "rollout to " + layer;
  return layer + " · " + (join == "one" ? std::to_string(head) : join);
}

}  // namespace conelab
