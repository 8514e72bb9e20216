#include "core/study/call_words.h"

#include <fmt/ranges.h>

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

/// Returns the words of a list in which "causal+padding" is two entries.
std::string list_text(const CallField& field, const std::vector<std::string>& entries) {
  std::string text = fmt::format("{}", fmt::join(entries, ","));
  std::replace(text.begin(), text.end(), '+', ',');
  return fmt::format("{}", fmt::join(split_list(text, field.option), ","));
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

/// Returns the name of a part's field: its option without dashes, "value_map".
std::string typed_name(const CallField& field) {
  std::string name = field.option + 2;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

JobField typed_field(const CallField& field) {
  const bool first = field.word == &Call::similarity;
  return {.name = typed_name(field),
          .option = std::string(field.option) + (first ? ",-s" : ""),
          .about = help_of(field),
          .kind = field.list == nullptr ? FieldKind::text : FieldKind::list,
          .initial = first ? "" : field_text(field, Call{}, ',')};
}

/// Takes one value out of `typed`, or returns T() if it is not there.
template <class T>
T take(FieldValues& typed, const std::string& name) {
  const auto node = typed.extract(name);
  return node.empty() ? T() : std::get<T>(node.mapped());
}

}  // namespace

std::vector<JobField> call_word_fields() {
  std::vector<JobField> fields = {
      {.name = "operator",
       .option = "--operator",
       .about = "a whole operator by name (`conelab list operators`), or a call as "
                "penumbral:gamma=2:masks=causal+padding"},
      {.name = "parameters",
       .option = "-p,--parameter",
       .about = "a parameter, -p again for the next; a list gives one value per head: "
                "gamma=1,2,4,8",
       .kind = FieldKind::parameters}};
  for (const CallField& field : call_fields()) fields.push_back(typed_field(field));
  return fields;
}

Call take_call(FieldValues& typed) {
  const auto operation = take<std::string>(typed, "operator");
  if (operation.empty() && !typed.contains("similarity")) {
    misuse("give --similarity or --operator (see `conelab list operators`)");
  }
  Call call = operation.empty() ? Call{} : call_from_text(operation);
  for (const CallField& field : call_fields()) {
    if (!typed.contains(typed_name(field))) continue;
    const bool first = field.word == &Call::similarity;
    const std::string text =
        field.list == nullptr
            ? take<std::string>(typed, typed_name(field))
            : list_text(field, take<std::vector<std::string>>(typed, typed_name(field)));
    if (first && !is_attention(call)) check_similarity(call, text);
    const bool chosen = !operation.empty() && is_attention(call) && first;
    if ((chosen || !is_default(field, call)) && field_text(field, call, ',') != text) {
      contradicts(fmt::format("{} {}", field.option, text), operation,
                  fmt::format("{} {}", field.option, field_text(field, call, ',')));
    }
    set_field(field, call, text, ',');
  }
  for (const auto& [key, value] : take<std::map<std::string, std::string>>(typed, "parameters")) {
    const auto [at, is_new] = call.parameters.emplace(key, value);
    if (!is_new && at->second.text() != value) {
      contradicts(fmt::format("-p {}={}", key, value), operation, key + "=" + at->second.text());
    }
  }
  return call;
}

}  // namespace conelab
