#include "app/call_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "app/command_line.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

/// A number, a list of numbers, or the text itself.
Json parameter_to_json(const std::string& text) {
  Json list = Json::array();
  for (const std::string_view part : split_commas(unshielded(text))) {
    const std::optional<double> number = parse_number(part);
    if (!number) return text;
    list.push_back(*number);
  }
  return list.size() == 1 ? list.front() : list;
}

std::string parameter_from_json(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (!value.is_array() || value.empty()) {
    misuse("spec: parameter '{}' is neither a number, a list of numbers nor a word", key);
  }
  std::string text;
  for (const Json& entry : value) {
    if (!entry.is_number()) misuse("spec: parameter '{}' has an entry that is not a number", key);
    text += fmt::format("{}{}", text.empty() ? "" : ",", entry.get<double>());
  }
  return text;
}

std::string word(const std::string& member, const Json& value) {
  if (!value.is_string()) misuse("spec: '{}' is not a word", member);
  return value.get<std::string>();
}

std::vector<std::string> words(const std::string& member, const Json& value) {
  if (!value.is_array()) misuse("spec: '{}' is not a list", member);
  std::vector<std::string> list;
  for (const Json& entry : value) list.push_back(word(member, entry));
  return list;
}

std::string quoted(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

Json call_to_json(const Call& call) {
  Json json;
  json["similarity"] = call.similarity;
  if (!call.map.empty()) json["map"] = call.map;
  json["bias"] = call.bias;
  json["masks"] = call.masks;
  json["weights"] = call.weights;
  json["aggregate"] = call.aggregate;
  json["parameters"] = Json::object();
  for (const auto& [key, text] : call.parameters) json["parameters"][key] = parameter_to_json(text);
  return json;
}

Call call_from_json(const Json& json) {
  if (!json.is_object()) misuse("spec: a call is not an object");
  Call call;
  for (const auto& [member, value] : json.items()) {
    if (member == "similarity")
      call.similarity = word(member, value);
    else if (member == "map")
      call.map = word(member, value);
    else if (member == "bias")
      call.bias = word(member, value);
    else if (member == "masks")
      call.masks = words(member, value);
    else if (member == "weights")
      call.weights = word(member, value);
    else if (member == "aggregate")
      call.aggregate = word(member, value);
    else if (member == "parameters") {
      if (!value.is_object()) misuse("spec: 'parameters' is not an object");
      for (const auto& [key, number] : value.items()) {
        call.parameters[key] = parameter_from_json(key, number);
      }
    } else {
      unknown_name("member of a call", member,
                   {"similarity", "map", "bias", "masks", "weights", "aggregate", "parameters"});
    }
  }
  return call;
}

std::vector<std::string> call_arguments(const Call& call) {
  const Call defaults;
  std::vector<std::string> arguments = {"--similarity", call.similarity};
  const auto add = [&](const char* option, const std::string& value, const std::string& initial) {
    if (value != initial) arguments.insert(arguments.end(), {option, value});
  };
  add("--map", call.map, defaults.map);
  add("--bias", call.bias, defaults.bias);
  if (call.masks != defaults.masks) {
    std::string list;
    for (const std::string& mask : call.masks) list += (list.empty() ? "" : ",") + mask;
    arguments.insert(arguments.end(), {"--mask", list});
  }
  add("--weights", call.weights, defaults.weights);
  add("--aggregate", call.aggregate, defaults.aggregate);
  for (const auto& [key, value] : call.parameters) {
    arguments.insert(arguments.end(), {"-p", key + "=" + value});
  }
  return arguments;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& text : words) line += (line.empty() ? "" : " ") + quoted(text);
  return line;
}

std::map<std::string, std::string> parse_parameters(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> parameters;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size()) {
      misuse("-p {}: expected KEY=VALUE", argument);
    }
    const std::string key = argument.substr(0, equals);
    if (!parameters.emplace(key, argument.substr(equals + 1)).second) {
      misuse("-p {}: the key '{}' is given twice", argument, key);
    }
  }
  return parameters;
}

std::vector<std::string> split_list(const std::string& text, const std::string& what) {
  std::vector<std::string> parts;
  for (const std::string_view part : split_commas(unshielded(text))) {
    if (part.empty()) misuse("{}: an entry of '{}' is empty", what, text);
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace conelab
