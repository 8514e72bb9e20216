#include "core/call/call_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/call/plan.h"

namespace conelab {
namespace {

/// "a:b:c" -> a, b, c
std::vector<std::string> pieces(const std::string& text, char between) {
  std::vector<std::string> list(1);
  for (const char c : text) {
    if (c == between) {
      list.emplace_back();
    } else {
      list.back() += c;
    }
  }
  return list;
}

void set(Call& call, const std::string& key, const std::string& value) {
  if (key == "map") {
    call.map = value;
  } else if (key == "bias") {
    call.bias = value;
  } else if (key == "masks") {
    call.masks = pieces(value, '+');
  } else if (key == "weights") {
    call.weights = value;
  } else if (key == "aggregate") {
    call.aggregate = value;
  } else {
    call.parameters[key] = value;
  }
}

}  // namespace

Call call_from_text(const std::string& text) {
  const std::vector<std::string> list = pieces(text, ':');
  Call call;
  call.similarity = list.front();
  std::set<std::string> keys;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::size_t equals = list[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      misuse("{}: '{}' is no KEY=VALUE (expected as penumbral:gamma=2)", text, list[i]);
    }
    std::string key = list[i].substr(0, equals);
    if (key == "mask") key = "masks";
    if (!keys.insert(key).second) misuse("{}: the key '{}' is given twice", text, key);
    set(call, key, list[i].substr(equals + 1));
  }
  return call;
}

std::string call_text(const Call& call) {
  const Call plain;
  std::string text = call.similarity;
  const auto add = [&](const char* key, const std::string& value, const std::string& usual) {
    if (value != usual) text += fmt::format(":{}={}", key, value);
  };
  add("map", call.map, plain.map);
  add("bias", call.bias, plain.bias);
  add("masks", fmt::format("{}", fmt::join(call.masks, "+")), plain.masks.front());
  add("weights", call.weights, plain.weights);
  add("aggregate", call.aggregate, plain.aggregate);
  for (const auto& [key, value] : call.parameters) text += fmt::format(":{}={}", key, value);
  return text;
}

std::string call_title(const Call& call) {
  std::string title = call.similarity;
  if (!call.map.empty()) title += ", " + call.map;
  for (const auto& [key, value] : call.parameters) title += ", " + key + " = " + value;
  if (call.bias != "none") title += ", " + call.bias;
  for (const std::string& mask : call.masks) title += mask == "full" ? "" : ", " + mask;
  if (call.weights != "softmax") title += ", " + call.weights;
  return call.aggregate == "mean" ? title : title + ", " + call.aggregate;
}

Call call_of_head(const Call& call, const Extents& extents, std::int64_t head) {
  const auto plan = resolve(call, extents);
  Call one = resolved_call(*plan);
  one.parameters.clear();
  for (const Parameter& p : parameters(*plan)) {
    one.parameters[p.info.key] = fmt::format("{:.17g}", p.at(head));
  }
  for (const auto& [key, word] : choices(*plan)) one.parameters[key] = word;
  return one;
}

Call call_with_own_mask(Call call) {
  if (std::find(call.masks.begin(), call.masks.end(), "explicit") == call.masks.end()) {
    std::erase(call.masks, "full");
    call.masks.emplace_back("explicit");
  }
  return call;
}

}  // namespace conelab
