#include "widgets/maps/entropy_matcher.h"

#include <algorithm>

#include "core/base/error.h"

namespace conelab::desktop {
namespace {

/// An operator of the session that is to be changed.
struct Match {
  std::size_t index = 0;
  Call before, goal;
  Call after = before;
  std::string error = {};  ///< Why there is no such value; then the operator stays as it is.
};

void find_sharpness(Match& match, const EntropyRows& rows, const Trace& trace, std::int64_t head,
                    const Execution& execution) {
  try {
    const double entropy = mean_row_entropy(rows, call_on_head(match.goal, trace, head), execution);
    const double value =
        match_entropy(rows, call_on_head(match.before, trace, head), entropy, execution);
    match.after = with_value_on_head(match.before, *sharpness_key(match.before), value, head);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    match.error = error.what();
  }
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

EntropyMatcher::EntropyMatcher(Workspace& workspace) : workspace_(workspace) {
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
  std::vector<Match> all;
  for (const std::size_t i : indices) {
    if (can_match(i)) all.push_back({i, choice.calls[i], entropy_goal(choice, choice.calls[i])});
  }
  if (all.empty()) return;
  error_.clear();
  const std::int64_t index = workspace_.document().session().trace.head;
  EntropyRows rows{.head = head};
  if (excludes_special(choice)) {
    MapChoice of_tokens = choice;
    of_tokens.merge_words = false;
    MapTokens tokens = map_tokens(*workspace_.trace(), head->batch_index, of_tokens);
    rows.query_left_out = std::move(tokens.query.special);
    rows.key_left_out = std::move(tokens.key.special);
  }
  job_ = workspace_.jobs().start<std::vector<Match>>(
      "matching the entropy of dot",
      [all, rows, trace = workspace_.trace(), index](const PoolContext& context) mutable {
        const Execution execution = context.execution(true);
        for (Match& one : all) find_sharpness(one, rows, *trace, index, execution);
        return all;
      },
      [this](const std::vector<Match>& result) {
        workspace_.document().edit(tr("match the entropy of dot"), [&](Session& s) {
          for (const Match& one : result) {
            if (one.index >= s.maps.calls.size()) continue;
            if (s.maps.calls[one.index] != one.before) continue;
            bring_instead(s, one.index, one.after);  // It suits this head only.
          }
        });
        for (const Match& one : result) {
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

}  // namespace conelab::desktop
