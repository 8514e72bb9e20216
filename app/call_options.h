// The options that choose the parts of an attention call; shared by every command that takes one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/attention/call.h"

namespace CLI {
class App;
}

namespace conelab {

/// What was typed; `call` turns it into data.
struct CallOptions {
  std::string similarity, operator_name, map, bias = "none", mask = "full", weights = "softmax",
                                              aggregate = "mean";
  std::vector<std::string> parameters;

  /// Throws misuse for malformed parameters, and where neither or both of `--similarity` and
  /// `--operator` were given. Names and keys are checked by `resolve`.
  [[nodiscard]] Call call() const;
};

/// Declares the options of every part.
[[nodiscard]] std::shared_ptr<CallOptions> declare_call(CLI::App& options);

}  // namespace conelab
