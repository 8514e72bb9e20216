// The manual's topic `reference`, made from the tables of operators and parts.
#pragma once

#include <string>

namespace conelab {

/// Returns Markdown: formula, paper, parameters and defaults of every row.
/// resources/manual/reference.md is a copy of it.
[[nodiscard]] std::string reference_text();

}  // namespace conelab
