// Synthetic benchmark runs with the noise of real machines, to show what the statistics cover.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/statistics/order.h"

namespace conelab::fixtures {

/// quiet: 2 % log-normal. skewed: delays that only add (exponential, mean 10 %). drift: 2 % and a
/// random walk of 1 % a sample on a trend of 30 % over the run. bursts: 2 % and episodes, some
/// samples long, in which everything takes 1.6 times as long. hits: 2 % and a tenth of the samples
/// alone takes 1.3 to 2.3 times as long. heavy: the logarithm has Cauchy tails, scale 2 %. walk: a
/// random walk of 3 % a sample.
enum class Noise { quiet, skewed, drift, bursts, hits, heavy, walk };
inline constexpr Noise every_noise[] = {Noise::quiet, Noise::skewed, Noise::drift, Noise::bursts,
                                        Noise::hits,  Noise::heavy,  Noise::walk};

inline std::string noise_name(Noise noise) {
  const char* names[] = {"quiet", "skewed", "drift", "bursts", "hits", "heavy", "walk"};
  return names[static_cast<int>(noise)];
}

/// The factors by which the samples of one run are slower than the truth, in order of time.
inline std::vector<double> slowdowns(Noise noise, int samples, Random& random) {
  std::vector<double> factors;
  double walk = 0;
  bool burst = false;
  for (int i = 0; i < samples; ++i) {
    double log_factor = 0.02 * random.normal();
    if (noise == Noise::skewed) {
      log_factor = std::log1p(-0.1 * std::log(1 - random.uniform()));
    }
    if (noise == Noise::drift) {
      walk += 0.01 * random.normal();
      log_factor += walk + 0.3 * i / samples;
    }
    if (noise == Noise::bursts) {
      burst = burst ? random.uniform() > 0.2 : random.uniform() < 0.05;
      log_factor += burst ? std::log(1.6) : 0;
    }
    if (noise == Noise::hits && random.uniform() < 0.1) {
      log_factor += std::log(1.3 + random.uniform());
    }
    if (noise == Noise::heavy) log_factor /= std::abs(random.normal());
    if (noise == Noise::walk) log_factor += walk += 0.03 * random.normal();
    factors.push_back(std::exp(log_factor));
  }
  return factors;
}

/// Times [case][round] of cases with the given true times, interleaved in balanced random order.
inline std::vector<std::vector<double>> simulate(const std::vector<double>& truth, int rounds,
                                                 Noise noise, Random& random) {
  const int cases = static_cast<int>(truth.size());
  const std::vector<double> factors = slowdowns(noise, cases * rounds, random);
  const auto orders = balanced_orders(cases, rounds, random.next());
  std::vector<std::vector<double>> times(truth.size(),
                                         std::vector<double>(static_cast<std::size_t>(rounds)));
  std::size_t sample = 0;
  for (std::size_t r = 0; r < orders.size(); ++r) {
    for (const int c : orders[r]) {
      const auto i = static_cast<std::size_t>(c);
      times[i][r] = truth[i] * factors[sample++];
    }
  }
  return times;
}

}  // namespace conelab::fixtures
