#include "core/call/call_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/call/composed.h"
#include "core/pair/mask.h"

namespace conelab {
namespace {

/// Splits "a:b:c" into a, b, c.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> list(1);
  for (const char c : text) c == ':' ? list.emplace_back() : list.back() += c;
  return list;
}

/// Returns the field with this name in JSON or on the command line, or null for a parameter's key.
const CallField* field_named(const std::string& key) {
  const auto found = std::find_if(
      call_fields().begin(), call_fields().end(),
      [&](const CallField& field) { return key == field.name || "--" + key == field.option; });
  return found == call_fields().end() ? nullptr : &*found;
}

bool is_similarity(const std::string& name) {
  const std::vector<PartInfo> all = list_similarities();
  return std::any_of(all.begin(), all.end(), [&](const PartInfo& p) { return p.name == name; });
}

}  // namespace

void set_operator(Call& call, const std::string& name) {
  if (const NamedOperator* named = find_named_operator(name)) {
    call.similarity = named->similarity;
    call.masks = {named->mask};
  } else if (is_similarity(name)) {
    call.similarity = name;
  } else {
    call.operation = name;
    call.similarity = operator_similarity;
  }
}

void check_named_operator(const Call& call, const std::string& name) {
  const NamedOperator* named = find_named_operator(name);
  if (named == nullptr) return;
  Call own = call;
  set_operator(own, name);
  if (own == call) return;
  misuse("{} is {} with the mask {} and takes no other similarity or mask", name, named->similarity,
         named->mask);
}

Call call_from_text(const std::string& text) {
  const std::vector<std::string> list = pieces(text);
  Call call;
  set_operator(call, list.front());
  std::set<std::string> keys;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::size_t equals = list[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      misuse("{}: '{}' is no KEY=VALUE (expected as penumbral:gamma=2)", text, list[i]);
    }
    const std::string key = list[i].substr(0, equals), value = list[i].substr(equals + 1);
    const CallField* field = field_named(key);
    if (!keys.insert(field == nullptr ? key : field->name).second) {
      misuse("{}: the key '{}' is given twice", text, key);
    }
    if (field == nullptr) {
      call.parameters[key] = value;
    } else {
      set_field(*field, call, value, '+');
    }
  }
  check_named_operator(call, list.front());
  return call;
}

std::string call_text(const Call& call) {
  std::string text = operator_name(call);
  for (const CallField& field : call_fields()) {
    if (is_default(field, call) || (is_attention(call) && field.word == &Call::similarity))
      continue;
    text += fmt::format(":{}={}", field.name, field_text(field, call, '+'));
  }
  for (const auto& [key, value] : call.parameters) text += fmt::format(":{}={}", key, value.text());
  return text;
}

std::string call_title(const Call& call) {
  std::string title = operator_name(call);
  const bool of_heads = !is_attention(call) && call.similarity != operator_similarity;
  if (of_heads) title += ", " + call.similarity;
  if (!call.map.empty()) title += ", " + call.map;
  for (const auto& [key, value] : call.parameters) title += ", " + key + " = " + value.text();
  for (const CallField& field : call_fields()) {
    const bool named = field.word == &Call::similarity || field.word == &Call::map;
    if (named || is_default(field, call)) continue;
    std::string words = field_text(field, call, ',');
    for (std::size_t at = 0; (at = words.find(',', at)) != std::string::npos; at += 2) {
      words.insert(at + 1, " ");
    }
    title += ", " + words;
  }
  return title;
}

Call call_with_own_mask(Call call) {
  if (!read_by_any(call.masks, MaskOperand::allowed)) {
    std::erase(call.masks, "full");
    call.masks.emplace_back(mask_reading(MaskOperand::allowed).name);
  }
  return call;
}

}  // namespace conelab
