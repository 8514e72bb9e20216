#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/call/call.h"
#include "core/dataset/dataset.h"
#include "core/operators/operator.h"
#include "core/study/study_file.h"
#include "tests/fuzz/targets.h"

namespace conelab::fuzz {
namespace {

/// Reads the bytes as a call, and resolves it for a small input.
void read_call(std::string_view bytes) {
  try {
    const Call call = call_from_text(std::string(bytes));
    (void)call_title(call);
    (void)resolve(call, Extents{1, 2, 6, 6, 4, 4});
  } catch (const Error&) {  // An Error is an answer; anything else ends the fuzzer.
  }
}

/// Reads the bytes as a study, none of whose jobs is run.
void check_study(std::string_view bytes) {
  // Fuzzers that run beside each other have a file each.
  static const std::string path = fmt::format("/dev/shm/conelab-fuzz-study-{}.toml", ::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    for (const bool quick : {false, true}) (void)read_study(path, quick);
  } catch (const Error&) {
  }
}

/// Reads the bytes as a hierarchy that a user brings.
template <const char* const& kind>
void import_hierarchy(std::string_view bytes) {
  static const std::string path = fmt::format("/dev/shm/conelab-fuzz-{}-{}", kind, ::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    (void)make_dataset(kind, {{"path", path}, {"reduce", "yes"}, {"sample", "3"}});
  } catch (const Error&) {
  }
}

/// Numbers made of bytes; zeros after the last.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : left_(bytes) {}

  /// Returns a number of -128 ... 127.
  int next() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<signed char>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  int natural() { return next() & 0x7F; }

 private:
  std::string_view left_;
};

/// Compares numbers relative to the largest expected one and `size`, that of the terms whose sum
/// they are.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double size,
                 const char* what) {
  for (const double x : expected) {
    if (std::isfinite(x)) size = std::max(size, std::abs(x));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i] || std::abs(found[i] - expected[i]) <= 1e-8 * size) continue;
    throw std::logic_error(
        fmt::format("{} {}: {} by intervals, {} by pairs", what, i, found[i], expected[i]));
  }
}

/// Reads the bytes as umbral heads at d = 2, and computes them by intervals and by pairs.
void compare_evaluations(std::string_view bytes) {
  Numbers from(bytes);
  const Extents e{1, 1 + from.natural() % 2, 1 + from.natural(), 1 + from.natural(), 2, 2};
  Call call;
  call.similarity = "umbral";
  call.map = "none";
  const char* masks[] = {"full", "causal", "window", "segment"};
  call.masks = {masks[from.natural() % 4]};
  const int width = 1 + from.natural() % 9;
  if (call.masks.front() == "window") call.parameters["window"] = width;
  if (call.masks.front() == "segment") call.parameters["segment"] = width;
  const double gamma = std::pow(10, from.next() / 64.0), radius = 0.05 + from.natural() / 40.0;
  call.parameters["gamma"] = gamma;
  call.parameters["radius"] = radius;
  const int shift = from.natural() % 8;  // Few different places make many ties.
  AttentionInput<double> input;
  const auto fill = [&](StridedTensor4<double>& tensor, std::int64_t count, bool is_token) {
    Tensor4<double> to(Shape4{1, e.head, count, 2});
    for (std::size_t i = 0; i < to.data.size(); ++i) {
      to.data[i] = is_token && i % 2 == 1 ? std::exp((from.next() >> shift) / 32.0)
                                          : (from.next() >> shift) / 4.0;
    }
    tensor = std::move(to);
  };
  fill(input.query, e.query, true);
  fill(input.key, e.key, true);
  fill(input.value, e.key, false);
  const auto compute = [&](const char* evaluation) {
    call.parameters["evaluation"] = evaluation;
    const auto plan = resolve(call, e);
    Execution one;
    one.threads = 1;
    Forward<double> saved = forward(*plan, input, one);
    Backward<double> gradients = backward(*plan, input, saved, one);
    return std::pair(std::move(saved), std::move(gradients));
  };
  const auto [found, found_gradients] = compute("intervals");
  const auto [expected, gradients] = compute("pairs");
  const double logit = gamma * (1 + 1 / std::sinh(radius)) * 64;
  expect_near(found.output.data, expected.output.data, 1, "output");
  expect_near(found.lse.data, expected.lse.data, 1, "log-sum-exp");
  expect_near(found_gradients.query.data, gradients.query.data, logit, "gradient of queries");
  expect_near(found_gradients.key.data, gradients.key.data, logit, "gradient of keys");
  expect_near(found_gradients.value.data, gradients.value.data, 1, "gradient of values");
  for (const auto& [key, expected_numbers] : gradients.parameters) {
    expect_near(found_gradients.parameters.at(key), expected_numbers,
                logit * (1 + 1 / std::sinh(radius)) / gamma * std::max(1.0, gamma), key.c_str());
  }
}

constexpr const char *edges = "edges", *newick = "newick", *obo = "obo", *json = "json";
constexpr Target texts[] = {{"call", read_call},
                            {"study", check_study},
                            {"intervals", compare_evaluations},
                            {edges, import_hierarchy<edges>},
                            {newick, import_hierarchy<newick>},
                            {obo, import_hierarchy<obo>},
                            {json, import_hierarchy<json>}};

}  // namespace

std::span<const Target> text_targets() { return texts; }

}  // namespace conelab::fuzz
