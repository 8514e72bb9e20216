// Adam (Kingma, Ba 2015): descent by gradients whose steps have the scale of the rate, whatever the
// scale of the gradient.
//
//   m += (1 − b1)(g − m),  s += (1 − b2)(g² − s),
//   x −= rate (m / (1 − b1^t)) / (√(s / (1 − b2^t)) + tiny)
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace conelab {

/// The moments of one list of numbers. The first decay b1 is 0.9.
class Adam {
 public:
  explicit Adam(double second_decay = 0.999, double tiny = 1e-8)
      : second_decay_(second_decay), tiny_(tiny) {}

  /// Makes one step. `x` and `gradient` have the same size, and that of all earlier steps.
  void step(std::span<double> x, std::span<const double> gradient, double rate) {
    mean_.resize(x.size());
    square_.resize(x.size());
    ++steps_;
    const double first = 1 - std::pow(first_decay, steps_);
    const double second = 1 - std::pow(second_decay_, steps_);
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_[i] += (1 - first_decay) * (gradient[i] - mean_[i]);
      square_[i] += (1 - second_decay_) * (gradient[i] * gradient[i] - square_[i]);
      x[i] -= rate * (mean_[i] / first) / (std::sqrt(square_[i] / second) + tiny_);
    }
  }
  /// Passes the numbers that later steps depend on, which may be changed: a list or a number each.
  template <class Take>
  void visit(Take&& take) {
    take(mean_), take(square_), take(steps_);
  }

 private:
  static constexpr double first_decay = 0.9;
  double second_decay_, tiny_;
  std::vector<double> mean_, square_;
  double steps_ = 0;
};

/// Returns a rate that falls linearly from `first`, in step 0, towards a tenth of it.
[[nodiscard]] inline double falling_rate(double first, std::int64_t step, std::int64_t steps) {
  return first * (1 - 0.9 * static_cast<double>(step) / static_cast<double>(steps));
}

}  // namespace conelab
