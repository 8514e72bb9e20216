#include "core/study/figure_request.h"

#include <map>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/bench/parts.h"
#include "core/figure/style.h"
#include "core/files/read_tensors.h"
#include "core/study/attend_job.h"
#include "core/study/call_json.h"
#include "core/study/job_table.h"
#include "core/study/labelled_view.h"

namespace conelab {
namespace {

using figure::FigureSource;

void read_nothing(const FigureRequest& request, figure::FigureInput&) {
  if (!request.inputs.empty()) misuse("figure {} takes no --input", request.name);
}

/// A source of figures and what reads it.
struct SourceReader {
  FigureSource source;
  void (*read)(const FigureRequest& request, figure::FigureInput& input);
};
constexpr SourceReader readers[] = {{FigureSource::maps, read_maps},
                                    {FigureSource::heads, read_heads},
                                    {FigureSource::bench, read_bench},
                                    {FigureSource::tree, read_tree},
                                    {FigureSource::none, read_nothing}};

void read_source(FigureSource source, const FigureRequest& request, figure::FigureInput& input) {
  for (const SourceReader& reader : readers) {
    if (reader.source == source) reader.read(request, input);
  }
}

/// Returns the SHA-256 of each input file, in order and separated by blanks.
std::string digests_of(const FigureRequest& request) {
  std::string digests;
  std::map<std::string, std::string> by_path;  // Several inputs may be groups of one file.
  for (const std::string& input : request.inputs) {
    const auto [own, added] = by_path.try_emplace(parse_input_spec(input).path);
    if (added) own->second = sha256_of_file(own->first, request.context.cancelled);
    digests += (digests.empty() ? "" : " ") + own->second;
  }
  return digests;
}

}  // namespace

std::string FigureRequest::value(const std::string& key) const {
  return figure::value_of(figure::figure_named(name), parameters, key);
}

std::size_t FigureRequest::index(const std::string& key) const {
  return figure::whole_number(key, value(key));
}

const std::string& FigureRequest::single_input() const {
  if (inputs.size() != 1) {
    const figure::FigureInfo& info = figure::figure_named(name);
    misuse("figure {} takes {} --input: {} (found {})", name, info.several ? "at least one" : "one",
           info.input(), inputs.size());
  }
  return inputs.front();
}

void read_bench(const FigureRequest& request, figure::FigureInput& input) {
  if (!input.info->several || request.inputs.empty()) (void)request.single_input();
  for (const std::string& name : request.inputs) {
    Parts::check_finished(name);
    const LabelledFile file = read_result(name, request.context);
    const std::vector<MeasuredCase> cases = measured_cases(file, name);
    const std::vector<MeasuredExponent> exponents = measured_exponents(file, name);
    input.cases.insert(input.cases.end(), cases.begin(), cases.end());
    input.exponents.insert(input.exponents.end(), exponents.begin(), exponents.end());
  }
}

JobSpec figure_spec(const FigureRequest& request) {
  JobSpec spec{&job_named("figure"), {}};
  spec.values["kind"] = request.name;
  if (!request.inputs.empty()) spec.values["input"] = request.inputs;
  spec.values["parameters"] = request.parameters;
  if (!request.width.empty()) spec.values["width"] = request.width;
  add_reading(request.reading, spec);
  return spec;
}

figure::DisplayList draw_figure(const FigureRequest& request) {
  const figure::FigureInfo& info = figure::figure_named(request.name);
  figure::check_keys(info, request.parameters);
  figure::FigureInput input;
  input.info = &info;
  input.parameters = request.parameters;
  if (!request.width.empty()) input.width = figure::width_in_points(request.width);
  input.metadata.version = version();
  input.metadata.spec = shell_line(command_words(figure_spec(request)));
  read_source(info.source, request, input);
  input.metadata.data_hash = digests_of(request);
  return info.make(input);
}

}  // namespace conelab
