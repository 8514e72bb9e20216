// Tables of TOML as JSON, whose keys keep the order and the lines of the file.
#pragma once

#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace conelab {

struct TomlKey {
  std::string name;
  int line = 0;  ///< From 1.
  const toml::node* node = nullptr;
};

/// Returns the keys of a table in the order of the file. The table must outlive them.
[[nodiscard]] std::vector<TomlKey> keys_of(const toml::table& table);

/// Returns a value as JSON. Throws misuse for dates and times.
[[nodiscard]] nlohmann::ordered_json json_of(const toml::node& node);

}  // namespace conelab
