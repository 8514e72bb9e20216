#include "core/files/result_kind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/byte_file.h"
#include "core/files/hdf5_read.h"
#include "core/files/json_reader.h"

namespace conelab {

std::string result_kind(const Attributes& root) {
  const auto is_format = [](const auto& attribute) { return attribute.first == "conelab_format"; };
  if (std::ranges::none_of(root, is_format)) return "";
  std::string kind = attribute_or_empty(root, "result");
  if (kind.empty()) kind = attribute_or_empty(root, "default");
  return kind == "attention" ? "attend" : kind;
}

std::string hdf5::result_kind(const File& file, const std::string& path) {
  const Where where{path, "/"};
  const Object root = open_object(file, where);
  Attributes attributes;
  for (const char* name : {"conelab_format", "result", "default"}) {
    if (auto value = read_attribute(root.id(), name, where)) {
      attributes.emplace_back(name, std::move(*value));
    }
  }
  return conelab::result_kind(attributes);
}

std::string result_kind(const std::string& path, const SandboxLimits& limits) {
  // Results of this program begin without a user block.
  if (ByteFile(path).peek(0, 8) != hdf5_signature) return "";
  return read_sandboxed<std::string>(path, limits, [&] {
    const hdf5::Lock lock;
    return hdf5::result_kind(hdf5::open_file(path), path);
  });
}

std::string input_of_spec(const std::string& spec) {
  try {
    const nlohmann::json json = parse_json(spec.empty() ? "{}" : spec, "spec");
    const auto input = json.find("input");
    return input != json.end() && input->is_string() ? input->get<std::string>() : "";
  } catch (const Error&) {
    return "";  // The attribute may contain any text.
  }
}

}  // namespace conelab
