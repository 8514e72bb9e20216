// Writes one example of each kind of result file, for the readers' contract test.
#include <cmath>
#include <cstdio>
#include <string>

#include "core/files/bench_file.h"
#include "core/jobs/attention_file.h"

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

/// Everything `attend` can keep, with numbers that tell their place.
void write_attention_example(const std::string& path, Dtype dtype) {
  const Extents extents{1, 2, 5, 7, 3, 4};
  Tensor4<float> output({1, 2, 5, 4}, 0.25f), lse({1, 2, 5, 1}, -1.5f);
  lse.data[3] = -INFINITY;
  const Backward<float> gradients{Tensor4<float>({1, 2, 5, 3}, 1.f),
                                  Tensor4<float>({1, 2, 7, 3}),
                                  Tensor4<float>({1, 2, 7, 4}),
                                  {{"gamma", {1.5, 2.5}}, {"scale", {0.125}}}};
  const RowBlocks<float> rows = [](std::int64_t, std::int64_t head, std::int64_t begin,
                                   std::int64_t end, float* out) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < 7; ++j) *out++ = static_cast<float>(100 * head + 10 * i + j);
    }
  };
  AttentionFile<float> file;
  file.extents = extents;
  file.pairs = {1, 2, 5, 7};
  file.dtype = dtype;
  file.output = &output;
  file.lse = &lse;
  file.weights = rows;
  file.logits = rows;
  file.gradients = &gradients;
  file.query_token = {"größer", "", "\xff\xfe", "a b", "!"};
  file.key_token = {"1", "2", "3", "4", "5", "6", "日本"};
  file.spec = R"({"similarity": "penumbral"})";
  file.parameters.axes = {counted_axis("head", 2)};
  file.parameters.add("gamma", {"head"}, std::vector<double>{1, 2});
  file.parameters.add("height", {}, std::vector<double>{0.5});
  file.parameters.add("convention", {}, std::vector<std::string>{"paper"});
  file.parameters.add_tensor("W", {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  file.environment.add("threads", {}, std::vector<std::int64_t>{2});
  file.environment.add("cpu", {}, std::vector<std::string>{""});
  file.creator = "conelab example";
  write_attention(path, file);
}

}  // namespace
}  // namespace conelab

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: conelab_write_examples DIRECTORY\n", stderr), 2;
  const std::string directory = argv[1];
  conelab::write_labelled(directory + "/bench.h5", conelab::bench_example());
  for (const conelab::Dtype dtype :
       {conelab::Dtype::f64, conelab::Dtype::f32, conelab::Dtype::f16, conelab::Dtype::bf16}) {
    conelab::write_attention_example(directory + "/attention_" + conelab::dtype_name(dtype) + ".h5",
                                     dtype);
  }
  return 0;
}
