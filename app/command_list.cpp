// `conelab list WHAT`: lists the parts with formulas, parameters and defaults.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/list_rows.h"
#include "app/output.h"
#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {
namespace {

/// Returns what a list shows as the value of a parameter: its default if that is a number, the
/// words of a choice, the default first, or the axes of a tensor.
std::string value_text(const Json& p) {
  if (p.contains("shape")) return "[" + p["shape"].get<std::string>() + "]";
  if (p.contains("choices")) return p["choices"].get<std::string>();
  if (p.contains("computed")) return "from the input";
  return default_text(p);
}

void print_parameters(const Json& part) {
  std::size_t width = 0;
  for (const Json& p : part["parameters"]) {
    if (p.contains("shared")) continue;
    width = std::max(width, p["key"].get_ref<const std::string&>().size());
  }
  for (const Json& p : part["parameters"]) {
    if (p.contains("shared")) continue;
    const std::string value = value_text(p);
    say("      -p {:<{}} = {:<16} {}{}", p["key"].get<std::string>(), width, value,
        p["about"].get<std::string>(),
        p.contains("computed") ? "; default " + default_text(p) : "");
  }
}

void print_rows(const Json& rows) {
  std::size_t width = 0;
  for (const Json& row : rows) {
    width = std::max(width, row["name"].get_ref<const std::string&>().size());
  }
  for (const Json& row : rows) {
    std::string map =
        row.contains("default_map") ? " [map " + row["default_map"].get<std::string>() + "]" : "";
    if (row.contains("cost")) map += " [cost " + row["cost"].get<std::string>() + "]";
    if (row.contains("parts"))
      map += " [" + join(row["parts"].get<std::vector<std::string>>()) + "]";
    say("  {:<{}}  {}", row["name"].get<std::string>(), width,
        wrapped(formula_text(row) + map, width + 4));
    if (row.contains("parameters")) print_parameters(row);
    if (row.contains("conditions")) {
      say("      {}", wrapped(row["conditions"].get<std::string>(), 6));
    }
    for (const Json& e : row.value("errata", Json::array())) {
      say("      {}", wrapped(erratum_text(e), 6));
    }
  }
}

/// Names the parameters that rows share, if they share any, once.
void print_shared(const Json& rows) {
  std::string shared;
  for (const Json& p : rows.front().value("parameters", Json::array())) {
    if (!p.contains("shared")) continue;
    shared += fmt::format("{}{}", shared.empty() ? "" : ", ", p["key"].get<std::string>());
    if (p.contains("shape")) shared += fmt::format(" [{}]", p["shape"].get<std::string>());
  }
  if (!shared.empty()) say("{}", wrapped("Every similarity also takes " + shared + ".", 0));
}

void print_devices(const Json& rows) {
  for (const Json& row : rows) {
    say("  {}: {}", row["name"].get<std::string>(), row["about"].get<std::string>());
  }
}

}  // namespace

Action declare_list(CLI::App& options) {
  struct Typed {
    std::string what;
    bool json = false;
  };
  const auto typed = std::make_shared<Typed>();
  options.add_option("WHAT", typed->what, join(listing_names()));
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] {
    if (typed->what.empty()) misuse("say what to list: {}", join(listing_names()));
    const Listing& listing = find_listing(typed->what);
    const Json rows = listing.rows();
    if (typed->json) {
      print_json(rows);
    } else if (listing.name == "devices") {
      print_devices(rows);
    } else {
      print_rows(rows);
      print_shared(rows);
    }
    return 0;
  };
}

}  // namespace conelab
