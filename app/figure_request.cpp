#include "app/figure_request.h"

#include "app/labelled_view.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/bench/parts.h"
#include "core/files/read_tensors.h"

namespace conelab {
namespace {

using figure::FigureSource;

void read_source(FigureSource source, const FigureRequest& request, figure::FigureInput& input) {
  switch (source) {
    case FigureSource::maps:
      return read_maps(request, input);
    case FigureSource::heads:
      return read_heads(request, input);
    case FigureSource::bench:
      return read_bench(request, input);
    case FigureSource::tree:
      return read_tree(request, input);
    case FigureSource::none:
      if (!request.inputs.empty()) misuse("figure {} takes no --input", request.name);
  }
}

/// Returns the SHA-256 of each input file, in order and separated by blanks.
std::string digests_of(const FigureRequest& request) {
  std::string digests;
  for (const std::string& input : request.inputs) {
    digests += (digests.empty() ? "" : " ") +
               sha256_of_file(parse_input_spec(input).path, request.cancelled);
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
    misuse("figure {} takes one --input: {} (found {})", name, figure::figure_named(name).input(),
           inputs.size());
  }
  return inputs.front();
}

void read_bench(const FigureRequest& request, figure::FigureInput& input) {
  if (!input.info->several || request.inputs.empty()) (void)request.single_input();
  for (const std::string& name : request.inputs) {
    Parts::check_finished(name);
    const LabelledFile file = read_result(name, request.cancelled);
    const std::vector<MeasuredCase> cases = measured_cases(file, name);
    const std::vector<MeasuredExponent> exponents = measured_exponents(file, name);
    input.cases.insert(input.cases.end(), cases.begin(), cases.end());
    input.exponents.insert(input.exponents.end(), exponents.begin(), exponents.end());
  }
}

figure::DisplayList draw_figure(const FigureRequest& request) {
  const figure::FigureInfo& info = figure::figure_named(request.name);
  figure::check_keys(info, request.parameters);
  figure::FigureInput input;
  input.info = &info;
  input.parameters = request.parameters;
  input.width = request.width;
  input.metadata.version = version();
  input.metadata.spec = request.spec;
  read_source(info.source, request, input);
  input.metadata.data_hash = digests_of(request);
  return info.make(input);
}

}  // namespace conelab
