// The rows of the tables as JSON: what `conelab list WHAT --json` prints, and what the other lists
// and the manual's reference of operators are made from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/job_field.h"

namespace conelab {

struct Listing {
  std::string_view name;  ///< What `conelab list` calls it: "masks".
  Json (*rows)();         ///< Returns an array with one object for each row.
};
[[nodiscard]] std::vector<std::string> listing_names();
/// Throws misuse for an unknown name, with the known ones.
[[nodiscard]] const Listing& find_listing(const std::string& name);

/// Returns the formula of a row with its paper, and with its variants, if it has any.
[[nodiscard]] std::string formula_text(const Json& row);
[[nodiscard]] std::string erratum_text(const Json& erratum);
/// Returns the default of a parameter that is no tensor: its value, the words of a default that
/// depends on the input, or "(needed)".
[[nodiscard]] std::string default_text(const Json& parameter);
/// Returns the text with line breaks between words. It starts at column `indent`, and so do the
/// lines after the first.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace conelab
