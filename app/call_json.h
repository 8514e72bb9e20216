// A call as JSON and as the arguments of the command line, and back. What a result file keeps as
// its `spec`, and what "copy as command" puts on the clipboard.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/call/call.h"

namespace conelab {

/// An object with the fields of the call (core/call/call.h) and "parameters", which are numbers,
/// lists of numbers or words. A structured operator stands in "operator"; its other fields, and
/// "map" and "position" of any call, are there only where they are not the default.
[[nodiscard]] nlohmann::ordered_json call_to_json(const Call& call);

/// The inverse; absent members keep their defaults. Throws misuse for unknown members and for
/// values of another type.
[[nodiscard]] Call call_from_json(const nlohmann::ordered_json& json);

/// "--similarity", "penumbral", "-p", "gamma=2", ...; defaults are left out.
[[nodiscard]] std::vector<std::string> call_arguments(const Call& call);

/// Words as one line for a POSIX shell, quoted where needed.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

/// `-p KEY=VALUE` arguments as a map. Throws misuse where `=` or the key is missing, or a key comes
/// twice.
[[nodiscard]] std::map<std::string, std::string> parse_parameters(
    const std::vector<std::string>& arguments);

/// "a,b,c" in its parts; empty parts are misuse, which names `what`.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text, const std::string& what);

}  // namespace conelab
