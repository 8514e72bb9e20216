#include "core/bench/operator_case.h"

#include <tbb/info.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/random.h"
#include "core/bench/case_problem.h"
#include "core/bench/machine.h"
#include "core/files/read_tensors.h"
#include "core/operators/device_attention.h"
#include "core/operators/operator.h"
#include "core/operators/prepared_call.h"
#include "core/ring/own_rows.h"
#include "core/ring/ring_attention.h"

namespace conelab {
namespace {

/// A sample lasts at least this long and consists of as many runs as that takes.
constexpr double sample_seconds = 0.02;
/// A case with runs shorter than `short_seconds` runs for `warm_up_seconds` before each sample,
/// because its memory has left the caches while other cases ran.
constexpr double short_seconds = 0.1;
constexpr double warm_up_seconds = 0.01;
/// Duration of each measurement of the bandwidth.
constexpr double bandwidth_seconds = 0.1;
/// Largest number of runs of a sample on a device.
constexpr int most_runs = 10000;

// ---- the operator of a case ---------------------------------------------------------------------

/// What the labels of a case mean for the engine. The call is resolved before there is any input.
struct CaseOperator {
  std::string pass;  ///< "forward"; "backward", given what forward saved; or "forward+backward".
  Dtype dtype;
  int threads;
  std::shared_ptr<const Plan> plan;
  Call call;        ///< The call with defaults written out.
  Case input_case;  ///< The labels of the input. It has one head if the operator makes the heads.
  std::map<std::string, Array<float>> tensors;  ///< Those that the call takes from files.

  CaseOperator(const Case& c, std::int64_t batch)
      : pass(c["pass"]),
        dtype(dtype_from_name(c["dtype"])),
        threads(static_cast<int>(c.number("threads"))),
        input_case(c) {
    Call drawn = with_random_tensors(call_from_text(c["operator"]));
    if (c["evaluation"] != "auto") {
      if (drawn.similarity != "umbral" || !is_attention(drawn)) {
        fail("skipped: {} has one way of evaluation", operator_name(drawn));
      }
      drawn.parameters["evaluation"] = c["evaluation"];
    }
    if (makes_heads(drawn)) {
      drawn.parameters.emplace("heads", c["head"]);
      input_case.set("head", 1);
    }
    Extents extents = extents_of(input_case, batch);
    for (const auto& [key, value] : drawn.parameters) {
      const auto path = value.file();
      if (!path) continue;
      const InputTensor tensor = read_npy_tensor(*path);
      const std::vector<double> numbers = to_doubles(tensor);
      tensors[key] = {tensor.extents, {numbers.begin(), numbers.end()}};
      extents.tensors[key] = tensor.extents;
    }
    plan = resolve(drawn, extents);
    call = plan->call;
  }

  [[nodiscard]] bool forward_only() const { return pass == "forward"; }
  [[nodiscard]] bool backward_only() const { return pass == "backward"; }

  /// Returns the tokens of the case, with the tensors that the operator reads.
  [[nodiscard]] AttentionInput<float> input(std::int64_t batch, std::uint64_t seed) const {
    AttentionInput<float> in = random_input(input_case, batch, seed);
    in.tensors = tensors;
    draw_tensors(call, in, seed);
    if (in.output_grad.shape != plan->output) {
      Tensor4<float> drawn(plan->output);
      Random random(seed + 1);
      for (float& x : drawn.data) x = static_cast<float>(random.normal());
      in.output_grad = std::move(drawn);
    }
    return in;
  }

  /// Returns the operations of one run of the pass. Pairs that a mask hides do not count.
  template <class T>
  [[nodiscard]] double flops(const AttentionInput<T>& input) const {
    const double forward = backward_only() ? 0 : pass_flops(*plan, input, Pass::forward);
    const double backward = forward_only() ? 0 : pass_flops(*plan, input, Pass::backward);
    return forward + backward;
  }

  /// Returns how the last pass of a run is evaluated.
  template <class T>
  [[nodiscard]] double evaluation(const AttentionInput<T>& input) const {
    const Pass last = forward_only() ? Pass::forward : Pass::backward;
    return static_cast<double>(evaluation_of(*plan, input, last));
  }

  /// Return how many numbers q, k and v have together, and the output.
  [[nodiscard]] double input_size() const {
    const Extents& e = plan->extents;
    const std::int64_t keys = e.key_heads() * e.feature + e.value_heads() * e.value;
    return static_cast<double>(e.batch * (e.head * e.query * e.feature + e.key * keys));
  }
  [[nodiscard]] double output_size() const {
    const Extents& e = plan->extents;
    return static_cast<double>(e.batch * e.head * e.query * e.value);
  }
  /// Returns the bytes that a run must at least read and write. The forward pass reads q, k, v and
  /// writes the output; the backward pass reads these, the output and its gradient, and writes
  /// three gradients.
  [[nodiscard]] double bytes() const {
    const int each = forward_only() ? 1 : 2;
    return (input_size() + output_size()) * each * static_cast<double>(dtype_size(dtype));
  }
  [[nodiscard]] double written_bytes() const {
    const double numbers =
        (backward_only() ? 0 : output_size()) + (forward_only() ? 0 : input_size());
    return numbers * static_cast<double>(dtype_size(dtype));
  }
};

/// Returns an input of these sizes without tokens, with what the masks of the call read.
AttentionInput<float> mask_operands(const Call& call, const Extents& e) {
  AttentionInput<float> in;
  in.query.shape = {e.batch, e.head, e.query, 0};
  in.key.shape = in.value.shape = {e.batch, e.key_heads(), e.key, 0};
  Call masks;
  masks.similarity = "dot";
  masks.masks = call.masks;
  for (const std::string& name : call.masks) {
    for (const ParameterInfo& info : find_mask(name)->parameters) {
      const auto given = call.parameters.find(info.key);
      if (given != call.parameters.end()) masks.parameters.insert(*given);
    }
  }
  masks = with_random_tensors(masks);
  draw_tensors(masks, in);
  return in;
}

/// Throws "skipped: ..." if k and v cannot have the sizes that the case wants.
void check_key_sizes(const Case& c, const Call& call) {
  const Extents e = extents_of(c, 1);
  if (!reads_keys(call) && (e.query != e.key || e.value != e.feature)) {
    fail("skipped: {} takes no k and v with sizes of their own", operator_name(call));
  }
  const std::int64_t heads = e.head, own = e.key_head;
  if (own == 0) return;
  if (makes_heads(call) || !reads_keys(call)) {
    fail("skipped: {} takes no k with heads of its own", operator_name(call));
  }
  if (heads % own != 0) fail("skipped: {} heads cannot share {} of k", heads, own);
}

/// Returns the memory of inputs, outputs and the engine's packed copies (in the type that it
/// computes in), of the operator's arrays beyond O(n), and of one head's wider copies for the
/// error.
Prediction predict_case(const Case& c, std::int64_t batch) {
  const CaseOperator op(c, batch);
  check_key_sizes(c, op.call);
  constexpr double program = 60e6, wider = 100;
  const double all = (op.forward_only() ? 2.5 : 4) * static_cast<double>(dtype_size(op.dtype)) *
                     (op.input_size() + op.output_size());
  const Extents& e = op.plan->extents;
  const double of_head = static_cast<double>(std::max(e.query, e.key)) *
                         static_cast<double>(std::max(e.feature, e.value));
  const OperatorRow& row = *op.plan->operation;
  const double working = row.working_bytes != nullptr ? row.working_bytes(*op.plan) : 0;
  return {program + static_cast<double>(flush_bytes()) + all + wider * of_head + working,
          program + all / 2, op.flops(mask_operands(op.call, e))};
}

/// Throws misuse for a call that the case cannot have: of masks, those that read operands. Throws a
/// failure where its sizes do not fit.
void check_operator(const Case& c, std::int64_t batch) {
  const CaseOperator op(c, batch);
  (void)op.plan->mask(mask_operands(op.call, op.plan->extents));
}

// ---- on the CPU ---------------------------------------------------------------------------------

/// Returns the input of the case in type T.
template <class T>
AttentionInput<T> input_of(const CaseOperator& op, std::int64_t batch, std::uint64_t seed) {
  AttentionInput<float> in = op.input(batch, seed);
  if constexpr (std::is_same_v<T, float>)
    return in;
  else
    return convert<T>(in);
}

/// Returns the number of rank 0 once all ranks have come here; `own` without ranks.
double agreed(Ranks* ranks, double own) {
  constexpr int tag = 32001;
  if (ranks == nullptr) return own;
  (void)gather(*ranks, "");
  for (int other = 1; other < ranks->size() && ranks->rank() == 0; ++other) {
    Ranks::Transfer transfer = ranks->send(other, tag, &own, sizeof own);
    ranks->wait(transfer);
  }
  if (ranks->rank() > 0) {
    Ranks::Transfer transfer = ranks->receive(0, tag, &own, sizeof own);
    ranks->wait(transfer);
  }
  return own;
}

template <class T>
class HostCase : public CaseExecutor {
 public:
  /// `ranks` share the case; null: it is computed by this process.
  HostCase(const Case& c, std::int64_t batch, std::uint64_t seed, Ranks* ranks = nullptr)
      : case_(c), operator_(c, batch), input_(input_of<T>(operator_, batch, seed)), ranks_(ranks) {
    execution_.threads = operator_.threads;
    if (ranks != nullptr) own_ = rows_of_rank(input_, ranks->rank(), ranks->size());
    if (operator_.backward_only()) saved_ = forward(*operator_.plan, input_, execution_);
  }

  CaseFacts facts() override {
    return {operator_.flops(input_), operator_.bytes(), error(), operator_.evaluation(input_)};
  }

  Sample sample(bool cold) override {
    if (!warm_) first_run();
    if (run_seconds_ < short_seconds) (void)timed(warm_up_seconds);
    const double before = peak();
    Sample s = timed(sample_seconds);
    run_seconds_ = s.warm;
    s.peak_flops = std::min(before, peak());
    if (cold) {
      flush_operands();
      s.cold = timed(0).warm;
    }
    s.peak_bytes = peak_bytes_;
    s.extra_bytes = extra_bytes_;
    return s;
  }

 private:
  Case case_;
  CaseOperator operator_;
  AttentionInput<T> input_;
  Ranks* ranks_;
  AttentionInput<T> own_;  ///< The rows of this rank.
  Execution execution_;
  Forward<T> saved_;  ///< For the backward pass alone: the output and the sums of rows, whose
                      ///< computation is not timed.
  bool warm_ = false;
  double run_seconds_ = 0;  ///< Time of a run in the last sample or, before that, of the first run.
  double peak_bytes_ = 0, extra_bytes_ = 0;

  [[nodiscard]] double peak() const { return measure_peak(operator_.dtype, operator_.threads); }

  void run() {
    const Plan& plan = *operator_.plan;
    if (ranks_ != nullptr) {
      RingAttention<T> ring(plan, own_, *ranks_);
      ring.forward(execution_);
      if (!operator_.forward_only()) ring.backward(execution_);
      return;
    }
    if (operator_.backward_only()) {
      (void)backward(plan, input_, saved_, execution_);
      return;
    }
    const Forward<T> computed = forward(plan, input_, execution_);
    if (!operator_.forward_only()) (void)backward(plan, input_, computed, execution_);
  }

  /// Runs the pass at least once, and until at least `seconds` have passed.
  Sample timed(double seconds) {
    Sample s;
    const auto start = Clock::now();
    double elapsed = 0;
    do {
      run();
      ++s.runs;
      elapsed = agreed(ranks_, seconds_since(start));
    } while (elapsed < seconds);
    s.warm = elapsed / s.runs;
    return s;
  }

  /// Flushes from the caches what a run reads: the inputs and, for the backward pass alone, what
  /// the forward pass saved.
  void flush_operands() const {
    flush_caches();
    const auto flush = [](const auto& dense) {
      flush_lines(dense.row(0, 0, 0),
                  static_cast<std::size_t>(dense.shape.size()) * sizeof(*dense.row(0, 0, 0)));
    };
    for (const auto* given : {&input_.query, &input_.key, &input_.value, &input_.output_grad}) {
      flush(*given);
    }
    flush(saved_.output);
    for (const auto* row :
         {&saved_.row_reference, &saved_.row_sum, &saved_.midpoint_sum, &saved_.column_lse}) {
      flush(*row);
    }
  }

  /// Loads the code that a run uses: several megabytes that do not belong to the memory of the
  /// pass. For a resumed case nothing has run before its first sample.
  void load_code() const {
    Case few = case_;
    few.set("seq_len", std::min<std::int64_t>(case_.number("seq_len"), 1024));
    HostCase(few, 1, 1).run();
  }

  /// Runs once, and measures the memory of the pass.
  void first_run() {
    warm_ = true;
    load_code();
    release_free_memory();
    reset_peak_resident();
    const double before = resident_bytes();
    run_seconds_ = timed(0).warm;
    peak_bytes_ = peak_resident_bytes();
    extra_bytes_ = std::max(0.0, peak_bytes_ - before - operator_.written_bytes());
  }

  double error() {
    if (ranks_ != nullptr) return std::numeric_limits<double>::quiet_NaN();
    const Plan& plan = *operator_.plan;
    const Forward<T> computed = forward(plan, input_, execution_);
    if (operator_.forward_only()) return output_error(operator_.call, input_, computed.output);
    return gradient_error(operator_.call, input_, backward(plan, input_, computed, execution_),
                          execution_);
  }
};

std::unique_ptr<CaseExecutor> host_case(const Case& c, std::int64_t batch, std::uint64_t seed,
                                        Ranks* ranks) {
  if (c["device"] != "cpu") fail("skipped: there is no device {} here", c["device"]);
  const int cores = tbb::info::default_concurrency();
  if (c.number("threads") > cores) {
    fail("skipped: {} threads on {} cores", c["threads"], cores);
  }
  if (c.number("ranks") != (ranks == nullptr ? 1 : ranks->size())) {
    fail("{} ranks were not started (is mpirun that of another MPI?)", c["ranks"]);
  }
  return with_type(dtype_from_name(c["dtype"]), [&](auto number) -> std::unique_ptr<CaseExecutor> {
    return std::make_unique<HostCase<decltype(number)>>(c, batch, seed, ranks);
  });
}

// ---- on a device --------------------------------------------------------------------------------

float rounded(double x, Dtype dtype) {
  if (dtype == Dtype::f16) return from_f16(to_f16(x));
  if (dtype == Dtype::bf16) return from_bf16(to_bf16(x));
  return static_cast<float>(x);
}

class DeviceCase : public CaseExecutor {
 public:
  DeviceCase(Backend& backend, const Case& c, std::int64_t batch, std::uint64_t seed)
      : backend_(backend), operator_(c, batch), input_(operator_.input(batch, seed)) {
    for (auto* t : {&input_.query, &input_.key, &input_.value, &input_.output_grad}) {
      for (float& x : t->owned().data) x = rounded(x, operator_.dtype);
    }
    if (!is_attention(operator_.call)) {
      fail("skipped: {} runs on the CPU only", operator_.call.operation);
    }
    device_ = std::make_unique<DeviceAttention>(backend, *operator_.plan, input_, operator_.dtype,
                                                Execution());
    saved_ = device_->forward();
    if (operator_.backward_only()) gradients_ = device_->backward(saved_);
  }

  CaseFacts facts() override {
    const Call& call = operator_.call;
    return {operator_.flops(input_), operator_.bytes(),
            operator_.forward_only() ? output_error(call, input_, saved_.output)
                                     : gradient_error(call, input_, gradients_, {}),
            static_cast<double>(Evaluation::pairs)};
  }

  Sample sample(bool cold) override {
    if (runs_ == 0) calibrate();
    Sample s;
    s.warm = device_->seconds(pass(), false, runs_);
    if (cold) s.cold = device_->seconds(pass(), true, 1);
    s.runs = runs_;
    s.device_bytes = device_->device_bytes();
    const DeviceClocks now = backend_.clocks();
    s.device_clock = now.clock;
    s.device_memory_clock = now.memory_clock;
    s.device_temperature = now.temperature;
    s.device_power = now.power;
    s.device_throttle = now.throttle;
    return s;
  }

 private:
  Backend& backend_;
  CaseOperator operator_;
  AttentionInput<float> input_;
  std::unique_ptr<DeviceAttention> device_;  ///< The maps of tokens are not timed.
  Forward<float> saved_;
  Backward<float> gradients_;  ///< Empty if the pass is forward.
  int runs_ = 0;

  [[nodiscard]] Pass pass() const {
    return operator_.backward_only() ? Pass::backward : Pass::forward;
  }

  void calibrate() {
    (void)device_->seconds(pass(), false, 1);
    const double once = device_->seconds(pass(), false, 1);
    const double runs = std::ceil(sample_seconds / std::max(once, 1e-7));
    runs_ = static_cast<int>(std::clamp(runs, 1.0, static_cast<double>(most_runs)));
  }
};

}  // namespace

Workload operator_workload() {
  Workload workload;
  workload.operations = operator_names();
  workload.check = check_operator;
  workload.make = [](const Case& c, std::int64_t batch, std::uint64_t seed) {
    return host_case(c, batch, seed, nullptr);
  };
  workload.predict = predict_case;
  workload.bandwidth = [](int threads) { return measure_bandwidth(threads, bandwidth_seconds); };
  return workload;
}

std::unique_ptr<CaseExecutor> make_shared_case(Ranks& ranks, const Case& c, std::int64_t batch,
                                               std::uint64_t seed) {
  if (c["pass"] == "backward") {
    fail("skipped: ranks compute the backward pass after their own forward pass");
  }
  try {
    check_ring(*CaseOperator(c, batch).plan);
  } catch (const Error& error) {
    fail("skipped: {}", error.what());
  }
  return host_case(c, batch, seed, &ranks);
}

std::unique_ptr<CaseExecutor> make_device_case(Backend& backend, const Case& c, std::int64_t batch,
                                               std::uint64_t seed) {
  const DeviceState state = backend.state();
  if (!state.available) fail("skipped: device {}: {}", state.name, state.about);
  if (!backend.takes(dtype_from_name(c["dtype"]))) {
    fail("skipped: device {} does not compute {}", state.name, c["dtype"]);
  }
  if (c["pass"] == "forward+backward") {
    fail("skipped: device {} times forward and backward by themselves, not {}", state.name,
         c["pass"]);
  }
  return std::make_unique<DeviceCase>(backend, c, batch, seed);
}

}  // namespace conelab
