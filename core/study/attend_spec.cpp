// Writes an attend job as JSON and as a command line.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/study/attend_job.h"
#include "core/study/call_json.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

template <class Entry>
std::string joined(const std::vector<Entry>& list) {
  return fmt::format("{}", fmt::join(list, ","));
}

}  // namespace

std::vector<std::string> reading_words(const Reading& reading) {
  std::vector<std::string> words;
  if (reading.allow_external) words.emplace_back("--allow-external");
  for (const std::string& name : reading.bf16) words.insert(words.end(), {"--bf16", name});
  if (!reading.axes.empty()) words.insert(words.end(), {"--axes", reading.axes});
  return words;
}

bool AttendJob::keeps(const std::string& what) const {
  return std::find(keep.begin(), keep.end(), what) != keep.end();
}

const std::vector<std::string>& attend_parts() {
  static const std::vector<std::string> parts = {"output", "lse",       "weights",
                                                 "logits", "gradients", "determinant"};
  return parts;
}

Json attend_to_json(const AttendJob& job) {
  Json json{{"command", "attend"}, {"input", job.input}};
  if (!job.query.empty()) json["query"] = job.query;
  if (!job.key.empty()) json["key"] = job.key;
  if (!job.value.empty()) json["value"] = job.value;
  if (job.head) json["head"] = *job.head;
  json["call"] = call_to_json(job.call);
  if (!job.key_lengths.empty()) json["key_lengths"] = job.key_lengths;
  if (job.dtype) json["dtype"] = dtype_name(*job.dtype);
  json["device"] = job.device;
  json["keep"] = job.keep;
  if (job.allow_external) json["allow_external"] = true;
  if (!job.bf16.empty()) json["bf16"] = job.bf16;
  if (!job.axes.empty()) json["axes"] = job.axes;
  return json;
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
  if (job.head) add("--head", fmt::format("{}", *job.head));
  add("-o", job.output);
  for (const std::string& word : call_arguments(job.call)) words.push_back(word);
  add("--lengths", joined(job.key_lengths));
  if (job.dtype) add("--dtype", dtype_name(*job.dtype));
  if (job.device != AttendJob().device) add("--device", job.device);
  if (job.threads > 0) add("--threads", fmt::format("{}", job.threads));
  if (job.keep != AttendJob().keep) add("--keep", joined(job.keep));
  const std::vector<std::string> reading = reading_words(job);
  words.insert(words.end(), reading.begin(), reading.end());
  return words;
}

}  // namespace conelab
