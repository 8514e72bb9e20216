// One call of an operator as data: which parts, with which parameters.
//
//   tokens (position, projections) -> map -> similarity -> bias -> mask -> weights -> value map
//   -> aggregate
//
// Each part is chosen by name and varies independently. A structured operator takes the place of
// the whole chain. A `Call` is what a user writes; `resolve` (core/operators/operator.h) checks it
// against the tables and turns it into a `Plan` that the engine runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

/// The parts of a call by name, as in `conelab attend`.
struct Call {
  /// "attention", the chain above, or the name of a structured operator, which takes no other parts
  /// than the position sinusoidal and those that its row says.
  std::string operation = "attention";
  std::string similarity = "penumbral";
  std::string position = "none";
  std::string map;  ///< Empty: the similarity's own.
  std::string bias = "none";
  std::vector<std::string> masks = {"full"};  ///< Intersected: {"causal", "padding"} is both.
  std::string weights = "softmax";
  std::string value_map = "none";
  std::string aggregate = "mean";
  /// `-p KEY=VALUE`, as text: a number, a list of numbers (one per head), a word, or for a tensor
  /// "random".
  std::map<std::string, std::string> parameters;

  bool operator==(const Call&) const = default;
};

/// Whether the call is the chain of parts, not a structured operator.
[[nodiscard]] inline bool is_attention(const Call& call) { return call.operation == "attention"; }
/// The similarity of a call whose structured operator takes one and that names none.
inline constexpr const char* operator_similarity = "dot";
/// The operator's name for people: that of the similarity or of the structured operator.
[[nodiscard]] inline const std::string& operator_name(const Call& call) {
  return is_attention(call) ? call.similarity : call.operation;
}

/// A part as it is listed: in menus, by `conelab list`, in error messages.
struct PartInfo {
  std::string name;
  std::string about;  ///< Formula in one line, and the paper.
  std::vector<ParameterInfo> parameters;
  std::string default_map;  ///< Similarities only.
};

/// A field of a call that names one part, or several. Text, JSON, command line, session and desktop
/// card are made from the list of these.
struct CallField {
  const char* name;                      ///< In texts and in JSON: "masks".
  const char* option;                    ///< On the command line: "--mask".
  const char* about;                     ///< One line of help.
  std::string Call::*word;               ///< The member, or null where it is a list.
  std::vector<std::string> Call::*list;  ///< Likewise.
  /// The parts that it may name; null where any word is taken.
  std::vector<PartInfo> (*parts)();
};

/// All fields but `operation` and `parameters`, in the order of the chain.
[[nodiscard]] std::span<const CallField> call_fields();

/// The field's value as one word; the entries of a list are joined by `separator`.
[[nodiscard]] std::string field_text(const CallField& field, const Call& call, char separator);
/// The inverse.
void set_field(const CallField& field, Call& call, const std::string& text, char separator);
/// Whether the field has its default.
[[nodiscard]] bool is_default(const CallField& field, const Call& call);

[[nodiscard]] std::vector<PartInfo> list_similarities();
[[nodiscard]] std::vector<PartInfo> list_positions();
[[nodiscard]] std::vector<PartInfo> list_maps();
[[nodiscard]] std::vector<PartInfo> list_biases();
[[nodiscard]] std::vector<PartInfo> list_masks();
[[nodiscard]] std::vector<PartInfo> list_weights();
[[nodiscard]] std::vector<PartInfo> list_value_maps();
[[nodiscard]] std::vector<PartInfo> list_aggregates();

/// The parameters of the parts that a call names, each key once, without those of a structured
/// operator, of which masks and the fields of these names count. Unknown names are passed over.
[[nodiscard]] std::vector<ParameterInfo> part_parameters(const Call& call,
                                                         std::span<const char* const> fields = {});

}  // namespace conelab
