#include "core/study/toml_json.h"

#include <algorithm>

#include "core/base/error.h"

namespace conelab {

std::vector<TomlKey> keys_of(const toml::table& table) {
  std::vector<TomlKey> keys;
  for (const auto& [key, node] : table) {
    keys.push_back({std::string(key.str()), static_cast<int>(key.source().begin.line), &node});
  }
  const auto place = [&](const TomlKey& key) {
    const auto at = table.find(key.name)->first.source().begin;
    return std::pair(at.line, at.column);
  };
  std::ranges::sort(keys, [&](const TomlKey& a, const TomlKey& b) { return place(a) < place(b); });
  return keys;
}

Json json_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* array = node.as_array()) {
    Json json = Json::array();
    for (const toml::node& entry : *array) json.push_back(json_of(entry));
    return json;
  }
  const auto* table = node.as_table();
  if (table == nullptr) misuse("expected a text, a number, true, false or a list (found a date)");
  Json json = Json::object();
  for (const TomlKey& key : keys_of(*table)) json[key.name] = json_of(*key.node);
  return json;
}

}  // namespace conelab
