// `conelab help`: the manual by topics, and the help of each command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/command_line.h"
#include "app/list_rows.h"
#include "app/manual.h"
#include "app/output.h"
#include "core/base/names.h"

namespace conelab {
namespace {

/// A heading and the rows below it.
struct Section {
  const char* title;
  const char* listing;  ///< A name of `conelab list`.
  /// The parts that its rows combine with and that are named, with their label. Empty: none.
  const char* combines = "";
  const char* label = "";
};
constexpr Section sections[] = {
    {"Similarities", "similarities"},
    {"Positions", "positions"},
    {"Maps into models of hyperbolic space", "maps", "operators", "Similarities"},
    {"Biases", "biases"},
    {"Masks", "masks"},
    {"Weights", "weights"},
    {"Maps of values", "value-maps"},
    {"Aggregates", "aggregates"},
    {"Structured operators", "operators", "masks", "Masks"}};

std::string domain_and_default(const Json& p) {
  if (p.contains("shape")) {
    return fmt::format("[{}], {}", p["shape"].get<std::string>(),
                       p["needed"].get<bool>() ? "needed" : "may be absent");
  }
  std::string words = (p.contains("choices") ? p["choices"] : p["domain"]).get<std::string>();
  for (std::size_t bar; (bar = words.find('|')) != std::string::npos;)
    words.replace(bar, 1, " or ");
  const std::string initial = default_text(p);
  return words + (initial == "(needed)" ? "; needed" : "; default " + initial);
}

std::string parameters_text(const Json& row, bool shared) {
  std::string text;
  for (const Json& p : row["parameters"]) {
    if (p.contains("shared") != shared) continue;
    text += "- " +
            wrapped(fmt::format("`{}` ({}): {}", p["key"].get<std::string>(), domain_and_default(p),
                                p["about"].get<std::string>()),
                    2) +
            "\n";
  }
  return text.empty() ? text : text + "\n";
}

/// Returns what a row says beside its formulas and parameters, in sentences.
std::string notes(const Json& row, const Section& section) {
  std::string text;
  const auto add = [&](const char* label, const std::string& words) {
    if (words.empty()) return;
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : " ", label, words,
                        words.ends_with('.') ? "" : ".");
  };
  if (row["paper"].is_string()) add("Paper", row["paper"].get<std::string>());
  add("Default map", row.value("default_map", ""));
  if (*section.combines != 0) {
    add("Time", row.value("cost", ""));
    add(section.label, join(row["combines"][section.combines].get<std::vector<std::string>>()));
  }
  add("Condition", row.value("conditions", ""));
  for (const Json& e : row.value("errata", Json::array())) add("Erratum", erratum_text(e));
  return text.empty() ? text : wrapped(text, 0) + "\n\n";
}

std::string row_text(const Json& row, const Section& section) {
  std::string text = fmt::format("### {}\n\n    {}\n", row["name"].get<std::string>(),
                                 wrapped(row["about"].get<std::string>(), 4));
  for (const Json& variant : row.value("variants", Json::array())) {
    text += "\n    " + wrapped(variant.get<std::string>(), 4) + "\n";
  }
  return text + "\n" + notes(row, section) + parameters_text(row, false);
}

/// Returns the topic `reference`, made from the tables of operators and parts: Markdown with
/// formula, paper, parameters and defaults of every row. resources/manual/reference.md is a copy of
/// it.
std::string reference_text() {
  const Json similarities = find_listing("similarities").rows();
  std::string text =
      "# Reference: formulas, parameters and defaults of every operator and part\n\n"
      "The program makes this page from its tables (`conelab help reference`); the same as data "
      "is\n\n"
      "    conelab list similarities --json\n\n"
      "and so on. `conelab help operators` explains how parts combine. u and v are a query and a "
      "key\n"
      "after maps, x either of them; x_: are its first d - 1 coordinates, x_d is the last.\n\n"
      "Every similarity also takes projections of its tokens, and a cap of its logits:\n\n" +
      parameters_text(similarities.front(), true);
  for (const Section& section : sections) {
    text += fmt::format("## {}\n\n", section.title);
    Json rows = find_listing(section.listing).rows();
    // The list of operators begins with the similarities, which have a section of their own.
    const std::size_t first =
        rows.front() == similarities.front() && *section.combines != 0 ? similarities.size() : 0;
    for (std::size_t i = first; i < rows.size(); ++i) text += row_text(rows[i], section);
  }
  text.pop_back();
  return text;
}

std::string_view title_of(const ManualTopic& topic) {
  return topic.text.substr(2, topic.text.find('\n') - 2);
}

void print_topics() {
  say("Topics of the manual, printed by `conelab help TOPIC`:");
  for (const ManualTopic& topic : manual_topics()) say("  {:<12}{}", topic.name, title_of(topic));
  say("\n`conelab --help` lists the commands; `conelab help COMMAND` explains one.");
}

/// Throws misuse that names the nearest topic or command, and lists all of them.
[[noreturn]] void reject_topic(const std::string& name) {
  std::vector<std::string> known = names_of(manual_topics());
  for (const Command& row : command_table()) {
    if (!row.hidden) known.emplace_back(row.name);
  }
  unknown_name("topic", name, known);
}

int print_topic(const std::string& name) {
  if (name == "reference") {
    print_text(reference_text());
    return 0;
  }
  if (const ManualTopic* topic = find_named(manual_topics(), name)) {
    print_text(std::string(topic->text));
    return 0;
  }
  if (find_named(command_table(), name)) return run_command_line({name, "--help"});
  reject_topic(name);
}

}  // namespace

Action declare_help(CLI::App& options) {
  const auto topic = std::make_shared<std::string>();
  options.add_option("TOPIC", *topic,
                     "a topic of the manual, or a command; without it: the topics");
  return [topic] {
    if (!topic->empty()) return print_topic(*topic);
    print_topics();
    return 0;
  };
}

}  // namespace conelab
