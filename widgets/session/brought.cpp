#include "widgets/session/brought.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/base/names.h"
#include "core/geometry/cone_family.h"
#include "widgets/session/session.h"

namespace conelab::desktop {
namespace {

/// Trained heads have few large weights, beside which a linear scale shows nothing else.
constexpr const char* structure_scale = "row";

/// Returns whether a call has the value of a parameter that `of_file` set.
bool has_value_of(const Call& call, const Call& of_file, const std::string& key) {
  const auto mine = call.parameters.find(key), its = of_file.parameters.find(key);
  return operator_name(call) == operator_name(of_file) && mine != call.parameters.end() &&
         its != of_file.parameters.end() && mine->second == its->second;
}

/// Returns the call with the values of `now` wherever it has those of `before`; what differs from
/// `before` was typed, and stays.
Call with_values_of(Call call, const Call& before, const Call& now) {
  if (operator_name(call) != operator_name(before)) return call;
  std::set<std::string> keys;
  for (const Call* each : {&before, &now}) {
    for (const auto& [key, value] : each->parameters) keys.insert(key);
  }
  const auto value_of = [](const Call& of, const std::string& key) -> std::optional<Value> {
    const auto found = of.parameters.find(key);
    return found == of.parameters.end() ? std::nullopt : std::optional(found->second);
  };
  for (const std::string& key : keys) {
    if (value_of(call, key) != value_of(before, key)) continue;
    const std::optional<Value> value = value_of(now, key);
    value ? static_cast<void>(call.parameters[key] = *value)
          : static_cast<void>(call.parameters.erase(key));
  }
  return call;
}

/// Removes the parameters of the explorer that are a file's, as after a point was dragged in the
/// plane of its tokens.
void take_from_explorer(ConeChoice& cones, const Call& brought) {
  for (const auto& [key, value] : brought.parameters) {
    const auto found = cones.parameters.find(key);
    if (found == cones.parameters.end()) continue;
    for (const std::vector<double>& heads : value.lists()) {
      if (!contains(heads, found->second)) continue;
      cones.parameters.erase(found);
      break;
    }
  }
}

/// Takes away what one file brought. Where its operators stand unchanged, those return which they
/// replaced.
void take_away(Session& session, const Brought& brought) {
  std::vector<Call> calls;
  bool returned = false;
  for (const Call& call : session.maps.calls) {
    if (!contains(brought.calls, call)) {
      calls.push_back(call);
      for (const Call& its : brought.calls) {
        for (const auto& [key, value] : its.parameters) {
          if (has_value_of(call, its, key)) calls.back().parameters.erase(key);
        }
      }
    } else if (!returned) {
      calls.insert(calls.end(), brought.instead.begin(), brought.instead.end());
      returned = true;
    }
  }
  session.maps.calls = std::move(calls);
  for (const Call& its : brought.calls) take_from_explorer(session.cones, its);
  const bool family_stands =
      !brought.family.empty() && session.cones.family == brought.calls.front().similarity;
  if (family_stands) session.cones.family = brought.family;
  if (!brought.scale.empty() && session.maps.scale == structure_scale) {
    session.maps.scale = brought.scale;
  }
  if (returned && session.maps.calls == brought.instead) {
    session.maps.reference = brought.reference;
  } else if (brought.calls.size() != brought.instead.size()) {
    session.maps.reference = -1;
  }
}

}  // namespace

void bring(Session& session, const std::vector<Call>& calls) {
  MapChoice& maps = session.maps;
  Brought brought{session.trace.file, session.trace.group, calls, maps.calls, maps.reference};
  const std::string& family = calls.front().similarity;
  if (geometry::find_cone_family(family) != nullptr && session.cones.family != family) {
    brought.family = std::exchange(session.cones.family, family);
  }
  maps.calls = calls;
  maps.reference = -1;
  maps.brought.push_back(std::move(brought));
}

void bring_instead(Session& session, std::size_t index, const Call& call) {
  MapChoice& maps = session.maps;
  const Call before = std::exchange(maps.calls.at(index), call);
  if (call == before) return;
  const TraceChoice& open = session.trace;
  maps.brought.push_back({open.file, open.group, {call}, {before}, maps.reference});
}

/// The last one goes first: a value that was matched stands in an operator that the file set.
void take_brought_away(Session& session) {
  while (!session.maps.brought.empty()) {
    take_away(session, session.maps.brought.back());
    session.maps.brought.pop_back();
  }
}

void bring_own_call(Session& session, const Call* own) {
  std::vector<Brought>& all = session.maps.brought;
  const auto its = std::ranges::find_if(
      all, [&](const Brought& each) { return each.own && each.file == session.trace.file; });
  const bool found = its != all.end();
  if (own == nullptr) return found ? take_brought_away(session) : void();
  if (!found || operator_name(*own) != operator_name(its->calls.front())) {
    std::string& scale = session.maps.scale;
    const bool chooses_scale = !found || (!its->scale.empty() && scale == structure_scale);
    take_brought_away(session);
    bring(session, {*own});
    Brought& now = session.maps.brought.back();
    now.own = true;
    const bool usual = scale == figure::heat_scale_names[0];
    if (chooses_scale && usual) now.scale = std::exchange(scale, structure_scale);
    return;
  }
  const Call before = std::exchange(its->calls.front(), *own);
  its->group = session.trace.group;
  const auto follow = [&](std::vector<Call>& calls) {
    for (Call& call : calls) call = with_values_of(std::move(call), before, *own);
  };
  follow(session.maps.calls);
  for (auto later = std::next(its); later != all.end(); ++later) {
    follow(later->calls), follow(later->instead);
  }
}

bool brought_for_another_layer(const Session& session) {
  const TraceChoice& open = session.trace;
  return std::ranges::any_of(session.maps.brought, [&](const Brought& each) {
    return each.file == open.file && each.group != open.group;
  });
}

bool shows_structure(const MapChoice& maps) {
  return maps.scale == structure_scale && !maps.brought.empty();
}

Origin origin_of(const MapChoice& maps, const Call& call) {
  Origin origin;
  for (const Brought& brought : maps.brought) {
    for (const Call& its : brought.calls) {
      const bool whole = call == its;
      for (const auto& [key, value] : call.parameters) {
        const bool known = contains(origin.keys, key);
        if (!known && has_value_of(call, its, key)) origin.keys.push_back(key);
      }
      if (whole || !origin.keys.empty()) origin.file = brought.file;
      origin.whole = origin.whole || whole;
    }
  }
  return origin;
}

Call without_brought(const MapChoice& maps, Call call) {
  for (const std::string& key : origin_of(maps, call).keys) call.parameters.erase(key);
  return call;
}

}  // namespace conelab::desktop
