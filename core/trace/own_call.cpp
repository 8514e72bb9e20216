#include "core/trace/own_call.h"

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
    if (const auto* real = std::get_if<double>(&given->second)) call.parameters[info.key] = *real;
    if (const auto* whole = std::get_if<std::int64_t>(&given->second)) {
      call.parameters[info.key] = static_cast<double>(*whole);
    }
  }
  return call;
}

}  // namespace conelab
