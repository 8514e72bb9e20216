// The guided examples: a question about the shipped trace, the session in which it is answered, and
// the steps that lead to the answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "widgets/session/document.h"

namespace conelab::desktop {

/// What a step looks at to see whether it has been done.
struct GuideView {
  const Document& document;
  bool flipped = false;  ///< Whether every map shows the reference.
};

/// One step of an example: what to do, and whether it has been done.
struct GuideStep {
  const char* text;
  std::function<bool(const GuideView&)> done;
};

struct Example {
  const char* title;
  const char* question;
  Session session;
  std::vector<GuideStep> steps;
  const char* answer;
};

/// Returns the examples with the shipped trace and the trained heads beside it.
[[nodiscard]] std::vector<Example> examples(const std::string& shipped_trace);

}  // namespace conelab::desktop
