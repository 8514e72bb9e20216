// `conelab help`: the manual by topics, and the help of each command.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/command_line.h"
#include "app/manual.h"
#include "app/output.h"
#include "app/reference_text.h"
#include "core/base/names.h"

namespace conelab {
namespace {

/// Returns the heading of a topic without its mark: "Data: tensors in, results out".
std::string_view title_of(const ManualTopic& topic) {
  return topic.text.substr(2, topic.text.find('\n') - 2);
}

void print_topics() {
  say("Topics of the manual, printed by `conelab help TOPIC`:");
  for (const ManualTopic& topic : manual_topics()) say("  {:<12}{}", topic.name, title_of(topic));
  say("\n`conelab --help` lists the commands; `conelab help COMMAND` explains one.");
}

bool is_command(const std::string& name) {
  for (const Command& row : command_table()) {
    if (row.name == name) return true;
  }
  return false;
}

/// Throws misuse that names the nearest topic or command, and lists all of them.
[[noreturn]] void reject_topic(const std::string& name) {
  std::vector<std::string> known;
  for (const ManualTopic& topic : manual_topics()) known.emplace_back(topic.name);
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
  for (const ManualTopic& topic : manual_topics()) {
    if (topic.name != name) continue;
    print_text(std::string(topic.text));
    return 0;
  }
  if (is_command(name)) return run_command_line({name, "--help"});
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
