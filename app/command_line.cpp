#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/command.h"
#include "app/desktop.h"
#include "app/output.h"
#include "app/ranks.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {
namespace {

const char* const about =
    "Conelab: attention that knows hierarchy. Cone attention, its relatives and its rivals:\n"
    "exact, fast, drawn and measured.";
const char* const closing =
    "`conelab COMMAND --help` explains a command with an example, `conelab help` lists the topics\n"
    "of the manual.\n"
    "Exit status: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.";

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

[[noreturn]] void reject_extras(const CLI::App& command) {
  for (const std::string& extra : command.remaining(true)) {
    if (extra.size() > 1 && extra[0] == '-' && extra != "--") {
      unknown_name("option", extra.substr(0, extra.find('=')), option_names(command));
    }
  }
  const std::vector<std::string> extras = command.remaining(true);
  const std::string first = extras.empty() ? "" : extras.front();
  const bool parameter =
      first.find('=') != std::string::npos && command.get_option_no_throw("--parameter") != nullptr;
  misuse("unexpected argument '{}' ({}see `{} --help`)", first,
         parameter ? fmt::format("a parameter needs its own -p: -p {}; ", first) : "",
         command.get_name());
}

/// Throws misuse for CLI11's "Could not convert: --margin = x", in the words of this program.
[[noreturn]] void reject_value(const CLI::App& command, const std::string& message) {
  const std::size_t colon = message.find(": "), equals = message.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos || equals < colon) {
    misuse("{} (see `{} --help`)", message, command.get_name());
  }
  const std::string name = message.substr(colon + 2, equals - colon - 2);
  const std::size_t value = message.find_first_not_of(' ', equals + 3);
  const CLI::Option* option = command.get_option_no_throw(name);
  const std::string type = option == nullptr ? "" : option->get_type_name();
  const char* expected = type.starts_with("UINT")                ? "whole number from 0"
                         : type.find("INT") != std::string::npos ? "whole number"
                                                                 : "number";
  misuse("{}: wrong value (expected a {}, found '{}'; see `{} --help`)", name, expected,
         value == std::string::npos ? "" : message.substr(value), command.get_name());
}

/// Throws misuse for CLI11's "--similarity: At Most 1 required but received 2", in plainer words.
[[noreturn]] void reject_count(const CLI::App& command, std::string message) {
  if (const std::size_t at = message.find(": At Most 1 "); at != std::string::npos) {
    message = message.substr(0, at) + ": given more than once";
  }
  misuse("{} (see `{} --help`)", message, command.get_name());
}

bool read_options(CLI::App& command, std::vector<std::string> arguments) {
  std::transform(arguments.begin(), arguments.end(), arguments.begin(), shield_number);
  std::ranges::reverse(arguments);  // CLI11 takes the last element first.
  try {
    command.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print_text(command.help());
    return false;
  } catch (const CLI::ExtrasError&) {
    reject_extras(command);
  } catch (const CLI::ArgumentMismatch& error) {
    reject_count(command, error.what());
  } catch (const CLI::ConversionError& error) {
    reject_value(command, error.what());
  } catch (const CLI::ParseError& error) {
    misuse("{} (see `{} --help`)", error.what(), command.get_name());
  }
  return true;
}

int run_command(const Command& row, std::vector<std::string> arguments) {
  CLI::App options(row.about, fmt::format("conelab {}", row.name));
  options.get_formatter()->column_width(34);
  options.footer(std::string("\nExample:\n") + row.example);
  const Action action = row.declare(options);
  return read_options(options, std::move(arguments)) ? action() : 0;
}

void print_help() {
  std::string text = fmt::format("{}\n\nUsage: conelab COMMAND [OPTIONS]\n\nCommands:\n", about);
  for (const Command& row : command_table()) {
    if (!row.hidden) text += fmt::format("  {:<10}{}\n", row.name, row.about);
  }
  print_text(text + "\n" + closing + "\n");
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& row : command_table()) {
    if (row.name == name) return row;
    if (!row.hidden) known.emplace_back(row.name);
  }
  unknown_name("command", name, known);
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty() && desktop_available()) return run_desktop({});
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    print_help();
    return 0;
  }
  if (arguments[0] == "--version") {
    print_text(program_version() + "\n");
    return 0;
  }
  if (arguments[0].starts_with('-')) {
    unknown_name("option", arguments[0], {"--help", "--version"});
  }
  const Command& row = find_command(arguments[0]);
  arguments.erase(arguments.begin());
  return run_command(row, std::move(arguments));
}

}  // namespace

std::string shield_number(const std::string& argument) {
  const bool number = argument.size() > 1 && argument[0] == '-' && argument[1] != '-' &&
                      argument.find_first_of("0123456789") != std::string::npos &&
                      argument.find_first_not_of("0123456789.,eE+-") == std::string::npos;
  return number ? " " + argument : argument;
}

std::string_view unshielded(std::string_view argument) {
  return argument.starts_with(' ') ? argument.substr(1) : argument;
}

int run_command_line(std::vector<std::string> arguments) noexcept {
  try {
    be_silent(launched().rank > 0);
    const int status = dispatch(std::move(arguments));
    finish_output();
    return status;
  } catch (...) {
    return report_current_exception();
  }
}

}  // namespace conelab
