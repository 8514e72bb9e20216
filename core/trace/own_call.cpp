#include "core/trace/own_call.h"

#include <fmt/format.h>

#include <set>

#include "core/similarity/table.h"

namespace conelab {

std::vector<std::string> own_call_attributes() {
  std::set<std::string> names = {"similarity"};
  for (const SimilarityRow& row : similarity_table()) {
    for (const ParameterInfo& info : row.parameters) names.insert(info.key);
  }
  return {names.begin(), names.end()};
}

std::optional<Call> own_call(const std::map<std::string, AttributeValue>& attributes) {
  const auto found = attributes.find("similarity");
  const auto* name = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  const SimilarityRow* row = name == nullptr ? nullptr : find_similarity(*name);
  if (row == nullptr) return std::nullopt;
  Call call;
  call.similarity = *name;
  for (const ParameterInfo& info : row->parameters) {
    const auto given = attributes.find(info.key);
    if (given == attributes.end()) continue;
    const auto* real = std::get_if<double>(&given->second);
    const auto* whole = std::get_if<std::int64_t>(&given->second);
    if (real == nullptr && whole == nullptr) continue;
    const double value = real != nullptr ? *real : static_cast<double>(*whole);
    if (value != info.initial) call.parameters[info.key] = value;
  }
  return call;
}

std::string defaults_remark(const std::optional<Call>& own, const Call& call) {
  if (!own || !is_attention(call) || own->similarity != call.similarity) return "";
  std::string missing;
  for (const auto& [key, value] : own->parameters) {
    if (!call.parameters.contains(key)) missing += (missing.empty() ? "" : ", ") + key;
  }
  if (missing.empty()) return "";
  return fmt::format("the input was made for {}, but its own value is not given for: {}",
                     call_title(*own), missing);
}

}  // namespace conelab
