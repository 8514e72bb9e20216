// The options that choose the parts of a call. Every command that takes a call has them.
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
  std::string operation;  ///< A call as one word: an operator and what differs from the defaults.
  std::vector<std::optional<std::string>> fields;  ///< In the order of call_fields().
  std::vector<std::string> parameters;

  /// Throws misuse for malformed parameters, if neither `--similarity` nor `--operator` was given,
  /// and if the word of the latter contradicts the option of a part. Names and keys are checked by
  /// `resolve`.
  [[nodiscard]] Call call() const;
};

/// Declares the options of every part. Their help and the allowed names come from the tables.
[[nodiscard]] std::shared_ptr<CallOptions> declare_call(CLI::App& options);

}  // namespace conelab
