#include "app/attend_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/call_json.h"
#include "app/interrupt.h"
#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/parse_number.h"
#include "core/call/call_text.h"
#include "core/files/atomic_file.h"
#include "core/files/replaceable.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

/// Rounds to the nearest number of `dtype`, in place.
template <class T>
void round_to(Dtype dtype, Tensor4<T>& tensor) {
  if constexpr (sizeof(T) == 2) return;  // the type itself is the rounded one
  for (T& x : tensor.data) {
    if (dtype == Dtype::f16) x = static_cast<T>(from_f16(to_f16(x)));
    if (dtype == Dtype::bf16) x = static_cast<T>(from_bf16(to_bf16(x)));
  }
}

void add(NonFinite& sum, const InputTensor& tensor) {
  sum.nan += tensor.nan_count;
  sum.infinite += tensor.infinite_count;
}

}  // namespace

std::vector<std::int64_t> parse_key_lengths(const std::string& text) {
  std::vector<std::int64_t> lengths;
  if (text.empty()) return lengths;
  for (const std::string& part : split_list(text, "--lengths")) {
    const std::optional<std::int64_t> value = parse_integer(part);
    if (!value || *value < 0) misuse("--lengths: '{}' is not a whole number from 0", part);
    lengths.push_back(*value);
  }
  return lengths;
}

void check_key_lengths(const Call& call, const std::vector<std::int64_t>& lengths) {
  const bool padding =
      std::find(call.masks.begin(), call.masks.end(), "padding") != call.masks.end();
  if (padding && lengths.empty()) misuse("mask padding needs --lengths, one per batch");
  if (!padding && !lengths.empty()) misuse("--lengths is read by --mask padding only");
}

void claim_output(const AttendJob& job, const std::string& kind, const std::string& command) {
  for (const std::string& spec : {job.input, job.query, job.key, job.value}) {
    if (spec.empty()) continue;
    std::error_code none;  // What does not exist is no input to lose.
    if (std::filesystem::equivalent(parse_input_spec(spec).path, job.output, none)) {
      misuse("{}: is an input too, and would be lost; give -o another name", job.output);
    }
  }
  check_replaceable_result(job.output, kind, command, {.cancelled = interrupted});
  probe_writable(job.output);
}

Input read_attend_input(const AttendJob& job, const std::function<bool()>& cancelled) {
  InputOptions options;
  options.query = job.query;
  options.key = job.key;
  options.value = job.value;
  options.allow_external = job.allow_external;
  return read_input_sandboxed(job.input, options, {.cancelled = cancelled});
}

template <class T>
AttentionInput<T> attention_input(Input&& file, Dtype dtype) {
  AttentionInput<T> input;
  input.key = file.key ? to_tensor<T>(std::move(*file.key)) : to_tensor<T>(file.query);
  input.value = file.value ? to_tensor<T>(std::move(*file.value)) : to_tensor<T>(file.query);
  input.query = to_tensor<T>(std::move(file.query));
  if (file.output_grad) input.output_grad = to_tensor<T>(std::move(*file.output_grad));
  for (Tensor4<T>* tensor : {&input.query, &input.key, &input.value, &input.output_grad}) {
    round_to(dtype, *tensor);
  }
  input.allowed = std::move(file.mask);
  return input;
}
template AttentionInput<float> attention_input(Input&&, Dtype);
template AttentionInput<double> attention_input(Input&&, Dtype);
template AttentionInput<Float16> attention_input(Input&&, Dtype);
template AttentionInput<Bfloat16> attention_input(Input&&, Dtype);

Call call_for_input(const AttendJob& job, const Input& input) {
  if (!input.mask.empty()) return call_with_own_mask(job.call);
  for (const std::string& mask : job.call.masks) {
    if (mask == "explicit") fail("{}: mask explicit needs a dataset 'mask' beside q", job.input);
  }
  return job.call;
}

NonFinite count_non_finite(const Input& input) {
  NonFinite sum;
  add(sum, input.query);
  if (input.key) add(sum, *input.key);
  if (input.value) add(sum, *input.value);
  if (input.output_grad) add(sum, *input.output_grad);
  return sum;
}

}  // namespace conelab
