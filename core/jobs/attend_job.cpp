#include "core/jobs/attend_job.h"

#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "core/base/duration.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parallel.h"
#include "core/call/call.h"
#include "core/job/call_json.h"
#include "core/jobs/attend_ranks.h"
#include "core/jobs/attention_file.h"
#include "core/jobs/job_input.h"
#include "core/jobs/shared_fields.h"
#include "core/operators/device_attention.h"
#include "core/operators/jacobian.h"
#include "core/operators/operator.h"
#include "core/ring/own_rows.h"
#include "core/simd/kernels.h"
#include "core/trace/trace.h"

namespace conelab {
namespace {

using Clock = std::chrono::steady_clock;
using Texts = std::vector<std::string>;

struct AttendSummary {
  std::string evaluation;  ///< The way that was taken; empty: the operator has one.
  Extents extents;
  Dtype dtype = Dtype::f32;
  std::string device = "cpu";  ///< Where the output was computed: "cpu" or "cuda".
  double compute_seconds = 0;
  double write_seconds = 0;
  /// Which of "k" and "v" are absent from the file; q is used in their place.
  std::vector<std::string> from_query;
  /// The parts that were written. An operator may not have all that were wanted.
  std::vector<std::string> kept;
  bool own_mask = false;       ///< Whether a mask that the input contains was applied.
  bool mask_left_out = false;  ///< Whether it contains one that the operator does not take.
  NonFinite input;             ///< Numbers of the input that are not finite.
  std::int64_t rounded_to_infinity = 0;  ///< Finite numbers that were rounded.
  std::int64_t outputs = 0;              ///< Numbers of the output.
  std::int64_t bad_outputs = 0;          ///< Numbers of the output that are not finite.
  /// Numbers of the gradients, parameters included, that are not finite.
  std::int64_t bad_gradients = 0;
  HiddenPairs hidden;  ///< What the masks hide.
  /// [rank] The bytes that each sent and received, and the slabs that it received.
  std::vector<std::int64_t> sent = {0}, received = {0}, steps = {0};
  std::map<std::string, double> measures;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Dtype chosen_dtype(const AttendJob& job, const Input& input) {
  if (job.dtype) return *job.dtype;
  return input.query.dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32;
}

LabelledArray environment_group(const Execution& execution, const Input& input, Dtype dtype) {
  LabelledArray group;
  for (const auto& [name, value] : environment(simd_summary())) {
    std::visit([&, key = name](const auto& v) { group.add(key, {}, std::vector{v}); }, value);
  }
  group.add("dtype", {}, Texts{dtype_name(dtype)});
  if (input.all_queries == 0) {  // The ranks of a job may have different numbers of threads.
    group.add("threads", {}, std::vector<std::int64_t>{thread_count(execution)});
    group.add("input_sha256", {}, Texts{input.sha256});
  }
  if (!input.model.empty()) group.add("input_model", {}, Texts{input.model});
  if (input.layer) group.add("input_layer", {}, std::vector{*input.layer});
  return group;
}

template <class T>
class Attend {
 public:
  Attend(const JobSpec& spec, const AttendJob& job, Input&& file, Dtype dtype,
         const JobContext& context)
      : spec_(spec), job_(job), context_(context) {
    if (context.ranks == nullptr) device_ = choose_device(job.device, dtype, context);
    execution_ = context.execution(job.threads);
    result_.dtype = dtype;
    result_.query_token = std::move(file.query_token);
    result_.key_token = std::move(file.key_token);
    result_.environment = environment_group(execution_, file, dtype);
    Call call = call_for_input(job, file);
    tokens_ = {!file.key, !file.value};
    const std::int64_t queries = file.queries(), keys = file.keys();
    input_ = attention_input<T>(std::move(file), dtype);
    if (ignores_values(job.call)) input_.value = input_.key;
    if (job.head) call = keep_head(call, *job.head, input_);
    input_.key_lengths = job.key_lengths;
    AttentionInput<T> own;
    if (context.ranks != nullptr) own = take_rows(input_, queries, keys);
    plan_ = draw_tensors(call, input_);
    result_.extents = plan_->extents;
    if (context.ranks != nullptr) {
      own.tensors = input_.tensors, own.key_lengths = input_.key_lengths;
      shared_.emplace(job_, *plan_, std::move(own), context_);
    } else {
      check_input(*plan_, input_);
    }
    result_.pairs = plan_->pairs;
    if (wants("determinant")) check_determinant(*plan_);
  }

  void run(AttendSummary& summary) {
    summary.extents = plan_->extents;
    summary.kept = job_.keep;
    std::erase_if(summary.kept, [this](const std::string& part) { return !has(part); });
    summary.rounded_to_infinity = bad_inputs() - summary.input.nan - summary.input.infinite;
    const Clock::time_point start = Clock::now();
    compute();
    summary.device = device();
    summary.compute_seconds = seconds_since(start);
    summary.outputs = plan_->output.size();
    count_bad_results(summary);
    summary.hidden = hidden_pairs(*plan_, input_);
    summary.measures = measures();
    summary.evaluation = evaluation();
    const Clock::time_point computed = Clock::now();
    write();
    summary.write_seconds = seconds_since(computed);
    if (shared_) {
      auto traffic = shared_->traffic();
      summary.sent = std::move(traffic.sent), summary.received = std::move(traffic.received);
      summary.steps = std::move(traffic.steps);
    }
  }

 private:
  /// Counts the numbers of the results that are not finite, on rank 0 those of all ranks.
  void count_bad_results(AttendSummary& summary) {
    summary.bad_outputs = count_bad(forward_.output);
    summary.bad_gradients = bad_gradients(backward_);
    if (!shared_) return;
    std::vector<std::int64_t> counts = {summary.rounded_to_infinity, summary.input.nan,
                                        summary.input.infinite, 0, 0};
    for (const BlockResult<T>& part : shared_->results()) {
      counts[3] += count_bad(part.forward.output);
      counts[4] += bad_gradients(part.backward);
    }
    counts = sum(*context_.ranks, std::move(counts), context_.cancelled);
    summary.rounded_to_infinity = counts[0];
    summary.input.nan = counts[1], summary.input.infinite = counts[2];
    summary.bad_outputs = counts[3], summary.bad_gradients = counts[4];
  }

  void compute() {
    if (shared_) return shared_->compute();
    if (device_ == nullptr || !compute_on_device()) compute_on_cpu();
    if (job_.keeps("gradients")) result_.gradients = &backward_;
    if (wants("determinant")) {
      const auto found = jacobian_determinants(*plan_, input_, tokens_, stage("determinant"));
      for (const Determinant& each : found) result_.determinant.push_back(each.value());
    }
    report_columns();
  }

  void write() {
    if (!shared_) result_.output = &forward_.output;
    if (!forward_.lse.empty()) result_.lse = &forward_.lse;
    std::optional<PairMap<T>> pairs;
    say_what_is_left_out();
    if (wants("weights") || wants("logits")) pairs.emplace(*plan_, input_);
    if (wants("weights")) result_.weights = rows_of(*pairs, Map2d::weights);
    if (wants("logits")) result_.logits = rows_of(*pairs, Map2d::logits);
    JobSpec resolved = spec_;
    resolved.values["call"] = plan_->call;
    resolved.values["keep"] = job_.keep;
    result_.spec = json_line(spec_to_json(resolved));
    result_.call = call_text(job_.call);
    result_.parameters = parameter_group();
    result_.evaluation = evaluation();
    result_.creator = program_version();
    result_.execution = execution_;
    result_.environment.add("device", {}, Texts{device()});
    if (on_device_) {
      result_.environment.add("device_name", {}, Texts{device_->state().about});
      result_.environment.add("driver", {}, Texts{device_->state().driver});
    }
    shared_ ? shared_->write(std::move(result_)) : write_attention(job_.output, result_);
  }

  /// Returns the way that was taken, or nothing if the operator has no choice of it.
  [[nodiscard]] std::string evaluation() const {
    if (!choices(*plan_).contains("evaluation")) return "";
    return evaluation_words[static_cast<int>(forward_.evaluation)];
  }

  static std::int64_t bad_gradients(const Backward<T>& of) {
    std::int64_t sum = count_bad(of.query) + count_bad(of.key) + count_bad(of.value);
    for (const auto& [key, slopes] : of.parameters) {
      sum += std::ranges::count_if(slopes, [](double x) { return !std::isfinite(x); });
    }
    for (const auto& [name, tensor] : of.tensors) {
      sum += std::ranges::count_if(tensor.data, [](double x) { return !std::isfinite(x); });
    }
    return sum;
  }
  /// Counts the numbers that are not finite, without tensors that are copies of q.
  [[nodiscard]] std::int64_t bad_inputs() const {
    const AttentionInput<T>& in = shared_ ? shared_->own() : input_;
    std::int64_t sum = count_bad(in.query) + count_bad(in.output_grad);
    if (!tokens_.key) sum += count_bad(in.key);
    if (!tokens_.value) sum += count_bad(in.value);
    for (const auto& [name, tensor] : input_.tensors) {
      sum += std::ranges::count_if(tensor.data,
                                   [](T x) { return !std::isfinite(static_cast<double>(x)); });
    }
    return sum;
  }
  /// Returns the mean of the output's numbers, that of the determinants, and the error of HyPE's
  /// columns, as far as there are any.
  [[nodiscard]] std::map<std::string, double> measures() const {
    std::map<std::string, double> found;
    double sum = 0;
    for (const T x : forward_.output.data) sum += static_cast<Compute<T>>(x);
    const auto count = static_cast<double>(forward_.output.shape.size());
    if (std::isfinite(sum) && count > 0 && !shared_) found["output_mean"] = sum / count;
    for (const double each : result_.determinant) {
      found["determinant_mean"] += each / static_cast<double>(result_.determinant.size());
    }
    if (columns_error_) found["hype_columns_error"] = *columns_error_;
    return found;
  }
  [[nodiscard]] std::string device() const { return on_device_ ? device_->state().name : "cpu"; }
  [[nodiscard]] bool wants(const char* part) const { return job_.keeps(part) && has(part); }
  [[nodiscard]] bool has(std::string_view part) const {
    const auto& operation = *plan_->operation;
    if (part == "weights") return operation.has_map(*plan_, Map2d::weights);
    if (part == "determinant") return has_determinant(*plan_);
    if (part == "lse" || part == "logits") return operation.has_map(*plan_, Map2d::logits);
    return true;
  }
  template <class Tensor>
  static std::int64_t count_bad(const Tensor& tensor) {
    const Shape4& s = tensor.shape;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; !tensor.empty() && i < s.batch * s.head * s.token; ++i) {
      const T* row = tensor.row(i / s.token / s.head, i / s.token % s.head, i % s.token);
      sum += std::count_if(row, row + s.feature,
                           [](T x) { return !std::isfinite(static_cast<Compute<T>>(x)); });
    }
    return sum;
  }

  const JobSpec& spec_;
  const AttendJob& job_;
  const JobContext& context_;
  Execution execution_;
  AttentionInput<T> input_;
  std::shared_ptr<const Plan> plan_;
  Forward<T> forward_;
  Backward<T> backward_;
  AttentionFile<T> result_;
  TokenRoles tokens_;
  Backend* device_ = nullptr;  ///< Null: the CPU.
  bool on_device_ = false;     ///< Whether the results come from the device.
  std::optional<double> columns_error_;
  std::optional<SharedAttend<T>> shared_;  ///< Set where several ranks compute.

  void compute_on_cpu() {
    forward_ = forward(*plan_, input_, stage("forward"));
    if (job_.keeps("gradients")) {
      backward_ = backward(*plan_, input_, forward_, stage("backward"));
    }
  }

  /// Returns false if the device failed and the user left the choice of the device to the program.
  bool compute_on_device() {
    if constexpr (std::is_same_v<T, float>) {
      try {
        if (!is_attention(plan_->call)) {
          fail("{} runs on the CPU only", plan_->call.operation);
        }
        DeviceAttention call(*device_, *plan_, input_, result_.dtype, execution_);
        forward_ = call.forward();
        if (job_.keeps("gradients")) backward_ = call.backward(forward_);
        on_device_ = true;
      } catch (const Error& error) {
        const bool hands_over = job_.device == "auto" && error.kind() == ErrorKind::failure;
        if (!hands_over) throw;
        context_.say("{}; computing on the CPU", error.what());
      }
    }
    return on_device_;
  }

  [[nodiscard]] Execution stage(const char* name) const {
    return context_.execution(job_.threads, name);
  }

  /// Reports the largest error that hype_form=columns adds to the bias.
  void report_columns() {
    const auto words = choices(*plan_);
    const auto form = words.find("hype_form");
    if (form == words.end() || form->second != "columns") return;
    const double error = hype_columns_error(*plan_, input_);
    result_.environment.add("hype_columns_error", {}, std::vector{error});
    columns_error_ = error;
    context_.say("hype_form=columns: the bias differs from that of hype_form=bias by up to {:.2g}",
                 error);
  }

  /// Warns of parts that the user asked for and the operator does not have.
  void say_what_is_left_out() const {
    const AttendJob other;
    const bool is_default = job_.keep == other.keep;
    for (const char* part : {"lse", "weights", "logits", "determinant"}) {
      if (!job_.keeps(part) || has(part) || is_default) continue;
      context_.say("{} has no {}{}: left out", operator_name(plan_->call), part,
                   why_left_out(part));
    }
  }

  /// Returns which parameter keeps the operator from having a part, or why it has no determinant.
  /// The text is empty if it never has the part.
  [[nodiscard]] std::string why_left_out(const std::string& part) const {
    if (part == "determinant") {
      const Shape4& q = input_.query.shape;
      return fmt::format(" (its Jacobian is not square: q is {}, the output {})", to_string(q),
                         to_string(plan_->output));
    }
    for (std::size_t i = 0; i < plan_->parameters.size(); ++i) {
      const ParameterInfo& info = plan_->parameters[i].info;
      if (info.domain != Domain::choice) continue;
      const std::vector<std::string> words = choice_words(info);
      for (std::size_t w = 0; w < words.size(); ++w) {
        Plan other = *plan_;
        other.parameters[i].values = {static_cast<double>(w)};
        if (plan_->operation->has_map(other, part == "weights" ? Map2d::weights : Map2d::logits)) {
          return fmt::format(" (-p {}={} has them)", info.key, words[w]);
        }
      }
    }
    return "";
  }

  /// Returns the parameters: numbers, also of each head, words, and tensors as they were given or
  /// drawn.
  [[nodiscard]] LabelledArray parameter_group() const {
    LabelledArray group;
    for (const Parameter& p : plan_->parameters) {
      if (!p.is_number() || !p.extents.empty()) continue;
      if (p.per_head() && group.axes.empty()) {
        group.axes = {counted_axis("head", static_cast<std::size_t>(plan_->pairs.head))};
      }
      group.add(p.info.key, p.per_head() ? Texts{"head"} : Texts(), p.values);
    }
    for (const auto& [key, word] : choices(*plan_)) group.add(key, {}, Texts{word});
    for (const auto& [name, tensor] : input_.tensors) {
      group.add_tensor(name, tensor.extents, convert<double>(tensor).data);
    }
    for (const Parameter& p : plan_->parameters) {
      if (p.is_number() && !p.extents.empty()) group.add_tensor(p.info.key, p.extents, p.values);
    }
    for (const auto& [name, tensor] : input_.indices) {
      group.add_tensor(name, tensor.extents, convert<double>(tensor).data);
    }
    return group;
  }

  [[nodiscard]] RowBlocks<Compute<T>> rows_of(const PairMap<T>& pairs, Map2d which) {
    return [this, &pairs, which](std::int64_t batch, std::int64_t head, std::int64_t begin,
                                 std::int64_t end, Compute<T>* out) {
      pairs.tile(which, &forward_, {batch, head, begin, end, 0, plan_->extents.key}, out,
                 execution_);
      if (!context_.progress) return;
      const Shape4& sizes = plan_->pairs;
      const auto heads = static_cast<double>(sizes.batch * sizes.head);
      const auto done = static_cast<double>(batch * sizes.head + head) +
                        static_cast<double>(end) / static_cast<double>(plan_->extents.query);
      context_.progress(which == Map2d::weights ? "weights" : "logits", done / heads);
    };
  }
};

template <class T>
void compute_and_write(const JobSpec& spec, const AttendJob& job, Input&& input,
                       const JobContext& context, AttendSummary& summary) {
  Attend<T>(spec, job, std::move(input), summary.dtype, context).run(summary);
}

/// Remarks if arrays are named that the operator does not read.
void remark_unread_arrays(const AttendJob& job, const JobContext& context) {
  const auto check = [&](const char* option, const std::string& given, bool is_read) {
    if (given.empty() || is_read) return;
    context.say("{} {}: {} does not read it", option, given, operator_name(job.call));
  };
  const bool reads_pairs = reads_keys(job.call);
  check("--k", job.key, reads_pairs);
  check("--v", job.value, reads_pairs && !ignores_values(job.call));
}

void remark_non_finite(const AttendSummary& summary, const JobContext& context) {
  const auto& [nan, infinite, arrays] = summary.input;
  if (nan + infinite == 0) return;
  context.say("the input has {} NaN and {} infinite numbers in {}; they are kept", nan, infinite,
              join(arrays));
}

/// Remarks if numbers or tokens of a finite input are beyond the range of the type.
void remark_overflow(const AttendJob& job, const AttendSummary& summary,
                     const JobContext& context) {
  if (summary.input.nan + summary.input.infinite > 0) return;
  const char* type = dtype_name(summary.dtype);
  const char* hint = summary.dtype == Dtype::f64 ? "" : "; --dtype f64 reaches furthest";
  if (summary.rounded_to_infinity > 0) {
    context.say("{}: {} of the input's numbers are infinite as {}{}",
                job.input.empty() ? job.query : job.input, summary.rounded_to_infinity, type, hint);
    return;
  }
  if (summary.bad_outputs > 0) {
    context.say("{}: {} of {} output numbers are not finite: beyond the range of {} under {}{}",
                job.output, summary.bad_outputs, summary.outputs, type, operator_name(job.call),
                hint);
  }
  if (summary.bad_gradients > 0) {
    context.say("{}: {} numbers of the gradients are not finite: beyond the range of {} under {}{}",
                job.output, summary.bad_gradients, type, operator_name(job.call), hint);
  }
}

/// Remarks if intervals were asked for and numbers that are not finite kept the pass from them.
void remark_evaluation(const AttendJob& job, const AttendSummary& summary,
                       const JobContext& context) {
  const auto asked = job.call.parameters.find("evaluation");
  if (summary.evaluation != "pairs" || asked == job.call.parameters.end()) return;
  if (asked->second.text() != "intervals") return;
  context.say("{}: evaluated by pairs, as not all of the input's numbers are finite", job.output);
}

void remark_all(const AttendJob& job, const AttendSummary& summary, const JobContext& context) {
  remark_unread_arrays(job, context);
  remark_non_finite(summary, context);
  if (summary.mask_left_out) {
    context.say("{}: {} takes no mask of a file; the one beside q is not read", job.input,
                operator_name(job.call));
  }
  remark_hidden_pairs(summary.hidden, context);
  remark_overflow(job, summary, context);
  remark_evaluation(job, summary, context);
}

AttendSummary attend(const JobSpec& spec, const AttendJob& job, const JobContext& context) {
  if (context.ranks != nullptr) check_shared(job), check_alike(spec, job, context);
  (void)choose_device(job.device, job.dtype.value_or(Dtype::f32), context);
  remark_unusable_device(job.device, context);
  Input input = read_attend_input(job, context);
  AttendSummary summary;
  summary.input = count_non_finite(input);
  summary.own_mask = !input.mask.empty();
  summary.mask_left_out = input.mask_left_out;
  if (reads_keys(job.call)) {
    if (!input.key) summary.from_query.emplace_back("k");
    if (!input.value && !ignores_values(job.call)) summary.from_query.emplace_back("v");
  }
  summary.dtype = chosen_dtype(job, input);
  // A device takes floats that it rounds itself.
  const bool on_device =
      context.ranks == nullptr && choose_device(job.device, summary.dtype, context) != nullptr;
  const auto compute = summary.dtype == Dtype::f64                ? compute_and_write<double>
                       : summary.dtype == Dtype::f32 || on_device ? compute_and_write<float>
                       : summary.dtype == Dtype::f16              ? compute_and_write<Float16>
                                                                  : compute_and_write<Bfloat16>;
  compute(spec, job, std::move(input), context, summary);
  remark_all(job, summary, context);
  return summary;
}

/// Returns " (k and v are q) under the input's mask". Without this text, the result of a call with
/// a forgotten key or mask would look plausible.
std::string given_text(const AttendJob& job, const AttendSummary& summary) {
  const auto& names = summary.from_query;
  std::string text;
  if (names.size() == 1) text = " (" + names.front() + " is q)";
  if (names.size() == 2) text = " (k and v are q)";
  if (!reads_keys(job.call)) text = " (q alone is read)";
  if (summary.own_mask) text += " under the input's mask";
  if (!summary.evaluation.empty()) text += ", by " + summary.evaluation;
  return text;
}

Json summary_json(const JobSpec& spec, const AttendSummary& summary) {
  const Extents& e = summary.extents;
  return {
      {"output", spec.text("output")},
      {"kept", summary.kept},
      {"extents",
       {{"batch", e.batch},
        {"head", e.head},
        {"query", e.query},
        {"key", e.key},
        {"feature", e.feature},
        {"value", e.value},
        {"key_head", e.key_heads()}}},
      {"dtype", dtype_name(summary.dtype)},
      {"device", summary.device},
      {"evaluation", summary.evaluation},
      {"from_query", summary.from_query},
      {"input_mask", summary.own_mask},
      {"nan", summary.input.nan},
      {"infinite", summary.input.infinite},
      {"rounded_to_infinity", summary.rounded_to_infinity},
      {"rows_without_keys", summary.hidden.rows_without_keys},
      {"output_not_finite", summary.bad_outputs},
      {"gradients_not_finite", summary.bad_gradients},
      {"compute_seconds", summary.compute_seconds},
      {"write_seconds", summary.write_seconds},
      {"ranks", summary.sent.size()},
      {"sent_bytes", std::accumulate(summary.sent.begin(), summary.sent.end(), 0LL)},
      {"received_bytes", std::accumulate(summary.received.begin(), summary.received.end(), 0LL)},
      {"sent_by_rank", summary.sent},
      {"received_by_rank", summary.received},
      {"steps_by_rank", summary.steps},
      {"spec", spec_to_json(spec)},
      {"command", shell_line(command_words(spec))}};
}

JobReport run_attend(const JobSpec& spec, const JobContext& context) {
  const AttendJob job = attend_of(spec);
  const AttendSummary summary = attend(spec, job, context);
  const Extents& e = summary.extents;
  const std::string heads = e.key_heads() == e.head
                                ? fmt::format("{} head(s)", e.head)
                                : fmt::format("{} heads on {}", e.head, e.key_heads());
  return {.summary = summary_json(spec, summary),
          .lines = {fmt::format(
              "{}: {} of {} attention, {} x {}, {} queries x {} keys{}, "
              "{} on {}; computed in {}, written in {}",
              job.output, join(summary.kept), operator_name(job.call), e.batch, heads, e.query,
              e.key, given_text(job, summary), dtype_name(summary.dtype), summary.device,
              duration_text(summary.compute_seconds), duration_text(summary.write_seconds))},
          .files = {job.output},
          .measures = summary.measures};
}

void check_attend(const JobSpec& spec) {
  const AttendJob job = attend_of(spec);
  if (job.input.empty() && job.query.empty()) {
    misuse("give INPUT, or --q (and --k, --v) with .npy files");
  }
  for (const std::string& part : job.keep) {
    (void)index_of_name("part to keep", part, attend_parts());
  }
  check_key_lengths(job.call, job.key_lengths);
}

}  // namespace

JobKind attend_job() {
  return with_reading_fields(
      {.name = "attend",
       .about = "attention over the tensors of a file",
       .example =
           "  conelab attend datasets/minilm_trace.h5:/german/layer3 -o out.h5 --similarity "
           "penumbral "
           "-p gamma=2 --keep output,lse,weights\n"
           "  conelab attend qkv.npz -o out.h5 --similarity dot --mask causal --bias alibi\n",
       .fields = {input_field(),
                  output_field(),
                  call_field(),
                  {"q", "--q", "name of q in INPUT, or a .npy file", FieldKind::array},
                  {"k", "--k", "the same for k; default: q where absent", FieldKind::array},
                  {"v", "--v", "the same for v; default: q where absent", FieldKind::array},
                  {"head", "--head", "the only head of q, k and v that is read; default: all",
                   FieldKind::integer},
                  lengths_field(),
                  {"keep", "--keep",
                   "what to write: weights, logits, gradients, determinant (of d output / d q); "
                   "output and lse always are",
                   FieldKind::list, "output,lse"},
                  {"device", "--device", "cpu, cuda or auto", FieldKind::text, "auto"},
                  {"dtype", "--dtype",
                   "f64, f32, bf16 or f16 (also float32, f4, ...); default: f64 for f64 input, "
                   "else f32"},
                  threads_field()},
       .run = run_attend,
       .check = check_attend,
       .check_input = check_declared_input,
       .sources = token_sources,
       .keys = call_keys,
       .result = true,
       .ranks = true});
}

}  // namespace conelab
