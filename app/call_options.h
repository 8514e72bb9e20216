// The options that choose the parts of a call. Every command that takes a call has them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/call/call.h"
#include "core/files/tensor_source.h"

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

/// Declares the options that say how the arrays of an input are read.
void declare_reading(CLI::App& options, Reading& reading);
/// Declares the first of them alone, for commands that take arrays as they are.
void declare_external(CLI::App& options, bool& allow_external);

}  // namespace conelab
