// Text of any kind as LaTeX that compiles with latex-base alone.
#pragma once

#include <string>

namespace conelab {

/// Returns the text with LaTeX's special characters escaped. Latin letters with accents stay, Greek
/// letters and common signs become mathematics, and any other character its code point: U+4E2D.
[[nodiscard]] std::string latex_text(const std::string& text);

/// Does the same for a command, a path or a digest, which may be broken at any of their marks, and
/// after 16 letters or digits.
[[nodiscard]] std::string latex_code(const std::string& text);

}  // namespace conelab
