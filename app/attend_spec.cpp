// An attend job as JSON, and as a command line.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/attend_job.h"
#include "app/call_json.h"
#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

/// `json.at(member)` as T, or misuse naming the member.
template <class T>
T typed(const Json& json, const char* member) {
  try {
    return json.at(member).get<T>();
  } catch (const Json::exception&) {
    misuse("spec: '{}' has a value of the wrong type", member);
  }
}

template <class T>
void read(const Json& json, const char* member, T& value) {
  if (json.contains(member)) value = typed<T>(json, member);
}

void check_members(const Json& json) {
  const std::vector<std::string> known = {"command", "input", "query",       "key",
                                          "value",   "call",  "key_lengths", "dtype",
                                          "device",  "keep",  "threads",     "allow_external"};
  for (const auto& [member, value] : json.items()) {
    if (std::find(known.begin(), known.end(), member) == known.end()) {
      unknown_name("member of an attend spec", member, known);
    }
  }
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& entry : list) text += (text.empty() ? "" : ",") + entry;
  return text;
}

std::string joined(const std::vector<std::int64_t>& list) {
  std::string text;
  for (const std::int64_t entry : list) text += fmt::format("{}{}", text.empty() ? "" : ",", entry);
  return text;
}

}  // namespace

bool AttendJob::keeps(const std::string& what) const {
  return std::find(keep.begin(), keep.end(), what) != keep.end();
}

const std::vector<std::string>& attend_parts() {
  static const std::vector<std::string> parts = {"output", "lse", "weights", "logits", "gradients"};
  return parts;
}

Json attend_to_json(const AttendJob& job) {
  Json json{{"command", "attend"}, {"input", job.input}};
  if (!job.query.empty()) json["query"] = job.query;
  if (!job.key.empty()) json["key"] = job.key;
  if (!job.value.empty()) json["value"] = job.value;
  json["call"] = call_to_json(job.call);
  if (!job.key_lengths.empty()) json["key_lengths"] = job.key_lengths;
  if (job.dtype) json["dtype"] = dtype_name(*job.dtype);
  json["device"] = job.device;
  json["keep"] = job.keep;
  if (job.allow_external) json["allow_external"] = true;
  return json;
}

AttendJob attend_from_json(const Json& json) {
  if (!json.is_object()) misuse("spec: not an object");
  check_members(json);
  AttendJob job;
  read(json, "input", job.input);
  read(json, "query", job.query);
  read(json, "key", job.key);
  read(json, "value", job.value);
  if (json.contains("call")) job.call = call_from_json(json["call"]);
  read(json, "key_lengths", job.key_lengths);
  if (json.contains("dtype")) job.dtype = dtype_from_name(typed<std::string>(json, "dtype"));
  read(json, "device", job.device);
  read(json, "keep", job.keep);
  read(json, "threads", job.threads);
  read(json, "allow_external", job.allow_external);
  return job;
}

std::vector<std::string> attend_command(const AttendJob& job) {
  std::vector<std::string> words = {"conelab", "attend"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  if (!job.input.empty()) words.push_back(job.input);
  add("--q", job.query);
  add("--k", job.key);
  add("--v", job.value);
  add("-o", job.output);
  for (const std::string& word : call_arguments(job.call)) words.push_back(word);
  add("--lengths", joined(job.key_lengths));
  if (job.dtype) add("--dtype", dtype_name(*job.dtype));
  if (job.device != AttendJob().device) add("--device", job.device);
  if (job.threads > 0) add("--threads", fmt::format("{}", job.threads));
  if (job.keep != AttendJob().keep) add("--keep", joined(job.keep));
  if (job.allow_external) words.emplace_back("--allow-external");
  return words;
}

}  // namespace conelab
