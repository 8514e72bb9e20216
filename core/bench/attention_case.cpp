#include "core/bench/attention_case.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/attention/attention.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/bench/peak.h"

namespace conelab {
namespace {

constexpr std::int64_t full_check = 512;
constexpr std::int64_t checked_rows = 16;
/// A sample lasts at least this long, in as many runs as that takes.
constexpr double sample_seconds = 0.02;
/// Of each of the two peak measurements around a sample.
constexpr double peak_seconds = 0.002;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

Extents extents_of(const Case& c, std::int64_t batch) {
  return {batch, c.head, c.seq_len, c.seq_len, c.dim, c.dim};
}

template <class T>
Tensor4<T> random_tensor(Shape4 shape, Random& random) {
  Tensor4<T> t(shape);
  for (T& x : t.data) x = static_cast<T>(static_cast<float>(random.normal()));
  return t;
}

template <class T>
AttentionInput<T> random_input(const Case& c, std::int64_t batch, std::uint64_t seed) {
  Random random(seed);
  const Shape4 shape{batch, c.head, c.seq_len, c.dim};
  AttentionInput<T> in;
  in.query = random_tensor<T>(shape, random);
  in.key = random_tensor<T>(shape, random);
  in.value = random_tensor<T>(shape, random);
  in.output_grad = random_tensor<T>(shape, random);
  for (std::int64_t b = 0; b < batch && c.seq_len >= 4; ++b) {
    for (std::int64_t h = 0; h < c.head; ++h) {
      std::copy_n(in.query.row(b, h, 0), c.dim, in.key.row(b, h, 1));
      std::copy_n(in.query.row(b, h, 2), c.dim, in.key.row(b, h, 3));
      in.key.at(b, h, 3, 0) += static_cast<T>(1e-4f);
    }
  }
  return in;
}

/// The first `rows` tokens of every head.
template <class T>
Tensor4<double> first_tokens(const Tensor4<T>& from, std::int64_t rows) {
  Shape4 shape = from.shape;
  shape.token = std::min(rows, shape.token);
  Tensor4<double> to(shape);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t h = 0; h < shape.head; ++h) {
      std::copy_n(from.row(b, h, 0), shape.token * shape.feature, to.row(b, h, 0));
    }
  }
  return to;
}

template <class T>
double largest_difference(const Tensor4<T>& a, const Tensor4<double>& exact) {
  double largest = 0;
  const Tensor4<double> part = first_tokens(a, exact.shape.token);
  for (std::size_t i = 0; i < part.data.size(); ++i) {
    largest = std::max(largest, std::abs(part.data[i] - exact.data[i]));
  }
  return largest;
}

template <class T>
class AttentionCase : public CaseExecutor {
 public:
  AttentionCase(const Case& c, std::int64_t batch, std::uint64_t seed)
      : case_(c), input_(random_input<T>(c, batch, seed)) {
    call_.similarity = c.operation;
    plan_ = resolve(call_, check_extents(input_));
    execution_.threads = static_cast<int>(c.threads);
    if (backward_pass()) saved_ = forward(*plan_, input_, execution_);
  }

  CaseFacts facts() override {
    const Extents e = check_extents(input_);
    const double tensors = static_cast<double>(input_.query.shape.size() * 4);
    const double passes = backward_pass() ? 2 : 1;
    return {backward_pass() ? backward_flops(e) : forward_flops(e),
            tensors * passes * static_cast<double>(sizeof(T)), error()};
  }

  Sample sample(bool cold) override {
    Sample s;
    const Dtype dtype = dtype_from_name(case_.dtype);
    const auto threads = static_cast<int>(case_.threads);
    if (runs_ == 0) calibrate();
    s.peak_flops = measure_peak(dtype, threads, peak_seconds);
    s.warm = time_runs(runs_) / static_cast<double>(runs_);
    s.peak_flops = std::min(s.peak_flops, measure_peak(dtype, threads, peak_seconds));
    s.cold = unknown;
    if (cold) {
      flush_caches();
      s.cold = time_runs(1);
    }
    s.peak_bytes = peak_bytes_;
    s.extra_bytes = extra_bytes_;
    return s;
  }

 private:
  Case case_;
  Call call_;
  AttentionInput<T> input_;
  std::shared_ptr<const Plan> plan_;
  Execution execution_;
  Forward<T> saved_;
  long runs_ = 0;
  double peak_bytes_ = 0, extra_bytes_ = 0;

  [[nodiscard]] bool backward_pass() const { return case_.pass == "backward"; }

  void run() {
    if (backward_pass()) {
      (void)backward(*plan_, input_, saved_, execution_);
    } else {
      (void)forward(*plan_, input_, execution_);
    }
  }

  double time_runs(long count) {
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < count; ++i) run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// The warm-up runs show the memory of the pass and how many runs make a sample.
  void calibrate() {
    reset_peak_resident();
    const double before = resident_bytes();
    time_runs(1);
    peak_bytes_ = peak_resident_bytes();
    const double outputs = static_cast<double>(input_.query.shape.size()) *
                           static_cast<double>(sizeof(T)) * (backward_pass() ? 3 : 1);
    extra_bytes_ = std::max(0.0, peak_bytes_ - before - outputs);
    const double once = time_runs(1);
    runs_ = std::clamp(std::lround(std::ceil(sample_seconds / std::max(once, 1e-7))), 1L, 10000L);
  }

  /// The largest difference to float64, see the header.
  double error() {
    if (sizeof(T) == sizeof(double)) return unknown;
    const std::int64_t rows = case_.seq_len <= full_check ? case_.seq_len : checked_rows;
    AttentionInput<double> exact;
    exact.query = first_tokens(input_.query, rows);
    exact.key = first_tokens(input_.key, case_.seq_len);
    exact.value = first_tokens(input_.value, case_.seq_len);
    exact.output_grad = first_tokens(input_.output_grad, rows);
    const auto plan = resolve(call_, check_extents(exact));
    const Forward<double> f = forward(*plan, exact, execution_);
    if (!backward_pass()) {
      return largest_difference(forward(*plan_, input_, execution_).output, f.output);
    }
    const Backward<double> g = backward(*plan, exact, f, execution_);
    const Backward<T> mine = backward(*plan_, input_, saved_, execution_);
    const double by_query = largest_difference(mine.query, g.query);
    if (rows < case_.seq_len) return by_query;
    return std::max(
        {by_query, largest_difference(mine.key, g.key), largest_difference(mine.value, g.value)});
  }
};

}  // namespace

std::unique_ptr<CaseExecutor> make_attention_case(const Case& c, std::int64_t batch,
                                                  std::uint64_t seed) {
  if (c.device != "cpu") fail("skipped: device {} is not available", c.device);
  switch (dtype_from_name(c.dtype)) {
    case Dtype::f32:
      return std::make_unique<AttentionCase<float>>(c, batch, seed);
    case Dtype::f64:
      return std::make_unique<AttentionCase<double>>(c, batch, seed);
    default:
      fail("skipped: dtype {} is not available on the CPU", c.dtype);
  }
}

double predicted_bytes(const Case& c, std::int64_t batch) {
  const auto size = static_cast<double>(dtype_size(dtype_from_name(c.dtype)));
  const double tensor = static_cast<double>(batch * c.head * c.seq_len * c.dim) * size;
  // Inputs and output gradient, outputs, and the packed copies of either pass.
  const double copies = c.pass == "backward" ? 15 : 9;
  constexpr double program = 60e6 + 96e6;
  return program + tensor * copies;
}

double predicted_flops(const Case& c, std::int64_t batch) {
  const Extents e = extents_of(c, batch);
  return c.pass == "backward" ? backward_flops(e) : forward_flops(e);
}

}  // namespace conelab
