// A field of a job as a row: what it is called, what values it takes, and its default.
//
// The command line, TOML, JSON, keys and forms iterate over the rows of a job (job_spec.h), so that
// a new field is one row and the line of the job that reads it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/call/call.h"

namespace conelab {

/// JSON whose objects keep the order of their members.
using Json = nlohmann::ordered_json;

enum class FieldKind {
  text,           ///< A word.
  number,         ///< A number with a fraction.
  integer,        ///< A whole number from `least` to `most`.
  flag,           ///< Yes or no; an option without a value.
  list,           ///< Names or numbers, which commas separate.
  texts,          ///< Texts; the option is repeated for the next.
  optional_text,  ///< A text, which may be left out although the option is given.
  input,          ///< A file that the job reads: FILE or FILE:/group.
  inputs,         ///< Several of them; the option is repeated for the next.
  array,          ///< The name of an array, or of a .npy file that the job reads.
  output,         ///< The file that the job writes.
  parameters,     ///< KEY=VALUE; the option is repeated for the next.
  call,  ///< The parts of a call and its parameters (call_json.h), which are several options.
};

/// The value of a field: text, input, array and output are a string; list, texts and inputs a list
/// of strings; parameters a map.
using FieldValue = std::variant<std::string, double, std::int64_t, bool, std::vector<std::string>,
                                std::map<std::string, std::string>, Call>;

struct JobField {
  std::string name;  ///< In TOML and JSON: "time_limit".
  /// On the command line: "--time-limit"; of several names, separated by commas, the first is the
  /// one that printed commands use. A name without dashes is an argument by its place: "INPUT".
  std::string option;
  std::string about;  ///< One line of help.
  FieldKind kind = FieldKind::text;
  std::string initial = {};  ///< The default as typed. Empty: there is none, or no, or 0.
  bool required = false;
  std::vector<std::string> choices = {};  ///< The only words that are accepted; empty: any.
  bool changes_result = true;             ///< False for the output, threads and the like.
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  /// Returns the option that printed commands use; empty for an argument by its place.
  [[nodiscard]] std::string printed_option() const;
  /// Returns whether a value is a list, so that a study's list of plain values does not sweep it.
  [[nodiscard]] bool is_list() const;
};

/// Returns the value of a text. Throws misuse, which says what was expected and found but does not
/// name the field, for a text that is no such value.
[[nodiscard]] FieldValue value_of_text(const JobField& field, const std::string& text);
/// Returns the value of JSON. A list of numbers may be JSON numbers, and a list may be one text
/// with commas. Throws misuse in the same way.
[[nodiscard]] FieldValue value_of_json(const JobField& field, const Json& json);
/// Returns the value as JSON, from which `value_of_json` reads it back.
[[nodiscard]] Json value_to_json(const FieldValue& value);
/// Returns the words of the command line that give the field this value.
[[nodiscard]] std::vector<std::string> words_of_value(const JobField& field,
                                                      const FieldValue& value);

}  // namespace conelab
