// Figure `determinant`: how well volume-preserving attention preserves volume.
//
// |det d output / d q| over the sequence length: the median and the middle half of several draws of
// random tokens and matrices A, for both weightings and for softmax attention of q, k = q and v =
// q. The manual of GeometricMachineLearning calls both weightings volume-preserving; only the skew
// one is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/figure/figure_input.h"
#include "core/operators/jacobian.h"

namespace conelab::figure {
namespace {

struct Draws {
  std::int64_t dim, longest, count;
  std::uint64_t seed;
  Execution run;
};

Draws draws_of(const FigureInput& input) {
  const auto whole = [&](const char* key, std::size_t least, std::size_t most) {
    const std::size_t value = whole_number(key, input.value(key));
    if (value < least || value > most) {
      misuse("-p {}={}: expected a whole number from {} to {}", key, value, least, most);
    }
    return value;
  };
  Execution run;
  run.cancelled = input.cancelled;
  const Draws draws{static_cast<std::int64_t>(whole("dim", 1, most_jacobian_rows)),
                    static_cast<std::int64_t>(whole("longest", 1, most_jacobian_rows)),
                    static_cast<std::int64_t>(whole("draws", 1, 1000000)),
                    whole("seed", 0, SIZE_MAX), run};
  if (draws.dim > most_jacobian_rows / draws.longest) {
    misuse("a Jacobian has at most {} rows (found longest={} times dim={})", most_jacobian_rows,
           draws.longest, draws.dim);
  }
  return draws;
}

std::vector<std::int64_t> lengths_to(std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= longest; n *= 2) {
    lengths.push_back(n);
    if (n > 1 && n + n / 2 <= longest) lengths.push_back(n + n / 2);
  }
  return lengths;
}

Call call_of(const char* weighting) {
  Call call;
  if (weighting == nullptr) {
    call.similarity = "dot";
  } else {
    call.operation = "volume-preserving";
    call.parameters = {{"A", "random"}, {"weighting", weighting}};
  }
  return call;
}

double log_magnitude(const Call& call, std::int64_t n, std::int64_t d, std::uint64_t seed,
                     const Execution& run) {
  Random random(seed);
  AttentionInput<double> input;
  Tensor4<double> tokens({1, 1, n, d});
  for (double& x : tokens.data) x = random.normal();
  input.query = input.key = input.value = std::move(tokens);
  const auto plan = draw_tensors(call, input, seed);
  return jacobian_determinants(*plan, input, {}, run).front().log_magnitude;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

ScalingSeries series_of(const char* name, const Call& call, const Draws& draws) {
  ScalingSeries series;
  series.name = name;
  for (const std::int64_t n : lengths_to(draws.longest)) {
    std::vector<double> logs;
    for (std::int64_t draw = 0; draw < draws.count; ++draw) {
      const std::uint64_t seed = draws.seed + static_cast<std::uint64_t>(draw);
      logs.push_back(log_magnitude(call, n, draws.dim, seed, draws.run));
    }
    std::ranges::sort(logs);
    series.x.push_back(static_cast<double>(n));
    series.y.push_back(std::exp(quantile(logs, 0.5)));
    series.low.push_back(std::exp(quantile(logs, 0.25)));
    series.high.push_back(std::exp(quantile(logs, 0.75)));
  }
  return series;
}

}  // namespace

DisplayList make_determinant(const FigureInput& input) {
  const Draws draws = draws_of(input);
  ScalingFigure figure;
  figure.series = {series_of("volume-preserving, skew", call_of("skew"), draws),
                   series_of("volume-preserving, arbitrary", call_of("arbitrary"), draws),
                   series_of("softmax attention", call_of(nullptr), draws)};
  figure.y_title = "|det| of the Jacobian";
  figure.guides.clear();
  figure.coverage = 0.5;
  figure.caption = input.described(fmt::format(
      "Jacobian of the output by all tokens q (k and v are q), whose numbers are drawn from "
      "N(0, 1), d = {}; {} draws",
      draws.dim, draws.count));
  FigureInput page = input;
  page.parameters.clear();  // The caption has been read.
  if (page.metadata.title.empty()) page.metadata.title = "What attention does to volumes";
  if (page.metadata.seed.empty()) page.metadata.seed = std::to_string(draws.seed);
  return finished(std::move(figure), page, draw_scaling);
}

}  // namespace conelab::figure
