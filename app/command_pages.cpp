// `conelab pages`: the man pages and bash's completion, made from the tables of commands, jobs and
// parts. The installation runs it; no list shows it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/list_rows.h"
#include "app/manual.h"
#include "app/output.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/files/atomic_file.h"
#include "core/jobs/job_table.h"

namespace conelab {
namespace {

// ---- man pages ----------------------------------------------------------------------------------

/// Returns the text with what roff takes for a command, an escape or a quotation mark escaped.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return result;
}

std::string heading(const std::string& page, const std::string& about) {
  std::string title = page;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(".TH {} 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", roff(title),
                     program_version(), roff(page), roff(about));
}

std::string option_text(const CLI::Option& option, const CLI::Formatter& help) {
  const bool positional = option.get_positional();
  return fmt::format(".TP\n.B {}{}\n{}\n", roff(help.make_option_name(&option, positional)),
                     roff(help.make_option_opts(&option)), roff(option.get_description()));
}

std::string command_page(const Command& row, const CLI::App& options) {
  const CLI::Formatter help;
  std::string arguments, named, words;
  for (const CLI::Option* option : options.get_options()) {
    (option->get_positional() ? arguments : named) += option_text(*option, help);
    if (option->get_positional()) words += " " + option->get_name(true);
  }
  std::string text = heading(fmt::format("conelab-{}", row.name), row.about);
  text += fmt::format(".SH SYNOPSIS\n.B conelab {}\n[\\fIOPTIONS\\fR]{}\n", roff(row.name),
                      roff(words));
  if (!arguments.empty()) text += ".SH ARGUMENTS\n" + arguments;
  text += ".SH OPTIONS\n" + named;
  return text + fmt::format(".SH EXAMPLES\n.nf\n{}.fi\n.SH SEE ALSO\n.BR conelab (1)\n",
                            roff(row.example));
}

std::string main_page() {
  std::string text = heading("conelab", "attention that knows hierarchy");
  text += ".SH SYNOPSIS\n.B conelab\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  for (const Command& row : command_table()) {
    if (row.hidden) continue;
    text += fmt::format(".TP\n.BR conelab\\-{} (1)\n{}\n", row.name, roff(row.about));
  }
  text += ".SH MANUAL\n.B conelab help\n.I TOPIC\nprints a topic of the manual:\n";
  for (const ManualTopic& topic : manual_topics()) {
    const std::string_view title = topic.text.substr(2, topic.text.find('\n') - 2);
    text +=
        fmt::format(".TP\n.B {}\n{}\n", roff(std::string(topic.name)), roff(std::string(title)));
  }
  return text + ".SH EXIT STATUS\n0 done, 1 the work failed, 2 wrong usage, 130 interrupted.\n";
}

// ---- completion ---------------------------------------------------------------------------------

/// Where the words of an option stand: an option of any command, or an argument of one, and the
/// list of `conelab list` with its names, or, for "-p", its keys.
struct WordSource {
  std::string_view option, listing;
};
constexpr WordSource word_sources[] = {{"--similarity", "similarities"},
                                       {"--similarities", "similarities"},
                                       {"--operator", "operators"},
                                       {"--operators", "operators"},
                                       {"--position", "positions"},
                                       {"--map", "maps"},
                                       {"--bias", "biases"},
                                       {"--mask", "masks"},
                                       {"--weights", "weights"},
                                       {"--value-map", "value-maps"},
                                       {"--aggregate", "aggregates"},
                                       {"--device", "devices"},
                                       {"figure NAME", "figures"},
                                       {"dataset NAME", "datasets"},
                                       {"figure --parameter", "figures"},
                                       {"dataset --parameter", "datasets"}};

std::string spaced(const std::set<std::string>& words) { return join(words, " "); }

/// Returns the names of the rows of these lists, or with `keys` "KEY=" for their parameters.
std::set<std::string> words_of(const std::vector<std::string>& listings, bool keys) {
  std::set<std::string> words;
  for (const std::string& listing : listings) {
    for (const Json& row : find_listing(listing).rows()) {
      if (!keys) words.insert(row["name"].get<std::string>());
      for (const Json& p : keys ? row.value("parameters", Json::array()) : Json::array()) {
        words.insert(p["key"].get<std::string>() + "=");
      }
    }
  }
  return words;
}

/// Returns the words that an option or argument of a command takes; none if any may be given.
std::set<std::string> words_of(const Command& row, const CLI::Option& option) {
  const std::string name = option.get_name(option.get_positional());
  const std::string own = fmt::format("{} {}", row.name, name);
  if (own == "list WHAT") {
    const std::vector<std::string> names = listing_names();
    return {names.begin(), names.end()};
  }
  if (own == "help TOPIC") {
    const std::vector<std::string> names = names_of(manual_topics());
    return {names.begin(), names.end()};
  }
  for (const WordSource& source : word_sources) {
    if (source.option != name && source.option != own) continue;
    return words_of({std::string(source.listing)}, name == "--parameter");
  }
  for (const JobKind& kind : job_table()) {
    for (const JobField& field : kind.fields) {
      if (kind.name != row.name || field.printed_option() != name || field.choices.empty())
        continue;
      return {field.choices.begin(), field.choices.end()};
    }
  }
  if (name != "--parameter") return {};
  return words_of({"operators", "positions", "maps", "biases", "masks", "weights", "value-maps"},
                  true);
}

/// Returns the lines of two `case` blocks: words by "COMMAND OPTION" and options by command.
std::pair<std::string, std::string> completion_cases(const Command& row, const CLI::App& options) {
  std::string words;
  std::set<std::string> names;
  for (const CLI::Option* option : options.get_options()) {
    for (const std::string& name : option->get_lnames()) names.insert("--" + name);
    const std::set<std::string> known = words_of(row, *option);
    if (known.empty()) continue;
    std::string patterns;
    for (const std::string& name : option->get_lnames())
      patterns += fmt::format("|\"{} --{}\"", row.name, name);
    for (const std::string& name : option->get_snames())
      patterns += fmt::format("|\"{} -{}\"", row.name, name);
    if (option->get_positional()) patterns = fmt::format("|\"{0} {0}\"", row.name);
    words += fmt::format("    {}) known=\"{}\" ;;\n", patterns.substr(1), spaced(known));
  }
  return {words, fmt::format("    {}) known=\"{}\" ;;\n", row.name, spaced(names))};
}

constexpr const char* completion = R"(# Completion of `conelab` for bash, made by `conelab pages`.
_conelab() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} last=${{COMP_WORDS[COMP_CWORD-1]}} before= known=
  # A word after a comma continues a list.
  [[ $word != *,* ]] || before=${{word%,*}},
  case "${{COMP_WORDS[1]}} $last" in
{}  esac
  if [ "$COMP_CWORD" = 1 ]; then
    known="{}"
  elif [[ $word == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{}    esac
  fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$known" -- "${{word##*,}}")
  [[ ${{COMPREPLY[0]}} != *= ]] || compopt -o nospace 2>/dev/null
}}
complete -o default -F _conelab conelab
)";

// ---- the files ----------------------------------------------------------------------------------

void write_pages(const std::filesystem::path& share) {
  const std::filesystem::path man = share / "man/man1",
                              bash = share / "bash-completion/completions";
  std::filesystem::create_directories(man);
  std::filesystem::create_directories(bash);
  std::set<std::string> commands;
  std::string words, options;
  for (const Command& row : command_table()) {
    if (row.hidden) continue;
    CLI::App declared;
    const Action unused = row.declare(declared);
    commands.insert(row.name);
    const auto [of_words, of_options] = completion_cases(row, declared);
    words += of_words;
    options += of_options;
    write_text_atomically(man / fmt::format("conelab-{}.1", row.name), command_page(row, declared));
  }
  write_text_atomically(man / "conelab.1", main_page());
  write_text_atomically(bash / "conelab",
                        fmt::format(completion, words, spaced(commands), options));
}

}  // namespace

Action declare_pages(CLI::App& options) {
  const auto share = std::make_shared<std::string>();
  options.add_option("-o,--output", *share, "the folder share of a prefix")->required();
  return [share] {
    write_pages(*share);
    return 0;
  };
}

}  // namespace conelab
