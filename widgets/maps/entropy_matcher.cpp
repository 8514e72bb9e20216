#include "widgets/maps/entropy_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/parse_number.h"

namespace conelab::desktop {
namespace {

/// What is to be changed: an operator of the session.
struct Wanted {
  std::size_t index = 0;
  Call before, goal;
};
struct Matched {
  std::size_t index = 0;
  Call before, after;
  std::string error = {};  ///< Why there is no such value; then the operator stays as it is.
};

Matched matched(const Wanted& wanted, const EntropyRows& rows, const Trace& trace,
                std::int64_t head, const Execution& execution) {
  Matched result{wanted.index, wanted.before, wanted.before};
  try {
    const double entropy =
        mean_row_entropy(rows, call_on_head(wanted.goal, trace, head), execution);
    const double value =
        match_entropy(rows, call_on_head(wanted.before, trace, head), entropy, execution);
    const std::string key = *sharpness_key(wanted.before);
    result.after = with_value_on_head(wanted.before, key, value, head);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    result.error = error.what();
  }
  return result;
}

}  // namespace

Call entropy_goal(const MapChoice& choice, const Call& call) {
  for (const Call& each : choice.calls) {
    if (is_attention(each) && each.similarity == "dot" && each.weights == "softmax") return each;
  }
  Call goal = plain_call("dot");
  goal.masks = call.masks;
  goal.bias = call.bias;
  for (const ParameterInfo& info : call_parameters(goal)) {
    const auto found = call.parameters.find(info.key);
    const bool own = std::string_view(info.key) == "scale";
    if (found != call.parameters.end() && !own) goal.parameters.insert(*found);
  }
  return goal;
}

EntropyMatcher::EntropyMatcher(Workspace& workspace, QObject* parent)
    : QObject(parent), workspace_(workspace) {
  connect(&workspace_, &Workspace::trace_changed, this, [this] {
    job_.cancel();
    forget_error();
  });
}

bool EntropyMatcher::can_match(std::size_t index) const {
  const MapChoice& choice = workspace_.document().session().maps;
  if (index >= choice.calls.size()) return false;
  const Call& call = choice.calls[index];
  return sharpness_key(call) && !(call == entropy_goal(choice, call));
}

void EntropyMatcher::match(const std::vector<std::size_t>& indices) {
  const MapChoice& choice = workspace_.document().session().maps;
  const auto& head = workspace_.head();
  if (!head || !workspace_.trace()) return;
  std::vector<Wanted> wanted;
  for (const std::size_t i : indices) {
    if (can_match(i)) wanted.push_back({i, choice.calls[i], entropy_goal(choice, choice.calls[i])});
  }
  if (wanted.empty()) return;
  error_.clear();
  const std::int64_t index = workspace_.document().session().trace.head;
  const EntropyRows rows{head, map_tokens(*workspace_.trace(), head->batch_index, [&] {
                           MapChoice of_tokens = choice;
                           of_tokens.merge_words = false;
                           return of_tokens;
                         }())};
  using Result = std::vector<Matched>;
  job_ = workspace_.jobs().start<Result>(
      "matching the entropy of dot",
      [wanted, rows, trace = workspace_.trace(), index](const JobContext& context) {
        Execution execution;
        execution.cancelled = context.cancel_check();
        execution.progress = context.progress_report();
        Result result;
        for (const Wanted& one : wanted) {
          result.push_back(matched(one, rows, *trace, index, execution));
        }
        return result;
      },
      [this](Result result) {
        workspace_.document().edit(tr("match the entropy of dot"), [&](Session& s) {
          for (const Matched& one : result) {
            if (one.index >= s.maps.calls.size()) continue;
            Call& call = s.maps.calls[one.index];
            if (call == one.before) call = one.after;
          }
        });
        for (const Matched& one : result) {
          if (!one.error.empty()) error_ = one.error;
        }
        emit changed();
      },
      [this](const std::string& message) {
        if (message != job_cancelled) error_ = message;
        emit changed();
      },
      true);
  emit changed();
}

void EntropyMatcher::forget_error() {
  if (error_.empty()) return;
  error_.clear();
  emit changed();
}

namespace {

constexpr double least_value = 1e-6, most_value = 1e6;
/// Bisections of the range of the logarithm, until the sixth digit is known.
constexpr int bisections = 26;

/// Returns the entropy of the softmax of a row of logits; NaN if there is none.
double entropy_of_row(const double* logits, std::int64_t count, const MapTokens& tokens) {
  const auto is_kept = [&](std::int64_t c) {
    const bool excluded = tokens.excludes && tokens.key.special[static_cast<std::size_t>(c)] != 0;
    return !excluded && !(std::isinf(logits[c]) && logits[c] < 0);
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
  const auto plan = resolve(call_of_head, check_extents(rows.head->exact));
  const PairMap<double> pairs(*plan, rows.head->exact);
  const std::int64_t queries = plan->extents.query, keys = plan->extents.key;
  const std::int64_t wanted =
      std::max<std::int64_t>(16, rows.most_pairs / std::max<std::int64_t>(keys, 1));
  const std::int64_t step = std::max<std::int64_t>(1, queries / wanted);
  std::vector<double> logits(static_cast<std::size_t>(keys));
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < queries; r += step) {
    if (execution.cancelled && execution.cancelled()) {
      throw Error(ErrorKind::interrupted, "cancelled");
    }
    const auto row = static_cast<std::size_t>(r);
    if (rows.tokens.excludes && rows.tokens.query.special[row] != 0) continue;
    pairs.tile(Map2d::logits, nullptr, {0, 0, r, r + 1, 0, keys}, logits.data());
    const double entropy = entropy_of_row(logits.data(), keys, rows.tokens);
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

}  // namespace conelab::desktop
