#include "core/job/job_field.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/job/call_json.h"

namespace conelab {
namespace {

using Texts = std::vector<std::string>;
using Parameters = std::map<std::string, std::string>;

[[noreturn]] void refuse(const JobField& field, const std::string& found) {
  std::string expected = field.kind == FieldKind::integer      ? "a whole number"
                         : field.kind == FieldKind::number     ? "a number"
                         : field.kind == FieldKind::flag       ? "true or false"
                         : field.kind == FieldKind::parameters ? "a table of keys and values"
                         : field.is_list()                     ? "a list"
                                                               : "a text";
  constexpr std::int64_t unlimited = std::numeric_limits<int>::max();
  if (field.kind == FieldKind::integer && field.least > -unlimited) {
    expected += fmt::format(" from {}", field.least);
    if (field.most < unlimited) expected += fmt::format(" to {}", field.most);
  }
  misuse("expected {}, found '{}'", expected, found);
}

FieldValue checked(const JobField& field, FieldValue value) {
  const auto check = [&](const std::string& word) {
    const Texts& known = field.choices;
    if (known.empty() || contains(known, word)) return;
    unknown_name(field.name, word, known);
  };
  if (const auto* word = std::get_if<std::string>(&value)) check(*word);
  if (const auto* words = std::get_if<Texts>(&value)) {
    std::ranges::for_each(*words, check);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (*whole < field.least || *whole > field.most) refuse(field, std::to_string(*whole));
  }
  return value;
}

std::string typed_text(const JobField& field, const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return json.dump();
  if (json.is_number()) return Value(json.get<double>()).text();
  refuse(field, json_line(json));
}

Texts typed_texts(const JobField& field, const Json& json) {
  Texts list;
  for (const Json& entry : json) list.push_back(typed_text(field, entry));
  return list;
}

/// Returns the value of a parameter: a number, a word, or a list with one number for each head.
std::string parameter_text(const JobField& field, const Json& json) {
  if (!json.is_array() && !json.is_string() && !json.is_number()) {
    misuse("expected a number, a word or a list of numbers, found '{}'", json_line(json));
  }
  if (!json.is_array()) return typed_text(field, json);
  return join(typed_texts(field, json), ",");
}

}  // namespace

std::string JobField::printed_option() const {
  return option.starts_with('-') ? option.substr(0, option.find(',')) : "";
}

bool JobField::is_list() const {
  return kind == FieldKind::list || kind == FieldKind::texts || kind == FieldKind::inputs;
}

FieldValue value_of_text(const JobField& field, const std::string& text) {
  switch (field.kind) {
    case FieldKind::number:
      if (const auto number = parse_number(text)) return *number;
      refuse(field, text);
    case FieldKind::integer:
      if (const auto whole = parse_integer(text)) return checked(field, *whole);
      refuse(field, text);
    case FieldKind::flag:
      if (text != "true" && text != "false" && !text.empty()) refuse(field, text);
      return text == "true";
    case FieldKind::list:
      return checked(field, parse_names(field.printed_option(), text));
    case FieldKind::texts:
    case FieldKind::inputs:
      return Texts{text};
    case FieldKind::parameters:
      return parse_parameters({text});
    case FieldKind::call:
      return Call();
    default:
      return checked(field, text);
  }
}

FieldValue value_of_json(const JobField& field, const Json& json) {
  if (field.kind == FieldKind::call) return call_from_json(json);
  if (field.kind == FieldKind::parameters) {
    if (!json.is_object()) refuse(field, json_line(json));
    Parameters parameters;
    for (const auto& [key, value] : json.items()) parameters[key] = parameter_text(field, value);
    return parameters;
  }
  if (field.is_list() && json.is_array()) return checked(field, typed_texts(field, json));
  if (field.kind == FieldKind::flag && json.is_boolean()) return json.get<bool>();
  const bool is_number = field.kind == FieldKind::integer || field.kind == FieldKind::number;
  if (is_number && !json.is_number()) refuse(field, json_line(json));
  return value_of_text(field, typed_text(field, json));
}

Json value_to_json(const FieldValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Call>) {
          return call_to_json(v);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Parameters>) {
          Json json = Json::object();
          for (const auto& [key, text] : v) json[key] = parameter_to_json(text);
          return json;
        } else {
          return v;
        }
      },
      value);
}

Texts words_of_value(const JobField& field, const FieldValue& value) {
  const std::string option = field.printed_option();
  Texts words;
  const auto add = [&](const std::string& text) {
    if (!option.empty()) words.push_back(option);
    words.push_back(text);
  };
  if (const auto* call = std::get_if<Call>(&value)) return call_arguments(*call);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? Texts{option} : Texts();
  if (const auto* number = std::get_if<double>(&value)) add(Value(*number).text());
  if (const auto* whole = std::get_if<std::int64_t>(&value)) add(std::to_string(*whole));
  if (const auto* text = std::get_if<std::string>(&value)) add(*text);
  if (const auto* keys = std::get_if<Parameters>(&value)) {
    for (const auto& [key, text] : *keys) add(key + "=" + text);
  }
  if (const auto* list = std::get_if<Texts>(&value)) {
    const bool joined = field.kind == FieldKind::list;
    if (joined && !list->empty()) add(join(*list, ","));
    if (!joined) std::ranges::for_each(*list, add);
  }
  if (field.kind == FieldKind::optional_text && words.back().empty()) words.pop_back();
  return words;
}

}  // namespace conelab
