// The options that choose the parts of an attention call; shared by every command that takes one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/call/call.h"

namespace CLI {
class App;
}

namespace conelab {

/// What was typed; `call` turns it into data.
struct CallOptions {
  std::string similarity;
  std::string operation;  ///< A call as one word: a name and what differs from the defaults.
  std::optional<std::string> map, bias, mask, weights, aggregate;
  std::vector<std::string> parameters;

  /// Throws misuse for malformed parameters, where neither or both of `--similarity` and
  /// `--operator` were given, and where the word of the latter says of a part something else than
  /// that part's own option. Names and keys are checked by `resolve`.
  [[nodiscard]] Call call() const;
};

/// Declares the options of every part.
[[nodiscard]] std::shared_ptr<CallOptions> declare_call(CLI::App& options);

}  // namespace conelab
