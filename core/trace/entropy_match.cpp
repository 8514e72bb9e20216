#include "core/trace/entropy_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

constexpr double least_value = 1e-6, most_value = 1e6;
/// Bisections of the range of the logarithm, until the sixth digit is known.
constexpr int bisections = 26;

bool is_left_out(const std::vector<std::uint8_t>& left_out, std::int64_t i) {
  return !left_out.empty() && left_out[static_cast<std::size_t>(i)] != 0;
}

/// Returns the entropy of the softmax of a row of logits; NaN if there is none.
double entropy_of_row(const double* logits, std::int64_t count,
                      const std::vector<std::uint8_t>& left_out) {
  const auto is_kept = [&](std::int64_t c) {
    return !is_left_out(left_out, c) && !(std::isinf(logits[c]) && logits[c] < 0);
  };
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < count; ++c) {
    if (is_kept(c)) most = std::isnan(logits[c]) ? logits[c] : std::max(most, logits[c]);
  }
  if (!std::isfinite(most)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0, weighted = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    if (!is_kept(c)) continue;
    const double w = std::exp(logits[c] - most);
    sum += w;
    weighted += w * (logits[c] - most);
  }
  return std::log(sum) - weighted / sum;
}

std::string text_of(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

std::optional<std::string> sharpness_key(const Call& call) {
  if (!is_attention(call) || call.weights != "softmax") return std::nullopt;
  const auto axis = call.parameters.find("axis");
  if (axis != call.parameters.end() && axis->second.text() != "key") return std::nullopt;
  for (const ParameterInfo& info : call_parameters(call)) {
    const std::string key = info.key;
    if (key == "gamma" || key == "scale" || key == "beta") return key;
  }
  return std::nullopt;
}

double mean_row_entropy(const EntropyRows& rows, const Call& call_of_head,
                        const Execution& execution) {
  const PairCall<double> call = pair_call(call_of_head, rows.head->exact);
  const PairMap<double> pairs(*call.plan, call.input);
  const std::int64_t queries = call.plan->extents.query, keys = call.plan->extents.key;
  const std::int64_t wanted =
      std::max<std::int64_t>(16, rows.most_pairs / std::max<std::int64_t>(keys, 1));
  const std::int64_t step = std::max<std::int64_t>(1, queries / wanted);
  std::vector<double> logits(static_cast<std::size_t>(keys));
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < queries; r += step) {
    stop_if(execution.cancelled);
    if (is_left_out(rows.query_left_out, r)) continue;
    pairs.tile(Map2d::logits, nullptr, {0, 0, r, r + 1, 0, keys}, logits.data());
    const double entropy = entropy_of_row(logits.data(), keys, rows.key_left_out);
    if (std::isnan(entropy)) continue;
    sum += entropy;
    ++count;
  }
  return sum / static_cast<double>(count);
}

double match_entropy(const EntropyRows& rows, Call call_of_head, double entropy,
                     const Execution& execution) {
  const std::optional<std::string> key = sharpness_key(call_of_head);
  if (!key) fail("{} has no parameter that multiplies its logits", operator_name(call_of_head));
  const auto at = [&](double log_value) {
    call_of_head.parameters[*key] = std::exp(log_value);
    return mean_row_entropy(rows, call_of_head, execution);
  };
  double low = std::log(least_value), high = std::log(most_value);
  if (!(at(low) > entropy && at(high) < entropy)) {
    fail("no {} of {} from {} to {} gives a mean entropy of {} nats", *key,
         operator_name(call_of_head), least_value, most_value, text_of(entropy));
  }
  for (int i = 0; i < bisections; ++i) {
    if (execution.progress) execution.progress(static_cast<double>(i) / bisections);
    const double middle = (low + high) / 2;
    (at(middle) > entropy ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

Call with_value_on_head(Call call, const std::string& key, double value, std::int64_t head) {
  value = parse_number(text_of(value)).value_or(value);  // Six digits, as the match knows them.
  Value& given = call.parameters[key];
  std::vector<double> list = given.lists().size() == 1 ? given.lists().front() : std::vector{value};
  const auto at = static_cast<std::size_t>(head);
  if (list.size() < 2 || at >= list.size())
    list.assign(1, value);
  else
    list[at] = value;
  given = list;
  return call;
}

}  // namespace conelab
