#include "core/jobs/job_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/utf8.h"
#include "core/call/call.h"
#include "core/call/resolver.h"
#include "core/files/sandbox.h"
#include "core/jobs/shared_fields.h"
#include "core/operators/combines.h"
#include "core/operators/operator.h"
#include "core/pair/mask.h"
#include "core/ring/blocks.h"
#include "core/trace/trace.h"

namespace conelab {
namespace {

/// Returns whether each pair (i, j) that a mask with these sizes admits has j > i' = i + n_k - n_q,
/// if it admits any.
bool sees_later_keys_only(const std::vector<std::uint8_t>& allowed, const Shape4& s) {
  if (s.token == 1 || s.feature == 1) return false;
  bool any = false;
  for (std::size_t at = 0; at < allowed.size(); ++at) {
    const auto key = static_cast<std::int64_t>(at) % s.feature;
    const auto query = static_cast<std::int64_t>(at) / s.feature % s.token;
    if (allowed[at] == 0) continue;
    if (key <= query + s.feature - s.token) return false;
    any = true;
  }
  return any;
}

bool takes_own_mask(const Call& call) {
  return combines(operator_name(call), "masks", mask_reading(MaskOperand::allowed).name);
}

std::vector<std::int64_t> parse_key_lengths(const std::vector<std::string>& entries) {
  std::vector<std::int64_t> lengths;
  for (const std::string& part : entries) {
    const std::optional<std::int64_t> value = parse_integer(part);
    if (!value || *value < 0) misuse("--lengths: '{}' is not a whole number from 0", part);
    lengths.push_back(*value);
  }
  return lengths;
}

}  // namespace

bool AttendJob::keeps(const std::string& what) const { return contains(keep, what); }

const std::vector<std::string>& attend_parts() {
  static const std::vector<std::string> parts = {"output", "lse",       "weights",
                                                 "logits", "gradients", "determinant"};
  return parts;
}

AttendJob attend_of(const JobSpec& spec) {
  AttendJob job;
  job.input = spec.text("input");
  job.output = spec.text("output");
  job.query = spec.text("q"), job.key = spec.text("k"), job.value = spec.text("v");
  if (spec.given("head")) job.head = spec.integer("head");
  job.call = spec.call();
  job.key_lengths = parse_key_lengths(spec.list("lengths"));
  if (spec.given("dtype")) job.dtype = dtype_from_name(spec.text("dtype"));
  if (spec.given("device")) job.device = spec.text("device");
  job.threads = static_cast<int>(spec.integer("threads"));
  for (const std::string& part : spec.list("keep")) {
    if (!job.keeps(part)) job.keep.push_back(part);
  }
  static_cast<Reading&>(job) = reading_of(spec);
  return job;
}

void check_key_lengths(const Call& call, const std::vector<std::int64_t>& lengths) {
  const char* mask = mask_reading(MaskOperand::lengths).name;
  const bool reads = read_by_any(call.masks, MaskOperand::lengths);
  if (reads && lengths.empty()) misuse("mask {} needs --lengths, one per batch", mask);
  if (!reads && !lengths.empty()) misuse("--lengths is read by --mask {} only", mask);
}

std::vector<std::string> call_keys(const JobSpec& spec) {
  const Call call = spec.call();
  if (!is_attention(call)) {
    (void)index_of_name("operator", call.operation, operator_names());
  }
  for (const CallField& field : call_fields()) {
    for (const std::string& word : split_names(field_text(field, call, ','))) {
      if (!is_default(field, call)) (void)row_named(field.name, field.parts(), word);
    }
  }
  std::vector<std::string> keys = all_keys(call_parameters(call));
  if (draws_tensors(call)) keys.emplace_back("seed");
  return keys;
}

namespace {

InputOptions options_of(const AttendJob& job) {
  InputOptions options;
  static_cast<Reading&>(options) = job;
  options.query = job.query;
  options.key = job.key;
  options.value = job.value;
  options.query_only = !reads_keys(job.call);
  options.with_values = !ignores_values(job.call);
  options.with_mask = takes_own_mask(job.call);
  options.attributes = own_call_attributes();
  for (const ParameterInfo& info : call_parameters(job.call)) {
    const bool given = job.call.parameters.contains(info.key);
    if (info.domain == Domain::tensor && !given) options.parameters.emplace_back(info.key);
  }
  return options;
}

void check_head(std::int64_t head, std::int64_t heads) {
  if (head >= 0 && head < heads) return;
  misuse("--head {}: there is none (the input has {}, counted from 0)", head, heads);
}

}  // namespace

void check_declared_input(const JobSpec& spec) {
  const AttendJob job = attend_of(spec);
  if (job.input.empty()) return;
  InputOptions options = options_of(job);
  options.numbers = false;
  const Input input = read_input_sandboxed(job.input, options);
  const Shape4 q = input.query.shape(), k = input.key_or_query().shape();
  const Shape4 v = input.value ? input.value->shape() : k;
  bool tensors = !input.parameters.empty();  // Whether parameters are tensors.
  if (job.head) check_head(*job.head, q.head);
  for (const ParameterInfo& info : call_parameters(job.call)) {
    const bool read = is_required(info) || job.call.parameters.contains(info.key);
    tensors = tensors || (info.domain == Domain::tensor && read);
  }
  if (tensors) return;
  Extents extents{q.batch, q.head, q.token, k.token, q.feature, v.feature};
  extents.key_head = k.head, extents.value_head = v.head;
  (void)resolve(job.call, extents);
}

void add_own_call(const JobKind& kind, FieldValues& typed) {
  const auto input = typed.find("input");
  if (find_field(kind, FieldKind::call) == nullptr || input == typed.end()) return;
  if (typed.contains("operator")) return;
  std::optional<Call> own;
  InputOptions options;
  options.numbers = false;
  options.attributes = own_call_attributes();
  const auto& spec = std::get<std::string>(input->second);
  std::error_code none;
  if (!std::filesystem::is_regular_file(parse_input_spec(spec).path, none)) return;
  try {
    own = own_call(read_input_sandboxed(spec, options));
  } catch (const Error&) {
    if (!typed.contains("similarity")) throw;
    return;  // The job says it.
  }
  if (!own) return;
  typed.emplace("similarity", own->similarity);
  if (typed["similarity"] != FieldValue(own->similarity)) return;
  if (own->bias != Call().bias) typed.emplace("bias", own->bias);
  auto parameters = std::map<std::string, std::string>();
  if (typed.contains("parameters")) {
    parameters = std::get<std::map<std::string, std::string>>(typed["parameters"]);
  }
  for (const auto& [key, value] : own->parameters) parameters.emplace(key, value.text());
  typed["parameters"] = parameters;
}

Input read_attend_input(const AttendJob& job, const JobContext& context) {
  InputOptions options = options_of(job);
  std::map<std::string, std::string> files;
  for (const ParameterInfo& info : call_parameters(job.call)) {
    if (info.domain != Domain::tensor) continue;
    const auto given = job.call.parameters.find(info.key);
    const auto file = given == job.call.parameters.end() ? std::nullopt : given->second.file();
    if (!file) continue;
    files[info.key] = *file;
    if (file->empty()) {
      misuse("parameter {} names no file (expected {}=@FILE.npy)", info.key, info.key);
    }
  }
  if (context.ranks != nullptr) {
    const int rank = context.ranks->rank(), size = context.ranks->size();
    options.rows = [rank, size](std::int64_t tokens, std::int64_t longest) {
      return Blocks(longest, longest, size).tokens_of_rank(rank, tokens);
    };
    options.with_mask = false;
    options.with_tokens = rank == 0;
  }
  Input input = read_input_sandboxed(job.input, options, {.cancelled = context.cancelled});
  if (context.ranks != nullptr && input.mask_left_out && takes_own_mask(job.call)) {
    fail("{}: the mask beside q is applied by one process only (start conelab without mpirun)",
         job.input);
  }
  for (const auto& [name, path] : files) input.parameters[name] = read_npy_tensor(path);
  const auto own = own_call(input);
  const std::string left_out = left_out_remark(own, job.call, input.parameters.contains("sinks"));
  if (with_own(own, job.call).parameters != job.call.parameters) {
    context.say("the input was made for {}: --similarity {} takes what is not given from it",
                call_title(*own), own->similarity);
  }
  for (const std::string& remark : {input.remark, left_out}) {
    if (!remark.empty()) context.say("{}", remark);
  }
  const bool is_named = left_out.find("bias") != std::string::npos;
  if (input.bias_left_out && !is_named && is_attention(job.call) &&
      !input.parameters.contains("bias")) {
    context.say("{}: the bias beside q is not read (--bias explicit adds it)", job.input);
  }
  return input;
}

template <class T>
Call keep_head(const Call& call, std::int64_t head, AttentionInput<T>& input) {
  const Extents whole = check_extents(input);
  const std::int64_t heads = whole.head;
  check_head(head, heads);
  for (StridedTensor4<T>* all : {&input.query, &input.key, &input.value, &input.output_grad}) {
    if (all->empty()) continue;
    const Shape4 one{all->shape.batch, 1, all->shape.token, all->shape.feature};
    const T* first = all->row(0, shared_head(head, all->shape.head, heads), 0);
    *all = StridedTensor4<T>(first, one, all->strides()).dense();
  }
  keep_mask_of_head(input, head);
  if (makes_heads(call))
    return call;  // Its tensors and lists are those of the heads that it makes.
  input.tensors = tensors_of_head(input.tensors, head, call_parameters(call));
  return call_of_head(call, whole, head);
}

Call call_for_input(const AttendJob& job, const Input& input) {
  if (!input.mask.empty()) return call_with_own_mask(job.call);
  if (!takes_own_mask(job.call)) return job.call;  // It is refused with the masks that combine.
  if (read_by_any(job.call.masks, MaskOperand::allowed)) {
    fail("{}: mask {} needs a dataset 'mask' beside q", job.input,
         mask_reading(MaskOperand::allowed).name);
  }
  return job.call;
}

template <class T>
HiddenPairs hidden_pairs(const Plan& plan, const AttentionInput<T>& input) {
  const Extents& e = plan.chain ? plan.chain->extents : plan.extents;
  HiddenPairs hidden;
  hidden.rows = e.batch * e.head * e.query;
  if (plan.chain == nullptr && plan.masks.empty()) return hidden;
  const Mask mask = plan.mask(input);
  const std::int64_t own = input.allowed.empty() || mask_sizes(input).head == 1 ? 1 : e.head;
  for (std::int64_t b = 0; b < e.batch; ++b) {
    for (std::int64_t h = 0; h < own; ++h) {
      hidden.rows_without_keys += mask.queries_without_keys(b * e.head + h) * (e.head / own);
    }
  }
  hidden.later_keys_only = read_by_any(plan.call.masks, MaskOperand::allowed) &&
                           sees_later_keys_only(input.allowed, mask_sizes(input));
  return hidden;
}

void remark_hidden_pairs(const HiddenPairs& hidden, const JobContext& context) {
  if (hidden.rows_without_keys > 0) {
    context.say("{} of {} rows see no key, counted over batch and heads; their output is 0",
                hidden.rows_without_keys, hidden.rows);
  }
  if (!hidden.later_keys_only) return;
  context.say(
      "the rows of the input's mask see only later keys: 1 means seen here, while PyTorch's "
      "MultiheadAttention uses the opposite sense");
}

NonFinite count_non_finite(const Input& input) {
  NonFinite sum;
  const auto add = [&](const InputTensor& tensor, const std::string& name) {
    sum.nan += tensor.nan_count;
    sum.infinite += tensor.infinite_count;
    if (tensor.nan_count + tensor.infinite_count > 0) sum.arrays.push_back(printable(name));
  };
  add(input.query, input.query.name);
  for (const auto* tensor : {&input.key, &input.value, &input.output_grad}) {
    if (*tensor) add(**tensor, (*tensor)->name);
  }
  for (const auto& [name, tensor] : input.parameters) add(tensor, name);
  return sum;
}

#define CONELAB_INPUTS(T)                                                 \
  template Call keep_head(const Call&, std::int64_t, AttentionInput<T>&); \
  template HiddenPairs hidden_pairs(const Plan&, const AttentionInput<T>&);
CONELAB_EACH_TYPE(CONELAB_INPUTS)

}  // namespace conelab
