// What files brought into the session: the operators that they set, and those which they replaced.
//
// A trained trace names its operator with its parameters, a guided example sets operators, and
// matching an entropy sets a parameter for one head. The session keeps these calls, so that it
// knows of each parameter whether a file brought it or the user typed it: a parameter is of a file
// while it has the file's value. When another file is opened, what the last one brought goes with
// it; what the user typed, and operators that the user added or changed, stay.
#pragma once

#include <string>
#include <vector>

#include "core/call/call.h"

namespace conelab::desktop {

struct MapChoice;
struct Session;

/// Operators that a file set, and what they replaced.
struct Brought {
  std::string file, group;  ///< The trace that was open then.
  std::vector<Call> calls, instead;
  int reference = -1;       ///< The index of the reference before.
  std::string family = {};  ///< The family of the explorer before; empty: it did not change.
  std::string scale = {};   ///< The scale of the colours before; empty: it did not change.
  bool own = false;         ///< Whether the file names the operator as its own.
  bool operator==(const Brought&) const = default;
};

/// Sets operators that belong to the open file, of which the first is shown in the explorer if it
/// is a cone family.
void bring(Session& session, const std::vector<Call>& calls);
/// Replaces one operator by a call that was computed for the open file.
void bring_instead(Session& session, std::size_t index, const Call& call);
/// Takes away everything that files brought.
void take_brought_away(Session& session);
/// Follows the open trace to another of its layers, or to its new content: `own` is the operator of
/// that, or null. What the user typed stays with an operator of the same similarity.
void bring_own_call(Session& session, const Call* own);
/// Returns whether something was brought for another layer of the open file.
[[nodiscard]] bool brought_for_another_layer(const Session& session);

/// Returns whether the maps have the scale that shows the structure of a trained head, whose
/// operator the open file or an example brought.
[[nodiscard]] bool shows_structure(const MapChoice& maps);

/// Where the values of an operator come from.
struct Origin {
  std::string file;               ///< Empty: from no file.
  std::vector<std::string> keys;  ///< The parameters that have the file's values.
  bool whole = false;             ///< Whether the operator is as the file set it.
  bool operator==(const Origin&) const = default;
};
[[nodiscard]] Origin origin_of(const MapChoice& maps, const Call& call);
/// Returns the call without the parameters that a file brought.
[[nodiscard]] Call without_brought(const MapChoice& maps, Call call);

}  // namespace conelab::desktop
