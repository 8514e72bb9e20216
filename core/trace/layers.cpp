#include "core/trace/layers.h"

#include <algorithm>

#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/files/weights_array.h"

namespace conelab {
namespace {

/// Returns the path of a group's parent; of a layer in one of several stacks,
/// "decoder.layer0.self", with the name without its number.
std::string stack_of(const std::string& group) {
  const std::size_t name = group.rfind('/') + 1, layer = group.find("layer", name);
  const std::size_t number = layer + std::string_view("layer").size();
  const std::size_t end = group.find_first_not_of("0123456789", std::min(number, group.size()));
  if (layer == std::string::npos || end == number || group.find('.', name) == std::string::npos) {
    return group.substr(0, group.rfind('/'));
  }
  return group.substr(0, number) + (end == std::string::npos ? "" : group.substr(end));
}

/// Returns the groups with those of one parent or stack beside each other, the layers of each in
/// natural order.
std::vector<std::string> by_parent(const std::vector<std::string>& groups) {
  std::vector<std::string> sorted;
  for (const std::string& each : groups) {
    if (contains(sorted, each)) continue;
    const std::vector<std::string> layers = layers_beside(groups, each);
    sorted.insert(sorted.end(), layers.begin(), layers.end());
  }
  return sorted;
}

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

std::vector<std::string> groups_with_weights(const std::vector<NamedArray>& arrays,
                                             const std::string& given) {
  for (const char* usual : weights_names) {
    const std::string name = given.empty() ? usual : given;
    std::vector<std::string> groups;
    for (const NamedArray& array : arrays) {
      // "layers.0.mlp.weight" is the parameter of a layer.
      const bool inside = name == weights_names[1] ? array.name.ends_with("/" + name)
                                                   : is_array_of_group(array.name, name);
      if (array.name != name && !inside) continue;
      std::string group = array.name.substr(0, array.name.size() - name.size());
      if (!group.empty()) group.pop_back();
      if (!group.empty() && !group.starts_with('/')) group = "/" + group;
      const bool stacked = array.extents.size() == 5;
      for (std::int64_t i = 0; stacked && i < array.extents.front(); ++i) {
        groups.push_back(weights_layer(group, name, i));
      }
      if (!stacked) groups.push_back(group);
    }
    if (!groups.empty()) return by_parent(groups);
  }
  return {};
}

bool is_array_of_group(const std::string& array, const std::string& name) {
  return array.ends_with("/" + name) || array.ends_with("." + name);
}

std::vector<std::string> groups_of_archive(const std::vector<std::string>& arrays,
                                           const std::string& query) {
  std::vector<std::string> groups;
  for (const std::string& array : arrays) {
    if (array == query) return {""};
    if (!is_array_of_group(array, query)) continue;
    groups.push_back("/" + array.substr(0, array.size() - query.size() - 1));
  }
  return by_parent(groups);
}

std::vector<std::string> layers_beside(const std::vector<std::string>& groups,
                                       const std::string& group) {
  std::vector<std::string> layers;
  for (const std::string& each : groups) {
    if (stack_of(each) == stack_of(group)) layers.push_back(each);
  }
  std::ranges::stable_sort(layers, naturally_before);
  return layers;
}

std::vector<std::string> layers_up_to(std::vector<std::string> layers, const std::string& group) {
  const auto at = std::ranges::find(layers, group);
  if (at == layers.end()) return {group};
  layers.erase(at + 1, layers.end());
  return layers;
}

std::string layer_name(const std::string& group) {
  return group.empty() ? "trace" : group.substr(group.rfind('/') + 1);
}

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  if (names.size() < 2) return names;
  std::vector<std::vector<std::string>> all;
  for (const std::string& name : names) all.push_back(words_at(name, '.'));
  const auto in_common = [&](std::size_t at, bool from_end) {
    const auto word = [&](const auto& words) {
      return words[from_end ? words.size() - 1 - at : at];
    };
    return std::ranges::all_of(all, [&](const auto& words) {
      return at + 1 < words.size() && word(words) == word(all.front());
    });
  };
  std::size_t front = 0, back = 0;
  while (in_common(front, false)) ++front;
  while (in_common(back, true)) ++back;
  std::vector<std::string> out;
  for (const auto& words : all) {
    if (front + back >= words.size()) return names;  // No word would be left.
    std::string name;
    for (std::size_t w = front > 0 ? front - 1 : 0; w < words.size() - back; ++w) {
      name += (name.empty() ? "" : ".") + words[w];
    }
    out.push_back(name);
  }
  return out;
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

std::string made_head_text(std::int64_t heads) {
  return heads > 1 ? ", head 0 of " + std::to_string(heads) : "";
}

}  // namespace conelab
