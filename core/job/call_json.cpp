#include "core/job/call_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call.h"
#include "core/operators/combines.h"

namespace conelab {
namespace {

Value parameter_from_json(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.get<double>();
  if (!value.is_array() || value.empty()) {
    misuse("spec: parameter '{}' is neither a number, a list of numbers nor a word", key);
  }
  std::vector<double> list;
  for (const Json& entry : value) {
    if (!entry.is_number()) misuse("spec: parameter '{}' has an entry that is not a number", key);
    list.push_back(entry.get<double>());
  }
  return list;
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

Json parameter_to_json(const Value& value) {
  if (value.lists().size() != 1) return value.text();
  const std::vector<double>& list = value.lists().front();
  return list.size() == 1 ? Json(list.front()) : Json(list);
}

Json call_to_json(const Call& call) {
  Json json;
  if (!is_attention(call)) json["operator"] = call.operation;
  for (const CallField& field : call_fields()) {
    // For a structured operator, and for a field that few calls use, only what is not the default
    // is written.
    const bool optional =
        !is_attention(call) || field.word == &Call::map || field.word == &Call::position;
    if (optional && is_default(field, call)) continue;
    if (field.word != nullptr) {
      json[field.name] = call.*field.word;
    } else {
      json[field.name] = call.*field.list;
    }
  }
  json["parameters"] = Json::object();
  for (const auto& [key, value] : call.parameters)
    json["parameters"][key] = parameter_to_json(value);
  return json;
}

Call call_from_json(const Json& json) {
  if (!json.is_object()) misuse("spec: a call is not an object");
  Call call;
  const std::string name = json.contains("operator") ? word("operator", json["operator"]) : "";
  if (!name.empty()) set_operator(call, name);
  for (const auto& [member, value] : json.items()) {
    const CallField* field = find_named(call_fields(), member);
    if (member == "operator") continue;
    if (member == "parameters") {
      if (!value.is_object()) misuse("spec: 'parameters' is not an object");
      for (const auto& [key, number] : value.items()) {
        call.parameters[key] = parameter_from_json(key, number);
      }
    } else if (field == nullptr) {
      std::vector<std::string> known = names_of(call_fields());
      known.insert(known.begin(), {"operator", "parameters"});
      unknown_name("member of a call", member, known);
    } else if (field->word != nullptr) {
      call.*field->word = word(member, value);
    } else {
      call.*field->list = words(member, value);
    }
  }
  check_named_operator(call, name);
  return call;
}

std::vector<std::string> call_arguments(const Call& call) {
  std::vector<std::string> arguments = {is_attention(call) ? "--similarity" : "--operator",
                                        operator_name(call)};
  for (const CallField& field : call_fields()) {
    if (is_default(field, call) || (is_attention(call) && field.word == &Call::similarity))
      continue;
    arguments.insert(arguments.end(), {field.option, field_text(field, call, ',')});
  }
  for (const auto& [key, value] : call.parameters) {
    arguments.insert(arguments.end(), {"-p", key + "=" + value.text()});
  }
  return arguments;
}

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  return parse_names(what, text.substr(text.starts_with(' ') ? 1 : 0));
}

namespace {

/// Throws misuse for what is typed both as an option and in the text of --operator, differently.
[[noreturn]] void contradicts(const std::string& typed, const std::string& operation,
                              const std::string& said) {
  misuse("{} contradicts --operator {}, which means {} (give only one of them)", typed, operation,
         said);
}

/// Returns the words of a list in which "causal+padding" is two entries.
std::string list_text(const CallField& field, const std::vector<std::string>& entries) {
  std::string text = join(entries, ",");
  std::ranges::replace(text, '+', ',');
  return join(split_list(text, field.option), ",");
}

std::string help_of(const CallField& field) {
  std::string names;
  for (const PartInfo& part : field.parts()) {
    const bool known = (", " + names + ",").find(", " + part.name + ",") != std::string::npos;
    if (!known) names += (names.empty() ? "" : ", ") + part.name;
  }
  return fmt::format("{}: {}", field.about, names);
}

/// Throws misuse if an operator other than attention does not take the similarity.
void check_similarity(const Call& call, const std::string& name) {
  const std::vector<PartInfo> known = list_similarities();
  (void)row_named("similarity", known, name);
  if (!combines(call.operation, "similarity", name)) {
    misuse("{} does not combine with similarity {}", call.operation, name);
  }
}

std::string typed_name(const CallField& field) {
  std::string name = field.option + 2;
  std::ranges::replace(name, '-', '_');
  return name;
}

JobField typed_field(const CallField& field) {
  const bool first = field.word == &Call::similarity;
  return {.name = typed_name(field),
          .option = std::string(field.option) + (first ? ",-s" : ""),
          .about = help_of(field),
          .kind = field.list == nullptr ? FieldKind::text : FieldKind::list,
          .initial = first ? "" : field_text(field, Call{}, ',')};
}

template <class T>
T take(FieldValues& typed, const std::string& name) {
  const auto node = typed.extract(name);
  return node.empty() ? T() : std::get<T>(node.mapped());
}

}  // namespace

std::vector<JobField> call_word_fields() {
  std::vector<JobField> fields = {
      {"operator", "--operator",
       "a whole operator by name (`conelab list operators`), or a call as "
       "penumbral:gamma=2:masks=causal+padding"},
      {"parameters", "-p,--parameter",
       "a parameter, -p again for the next; a list gives one value per head: "
       "gamma=1,2,4,8",
       FieldKind::parameters}};
  for (const CallField& field : call_fields()) fields.push_back(typed_field(field));
  return fields;
}

Call take_call(FieldValues& typed) {
  const auto operation = take<std::string>(typed, "operator");
  if (operation.empty() && !typed.contains("similarity")) {
    misuse("give --similarity or --operator (see `conelab list operators`)");
  }
  Call call = operation.empty() ? Call{} : call_from_text(operation);
  for (const CallField& field : call_fields()) {
    if (!typed.contains(typed_name(field))) continue;
    const bool first = field.word == &Call::similarity;
    const std::string text =
        field.list == nullptr
            ? take<std::string>(typed, typed_name(field))
            : list_text(field, take<std::vector<std::string>>(typed, typed_name(field)));
    if (first && text.find(':') != std::string::npos) {
      misuse("--similarity {}: its parameters are given by -p, or all by --operator {}", text,
             text);
    }
    if (first && !is_attention(call)) check_similarity(call, text);
    const bool chosen = !operation.empty() && is_attention(call) && first;
    if ((chosen || !is_default(field, call)) && field_text(field, call, ',') != text) {
      contradicts(fmt::format("{} {}", field.option, text), operation,
                  fmt::format("{} {}", field.option, field_text(field, call, ',')));
    }
    set_field(field, call, text, ',');
  }
  for (const auto& [key, value] : take<std::map<std::string, std::string>>(typed, "parameters")) {
    const auto [at, is_new] = call.parameters.emplace(key, value);
    if (!is_new && at->second.text() != value) {
      contradicts(fmt::format("-p {}={}", key, value), operation, key + "=" + at->second.text());
    }
  }
  return call;
}

}  // namespace conelab
