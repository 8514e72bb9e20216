// The command line's options that choose the parts of an attention call. Every command that takes a
// call declares them through this header.
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

/// The options' values as they were typed.
struct CallOptions {
  std::string similarity;
  std::string operation;  ///< `--operator`: a call as one word, see core/call/call_text.h.
  std::optional<std::string> map, bias, mask, weights, aggregate;
  std::vector<std::string> parameters;

  /// Returns the call that these values describe. Throws misuse if a parameter is malformed, if
  /// neither or both of `--similarity` and `--operator` were given, or if the word of `--operator`
  /// contradicts the option of one of its parts. Names and keys are checked later, by `resolve`.
  [[nodiscard]] Call call() const;
};

/// Declares the options of every part. The result holds their values once `options` has parsed the
/// arguments.
[[nodiscard]] std::shared_ptr<CallOptions> declare_call(CLI::App& options);

}  // namespace conelab
