// The manual's texts, which the build copies from resources/manual into the program.
#pragma once

#include <span>
#include <string_view>

namespace conelab {

/// One file of the manual. Its first line is the heading "# Title: what it covers".
struct ManualTopic {
  std::string_view name;  ///< The file's name without its ending.
  std::string_view text;  ///< Markdown, without its images.
};

/// Returns all topics in alphabetical order.
[[nodiscard]] std::span<const ManualTopic> manual_topics();

}  // namespace conelab
