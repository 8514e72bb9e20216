#include "app/call_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/find_named.h"
#include "core/call/call_text.h"
#include "core/operators/combines.h"
#include "core/study/call_json.h"

namespace conelab {
namespace {

/// Throws misuse for what is typed both as an option and in the text of --operator, differently.
[[noreturn]] void contradicts(const std::string& typed, const std::string& operation,
                              const std::string& said) {
  misuse("{} contradicts --operator {}, which means {} (give only one of them)", typed, operation,
         said);
}

/// Returns the list that "causal + padding" or "causal,padding" means, as a field of a call
/// contains it.
std::string plain_list(const CallField& field, std::string text) {
  if (field.list == nullptr) return text;
  std::replace(text.begin(), text.end(), '+', ',');
  std::string joined;
  for (const std::string& part : split_list(text, field.option)) {
    joined += (joined.empty() ? "" : ",") + part;
  }
  return joined;
}

std::string help_of(const CallField& field) {
  std::string names;
  for (const PartInfo& part : field.parts()) {
    const bool known = (", " + names + ",").find(", " + part.name + ",") != std::string::npos;
    if (!known) names += (names.empty() ? "" : ", ") + part.name;
  }
  return fmt::format("{}: {}", field.about, names);
}

/// Throws misuse if an operator other than attention does not take the similarity.
void check_similarity(const Call& call, const std::string& name) {
  const std::vector<PartInfo> known = list_similarities();
  (void)row_named("similarity", known, name);
  if (!combines(call.operation, "similarity", name)) {
    misuse("{} does not combine with similarity {}", call.operation, name);
  }
}

}  // namespace

Call CallOptions::call() const {
  if (!fields.front() && operation.empty()) {
    misuse("give --similarity or --operator (see `conelab list operators`)");
  }
  Call call = operation.empty() ? Call{} : call_from_text(operation);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const CallField& field = call_fields()[i];
    if (!fields[i]) continue;
    const std::string text = plain_list(field, *fields[i]);
    if (i == 0 && !is_attention(call)) check_similarity(call, text);
    const bool chosen = !operation.empty() && is_attention(call) && i == 0;
    if ((chosen || !is_default(field, call)) && field_text(field, call, ',') != text) {
      contradicts(fmt::format("{} {}", field.option, text), operation,
                  fmt::format("{} {}", field.option, field_text(field, call, ',')));
    }
    set_field(field, call, text, ',');
  }
  for (const auto& [key, value] : parse_parameters(parameters)) {
    const auto [at, is_new] = call.parameters.emplace(key, value);
    if (!is_new && at->second.text() != value) {
      contradicts(fmt::format("-p {}={}", key, value), operation, key + "=" + at->second.text());
    }
  }
  return call;
}

std::shared_ptr<CallOptions> declare_call(CLI::App& options) {
  auto typed = std::make_shared<CallOptions>();
  typed->fields.resize(call_fields().size());
  options.add_option("--operator", typed->operation,
                     "a whole operator by name (`conelab list operators`), or a call as "
                     "penumbral:gamma=2:masks=causal+padding");
  options
      .add_option("-p,--parameter", typed->parameters,
                  "a parameter, -p again for the next; a list gives one value per head: "
                  "gamma=1,2,4,8")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  for (std::size_t i = 0; i < call_fields().size(); ++i) {
    const CallField& field = call_fields()[i];
    const std::string name = i == 0 ? std::string("-s,") + field.option : field.option;
    CLI::Option* option = options.add_option(name, typed->fields[i], help_of(field));
    if (i > 0) option->default_str(field_text(field, Call{}, ','));
  }
  return typed;
}

void declare_external(CLI::App& options, bool& allow_external) {
  options.add_flag("--allow-external", allow_external,
                   "follow links and storage out of the input file");
}

void declare_reading(CLI::App& options, Reading& reading) {
  declare_external(options, reading.allow_external);
  options
      .add_option("--bf16", reading.bf16,
                  "an array whose elements of 2 bytes are bf16, --bf16 again for the next")
      ->option_text("NAME")
      ->allow_extra_args(false);
  options
      .add_option(
          "--axes", reading.axes,
          "the order of the axes of q, k and v: batch, head, token and feature, with commas")
      ->option_text("AXIS,...");
}

}  // namespace conelab
