#include <array>
#include <cmath>

#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {
namespace {

constexpr double full_turn = 6.283185307179586477;
/// More steps of the fixed-point iteration change nothing for time steps up to 0.5: each gains a
/// factor of at least 2, and most a factor of 1 / step.
constexpr int midpoint_steps = 60;

using Vector3 = std::array<double, 3>;

/// One step of the implicit midpoint rule for ż = (z₂z₃, −z₁z₃/2, −z₁z₂/2). Moments of inertia 1, 2
/// and 2/3 give these factors. The rule keeps quadratic invariants: |z|², and z₂² − z₃².
Vector3 midpoint_step(const Vector3& z, double step) {
  Vector3 next = z;
  for (int i = 0; i < midpoint_steps; ++i) {
    const double a = (z[0] + next[0]) / 2, b = (z[1] + next[1]) / 2, c = (z[2] + next[2]) / 2;
    next = {z[0] + step * (b * c), z[1] - step * (a * c) / 2, z[2] - step * (a * b) / 2};
  }
  return next;
}

template <class Append>
MadeData series(const KeyValues& keys, std::size_t features, const Append& append) {
  Random random(static_cast<std::uint64_t>(keys.whole("seed")));
  const auto length = static_cast<std::size_t>(keys.whole("length"));
  const auto sequences = static_cast<std::size_t>(keys.whole("sequences"));
  std::vector<double> values, times;
  for (std::size_t i = 0; i < length; ++i)
    times.push_back(static_cast<double>(i) * keys.number("step"));
  for (std::size_t i = 0; i < sequences; ++i) append(random, times, values);
  LabelledArray group;
  group.axes = {counted_axis("sequence", sequences),
                {"time", std::move(times)},
                counted_axis("feature", features)};
  group.variables = {{"value", {"sequence", "time", "feature"}, std::move(values)}};
  group.signal = "value";
  return {{}, {{"series", std::move(group)}}, {}};
}

}  // namespace

// Series begin alternately at (0, sin a, cos a) and (sin a, 0, cos a), as in the manual of
// GeometricMachineLearning, with a uniform angle a.
MadeData rigid_body(const KeyValues& keys) {
  std::size_t axis = 1;
  return series(keys, 3, [&](Random& random, const auto& times, std::vector<double>& values) {
    const double angle = random.uniform() * full_turn;
    Vector3 z = {0, 0, portable::cos(angle)};
    z[std::exchange(axis, 1 - axis)] = portable::sin(angle);
    for (std::size_t i = 0; i < times.size(); ++i) {
      values.insert(values.end(), z.begin(), z.end());
      z = midpoint_step(z, keys.number("step"));
    }
  });
}

MadeData sine_cosine(const KeyValues& keys) {
  return series(keys, 2, [](Random& random, const auto& times, std::vector<double>& values) {
    const double phase = random.uniform() * full_turn;
    for (const double time : times) {
      const double angle = phase + std::fmod(time, full_turn);
      values.insert(values.end(), {portable::sin(angle), portable::cos(angle)});
    }
  });
}

}  // namespace conelab
