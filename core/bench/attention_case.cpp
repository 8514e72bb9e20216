#include "core/bench/attention_case.h"

#include <tbb/info.h>

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "core/base/error.h"
#include "core/bench/bandwidth.h"
#include "core/bench/case_error.h"
#include "core/bench/case_input.h"
#include "core/bench/case_work.h"
#include "core/bench/peak.h"
#include "core/call/call_text.h"
#include "core/call/plan.h"
#include "core/tiles/attention.h"

namespace conelab {
namespace {

/// A case whose run is shorter runs for so long before each sample: while others had their turn its
/// memory left the caches (dot, n = 1024: the first run takes 1.1 of the ninth, the second 1.05).
constexpr double short_seconds = 0.1;
constexpr double warm_up_seconds = 0.01;
/// Of each of the two peak measurements around a sample.
constexpr double peak_seconds = 0.002;
/// Of each measurement of the memory's bandwidth.
constexpr double bandwidth_seconds = 0.1;

/// The case's input in the numbers of its tensors.
template <class S>
AttentionInput<S> input_of(const Case& c, std::int64_t batch, std::uint64_t seed) {
  AttentionInput<float> in = random_input(c, batch, seed);
  if constexpr (std::is_same_v<S, float>)
    return in;
  else
    return convert<S>(in);
}

template <class T>
class AttentionCase : public CaseExecutor {
 public:
  AttentionCase(const Case& c, std::int64_t batch, std::uint64_t seed)
      : case_(c), backward_(c.pass != "forward"), input_(input_of<T>(c, batch, seed)) {
    call_ = call_from_text(c.operation);
    plan_ = resolve(call_, check_extents(input_));
    call_ = resolved_call(*plan_);
    execution_.threads = static_cast<int>(c.threads);
    if (c.pass == "backward") saved_ = forward(*plan_, input_, execution_);
  }

  CaseFacts facts() override {
    const Extents e = check_extents(input_);
    return {pass_flops(case_.pass, e) * plan_->mask(input_).share(),
            compulsory_bytes(case_.pass, input_.query.shape, sizeof(T)), error()};
  }

  Sample sample(bool cold) override {
    const Dtype dtype = dtype_from_name(case_.dtype);
    const auto threads = static_cast<int>(case_.threads);
    if (!warm_) first_run();
    if (run_seconds_ < short_seconds) {
      Sample warming;
      time_runs(warm_up_seconds, warming);
    }
    Sample s;
    const double before = measure_peak(dtype, threads, peak_seconds);
    time_runs(sample_seconds, s);
    run_seconds_ = s.warm;
    s.peak_flops = std::min(before, measure_peak(dtype, threads, peak_seconds));
    if (cold) {
      flush_operands();
      Sample once;
      time_runs(0, once);
      s.cold = once.warm;
    }
    s.peak_bytes = peak_bytes_;
    s.extra_bytes = extra_bytes_;
    return s;
  }

 private:
  Case case_;
  bool backward_;
  Call call_;
  AttentionInput<T> input_;
  std::shared_ptr<const Plan> plan_;
  Execution execution_;
  Forward<T> saved_;  ///< Backward only: output and row state are given, not timed.
  bool warm_ = false;
  double run_seconds_ = 0;  ///< Of the last sample, or of the first run.
  double peak_bytes_ = 0, extra_bytes_ = 0;

  [[nodiscard]] int output_tensors() const {
    return case_.pass == "forward" ? 1 : case_.pass == "backward" ? 3 : 4;
  }

  void run() {
    if (case_.pass == "backward") {
      (void)backward(*plan_, input_, saved_, execution_);
      return;
    }
    const Forward<T> computed = forward(*plan_, input_, execution_);
    if (backward_) (void)backward(*plan_, input_, computed, execution_);
  }

  /// Runs until at least `seconds` have passed, at least once.
  void time_runs(double seconds, Sample& s) {
    const auto start = std::chrono::steady_clock::now();
    double elapsed = 0;
    do {
      run();
      ++s.runs;
      elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } while (elapsed < seconds);
    s.warm = elapsed / s.runs;
  }

  /// What a run reads: the inputs, and of a backward pass alone what the forward pass saved for it.
  void flush_operands() const {
    flush_caches();
    const auto flush = [](const auto& tensor) {
      flush_lines(tensor.data.data(), tensor.data.size() * sizeof(tensor.data.front()));
    };
    for (const auto* given : {&input_.query, &input_.key, &input_.value, &input_.output_grad}) {
      flush(*given);
    }
    flush(saved_.output);
    for (const auto* row : {&saved_.row_reference, &saved_.row_sum, &saved_.midpoint_sum}) {
      flush(*row);
    }
  }

  /// Loads what a run touches of the program and its libraries, megabytes that are not the pass's
  /// memory: nothing else of a resumed case has run before its first sample.
  void load_code() const {
    Case few = case_;
    few.seq_len = std::min<std::int64_t>(case_.seq_len, 1024);
    AttentionCase(few, 1, 1).run();
  }

  /// Also shows the memory of the pass.
  void first_run() {
    warm_ = true;
    load_code();
    release_free_memory();
    reset_peak_resident();
    const double before = resident_bytes();
    Sample once;
    time_runs(0, once);
    run_seconds_ = once.warm;
    peak_bytes_ = peak_resident_bytes();
    const double outputs =
        static_cast<double>(input_.query.shape.size()) * sizeof(T) * output_tensors();
    extra_bytes_ = std::max(0.0, peak_bytes_ - before - outputs);
  }

  double error() {
    const Forward<T> computed = forward(*plan_, input_, execution_);
    if (!backward_) return output_error(call_, input_, computed.output);
    return gradient_error(call_, input_, backward(*plan_, input_, computed, execution_),
                          execution_);
  }
};

std::unique_ptr<CaseExecutor> make_attention_case(const Case& c, std::int64_t batch,
                                                  std::uint64_t seed) {
  if (c.device != "cpu") fail("skipped: there is no device {} here", c.device);
  const int cores = tbb::info::default_concurrency();
  if (c.threads > cores) fail("skipped: {} threads on {} cores", c.threads, cores);
  switch (dtype_from_name(c.dtype)) {
    case Dtype::f32:
      return std::make_unique<AttentionCase<float>>(c, batch, seed);
    case Dtype::f64:
      return std::make_unique<AttentionCase<double>>(c, batch, seed);
    case Dtype::f16:
      return std::make_unique<AttentionCase<Float16>>(c, batch, seed);
    case Dtype::bf16:
      return std::make_unique<AttentionCase<Bfloat16>>(c, batch, seed);
  }
  return nullptr;
}

/// The part of the pairs that the case's masks let be seen.
double seen_share(const Case& c, const Extents& e) {
  return resolve(call_from_text(c.operation), e)->mask(AttentionInput<float>{}).share();
}

/// Inputs, outputs and the engine's packed copies (in what it computes in), and of one head the
/// wider copies for the error.
Prediction predict_attention(const Case& c, std::int64_t batch) {
  const Extents e{batch, c.head, c.seq_len, c.seq_len, c.dim, c.dim};
  const auto size = static_cast<double>(dtype_size(dtype_from_name(c.dtype)));
  const double of_head = static_cast<double>(c.seq_len) * static_cast<double>(c.dim);
  const bool forward_only = c.pass == "forward";
  constexpr double program = 60e6;
  const double own = (forward_only ? 10 : 16) * size * static_cast<double>(batch * c.head);
  constexpr double wider = 100;
  return {program + static_cast<double>(flush_bytes()) + of_head * (own + wider),
          program + of_head * own / 2, pass_flops(c.pass, e) * seen_share(c, e)};
}

/// Throws misuse for a call that no case can have.
void check_operation(const std::string& operation) {
  const Call call = call_from_text(operation);
  const Extents some{1, 1, 4, 4, 4, 4};
  const auto plan = resolve(call, some);
  (void)plan->mask(AttentionInput<float>{Tensor4<float>({1, 1, 4, 4}),
                                         Tensor4<float>({1, 1, 4, 4}),
                                         Tensor4<float>({1, 1, 4, 4}),
                                         {},
                                         {},
                                         {}});
}

}  // namespace

Workload attention_workload() {
  Workload workload;
  for (const PartInfo& part : list_similarities()) {
    const auto& names = workload.operations;
    if (std::find(names.begin(), names.end(), part.name) == names.end()) {
      workload.operations.push_back(part.name);
    }
  }
  workload.check = check_operation;
  workload.make = make_attention_case;
  workload.predict = predict_attention;
  workload.bandwidth = [](int threads) { return measure_bandwidth(threads, bandwidth_seconds); };
  return workload;
}

}  // namespace conelab
