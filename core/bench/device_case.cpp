#include "core/bench/device_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/attention.h"
#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/random.h"

namespace conelab {
namespace {

constexpr std::int64_t full_check = 512;
constexpr std::int64_t checked_rows = 16;
/// A sample lasts at least this long, in as many runs as that takes.
constexpr double sample_seconds = 0.02;
constexpr int most_runs = 10000;

float rounded(double x, Dtype dtype) {
  if (dtype == Dtype::f16) return from_f16(to_f16(x));
  if (dtype == Dtype::bf16) return from_bf16(to_bf16(x));
  return static_cast<float>(x);
}

Tensor4<float> random_tensor(Shape4 shape, Random& random) {
  Tensor4<float> t(shape);
  for (float& x : t.data) x = static_cast<float>(random.normal());
  return t;
}

/// Key 1 repeats query 0, key 3 is next to query 2.
void plant_twins(AttentionInput<float>& in) {
  const Shape4 s = in.query.shape;
  for (std::int64_t head = 0; head < s.batch * s.head && s.token >= 4; ++head) {
    const std::int64_t b = head / s.head;
    const std::int64_t h = head % s.head;
    std::copy_n(in.query.row(b, h, 0), s.feature, in.key.row(b, h, 1));
    std::copy_n(in.query.row(b, h, 2), s.feature, in.key.row(b, h, 3));
    in.key.at(b, h, 3, 0) += 1e-4f;
  }
}

AttentionInput<float> random_input(const Case& c, Dtype dtype, std::int64_t batch,
                                   std::uint64_t seed) {
  Random random(seed);
  const Shape4 shape{batch, c.head, c.seq_len, c.dim};
  AttentionInput<float> in;
  for (Tensor4<float>* t : {&in.query, &in.key, &in.value, &in.output_grad}) {
    *t = random_tensor(shape, random);
  }
  plant_twins(in);
  for (Tensor4<float>* t : {&in.query, &in.key, &in.value, &in.output_grad}) {
    for (float& x : t->data) x = rounded(x, dtype);
  }
  return in;
}

/// The first `rows` tokens of the first head, in double.
Tensor4<double> first_head(const Tensor4<float>& from, std::int64_t rows) {
  Tensor4<double> to({1, 1, std::min(rows, from.shape.token), from.shape.feature});
  std::copy_n(from.data.begin(), to.data.size(), to.data.begin());
  return to;
}

/// NaN where a number is NaN, so that a broken result cannot look exact.
double largest_difference(const Tensor4<float>& found, const Tensor4<double>& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < exact.data.size(); ++i) {
    const double difference = std::abs(static_cast<double>(found.data[i]) - exact.data[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

class DeviceCase : public CaseExecutor {
 public:
  DeviceCase(Backend& backend, const Case& c, std::int64_t batch, std::uint64_t seed)
      : backend_(backend),
        case_(c),
        dtype_(dtype_from_name(c.dtype)),
        input_(random_input(c, dtype_, batch, seed)),
        pass_(c.pass == "backward" ? Pass::backward : Pass::forward) {
    call_.similarity = c.operation;
    plan_ = resolve(call_, check_extents(input_));
    device_ = backend.prepare(*plan_, input_, dtype_, {});
    saved_ = device_->forward();
  }

  CaseFacts facts() override {
    const Extents e = check_extents(input_);
    const bool backward = pass_ == Pass::backward;
    const double tensors = static_cast<double>(input_.query.shape.size() * (backward ? 8 : 4));
    return {backward ? backward_flops(e) : forward_flops(e),
            tensors * static_cast<double>(dtype_size(dtype_)), error()};
  }

  Sample sample(bool cold) override {
    if (runs_ == 0) calibrate();
    Sample s;
    s.warm = device_->seconds(pass_, false, runs_);
    s.cold = cold ? device_->seconds(pass_, true, 1) : std::numeric_limits<double>::quiet_NaN();
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
  Case case_;
  Dtype dtype_;
  AttentionInput<float> input_;
  Pass pass_;
  Call call_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<DeviceCall> device_;
  Forward<float> saved_;
  int runs_ = 0;

  void calibrate() {
    (void)device_->seconds(pass_, false, 1);
    const double once = device_->seconds(pass_, false, 1);
    const double runs = std::ceil(sample_seconds / std::max(once, 1e-7));
    runs_ = static_cast<int>(std::clamp(runs, 1.0, static_cast<double>(most_runs)));
  }

  double error() {
    const std::int64_t n = case_.seq_len;
    const std::int64_t rows = n <= full_check ? n : checked_rows;
    AttentionInput<double> exact;
    exact.query = first_head(input_.query, rows);
    exact.key = first_head(input_.key, n);
    exact.value = first_head(input_.value, n);
    exact.output_grad = first_head(input_.output_grad, rows);
    const auto plan = resolve(call_, check_extents(exact));
    const Forward<double> f = forward(*plan, exact, {});
    if (pass_ == Pass::forward) return largest_difference(saved_.output, f.output);
    const Backward<double> g = backward(*plan, exact, f, {});
    const Backward<float> mine = device_->backward(saved_);
    const double by_query = largest_difference(mine.query, g.query);
    if (rows < n) return by_query;
    return std::max(
        {by_query, largest_difference(mine.key, g.key), largest_difference(mine.value, g.value)});
  }
};

}  // namespace

std::unique_ptr<CaseExecutor> make_device_case(Backend& backend, const Case& c, std::int64_t batch,
                                               std::uint64_t seed) {
  const DeviceState state = backend.state();
  if (!state.available) fail("skipped: device {}: {}", state.name, state.about);
  if (!backend.takes(dtype_from_name(c.dtype))) {
    fail("skipped: device {} does not compute {}", state.name, c.dtype);
  }
  if (c.pass != "forward" && c.pass != "backward") {
    fail("skipped: device {} times forward and backward by themselves, not {}", state.name, c.pass);
  }
  return std::make_unique<DeviceCase>(backend, c, batch, seed);
}

}  // namespace conelab
