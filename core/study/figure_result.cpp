#include "core/study/figure_result.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/call/call_text.h"
#include "core/files/read_tensors.h"
#include "core/operators/operator.h"
#include "core/study/call_json.h"
#include "core/study/figure_trace.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the attribute `spec`, or null if there is none.
Json spec_of(const Attributes& attributes) {
  const Json spec = Json::parse(text_attribute(attributes, "spec"), nullptr, false);
  return spec.is_object() ? spec : Json();
}

/// Returns the call that the attributes describe, or nothing if they cannot be read: a file may
/// contain any text.
std::optional<Call> call_of(const Attributes& attributes) {
  try {
    const std::string typed = text_attribute(attributes, "call");
    if (!typed.empty()) return call_from_text(typed);
    const Json spec = spec_of(attributes);
    if (!spec.contains("call")) return std::nullopt;
    Call call = call_from_json(spec.at("call"));
    call.parameters.clear();
    call.map.clear();
    return call;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string text_attribute(const Attributes& attributes, const std::string& wanted) {
  for (const auto& [name, value] : attributes) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == wanted && text != nullptr) return *text;
  }
  return "";
}

std::string result_title(const Attributes& attributes, std::size_t head) {
  const std::optional<Call> call = call_of(attributes);
  return call ? call_title(with_numbers_of_head(*call, static_cast<std::int64_t>(head))) : "";
}

std::string result_similarity(const Attributes& attributes) {
  const std::optional<Call> call = call_of(attributes);
  return call ? operator_name(*call) : "";
}

std::string result_source(const Attributes& attributes, const std::string& model) {
  const Json spec = spec_of(attributes);
  const bool named = spec.contains("input") && spec.at("input").is_string();
  const std::string input = named ? spec.at("input").get<std::string>() : "";
  return source_caption(model, input.empty() ? "" : parse_input_spec(input).group);
}

void refuse_trace_keys(const FigureRequest& request, const std::string& path,
                       const std::string& holds, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto given = request.parameters.find(key);
    if (given == request.parameters.end()) continue;
    misuse("-p {}={}: has no effect: {} holds {}, computed already (expected a trace with q, k, v)",
           key, given->second, path, holds);
  }
}

}  // namespace conelab
