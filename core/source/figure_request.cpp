#include "core/source/figure_request.h"

#include "core/base/error.h"
#include "core/bench/parts.h"
#include "core/job/read_result.h"

namespace conelab {
namespace {

[[noreturn]] void refuse_inputs(const figure::FigureInfo& info, std::size_t found) {
  misuse("figure {} takes {} --input: {} (found {})", info.name,
         info.several ? "at least one" : "one", info.source.text, found);
}

}  // namespace

void check_inputs(const figure::FigureInfo& info, const std::vector<std::string>& inputs) {
  const bool reads = info.source.read != nullptr;
  if (!reads && !inputs.empty()) misuse("figure {} takes no --input", info.name);
  if (reads && inputs.empty()) refuse_inputs(info, 0);
}

std::string FigureRequest::value(const std::string& key) const {
  return figure::value_of(figure::figure_named(name), parameters, key);
}

std::size_t FigureRequest::index(const std::string& key) const {
  return figure::whole_number(key, value(key));
}

const std::string& FigureRequest::single_input() const {
  if (inputs.size() != 1) refuse_inputs(figure::figure_named(name), inputs.size());
  return inputs.front();
}

void read_bench(const FigureRequest& request, figure::FigureInput& input) {
  if (!input.info->several) (void)request.single_input();
  for (const std::string& name : request.inputs) {
    Parts::check_finished(name);
    const LabelledFile file = read_result(name, request.context);
    const std::vector<MeasuredCase> cases = measured_cases(file, name);
    const std::vector<MeasuredExponent> exponents = measured_exponents(file, name);
    input.bench_files.emplace_back(name, cases.size());
    input.cases.insert(input.cases.end(), cases.begin(), cases.end());
    input.exponents.insert(input.exponents.end(), exponents.begin(), exponents.end());
  }
}

}  // namespace conelab
