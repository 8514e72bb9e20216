#include "app/bench_results.h"

#include "core/base/error.h"
#include "core/files/sandbox.h"

namespace conelab {

BenchResults::BenchResults(const std::string& path)
    : file(path), content(read_labelled_file_sandboxed(path)) {
  runtime = content.group("bench/runtime");
  if (!runtime) fail("{}: there is no group /bench/runtime (expected a result of `bench`)", path);
}

std::vector<std::string> BenchResults::labels(const std::string& axis) const {
  return axis_labels(axis_of(*runtime, axis, file));
}

std::size_t BenchResults::position(const std::string& axis, const std::string& label) const {
  return label_index(axis_of(*runtime, axis, file), label);
}

double BenchResults::number(const std::string& variable, const Place& place) const {
  return number_at(*runtime, variable, place, file);
}

std::vector<double> BenchResults::rounds(const std::string& variable, Place place) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < axis_of(*runtime, "round", file).size(); ++i) {
    place["round"] = i;
    values.push_back(number(variable, place));
  }
  return values;
}

const std::vector<std::string>& case_axes() {
  static const std::vector<std::string> axes = {"operator", "pass", "device", "dtype",
                                                "threads",  "dim",  "head",   "seq_len"};
  return axes;
}

}  // namespace conelab
