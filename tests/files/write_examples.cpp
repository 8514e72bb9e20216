// Writes one example of each kind of result file, for the readers' contract test.
#include <cmath>
#include <cstdio>
#include <string>

#include "core/files/bench_file.h"

namespace conelab {
namespace {

LabelledFile bench_example() {
  LabelledArray runtime;
  runtime.axes = {{"operator", std::vector<std::string>{"penumbral", "dot"}, ""},
                  {"pass", std::vector<std::string>{"forward", "backward"}, ""},
                  {"device", std::vector<std::string>{"cpu"}, ""},
                  {"dtype", std::vector<std::string>{"f32"}, ""},
                  {"threads", std::vector<std::int64_t>{1}, ""},
                  {"dim", std::vector<std::int64_t>{64}, ""},
                  {"head", std::vector<std::int64_t>{8}, ""},
                  {"seq_len", std::vector<std::int64_t>{256, 512, 1024}, "tokens"}};
  std::vector<std::string> axes;
  for (const LabelledAxis& axis : runtime.axes) axes.push_back(axis.name);
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8, NAN, NAN, 11, 12};
  for (const char* name : {"time", "time_low", "time_high", "peak_bytes", "device_bytes", "flops",
                           "bytes", "error", "a", "b", "c"}) {
    runtime.variables.push_back({name, axes, numbers, "s", {{"long_name", std::string(name)}}});
  }
  runtime.variables.push_back({"status", axes, std::vector<std::int64_t>(12, 0), "", {}});
  runtime.variables.push_back({"status_reason", axes, std::vector<std::string>(12, ""), "", {}});
  runtime.signal = "time";
  runtime.attributes = {{"batch", std::int64_t{1}}};
  LabelledArray environment;
  environment.variables = {{"cpu", {}, std::vector<std::string>{"größer \xff"}, "", {}},
                           {"threads", {}, std::vector<std::int64_t>{2}, "", {}}};
  return {"conelab example", {{"bench/runtime", runtime}, {"bench/environment", environment}}, {}};
}

}  // namespace
}  // namespace conelab

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: conelab_write_examples DIRECTORY\n", stderr), 2;
  const std::string directory = argv[1];
  conelab::write_labelled(directory + "/bench.h5", conelab::bench_example());
  return 0;
}
