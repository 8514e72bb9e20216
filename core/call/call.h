// One call of an operator as data: its parts and their parameters.
//
//   tokens (position, projections) -> map -> similarity -> bias -> mask -> weights -> value map
//   -> aggregate
//
// Each part is chosen by name, independently of the others. A structured operator replaces the
// whole chain. A `Call` is what a user writes. `resolve` (core/operators/operator.h) checks it
// against the tables and makes the `Plan` that the engine runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/call/value.h"

namespace conelab {

/// The names of the parts, as in `conelab attend`.
struct Call {
  /// "attention", the chain above, or the name of a structured operator. A structured operator
  /// accepts the position sinusoidal and those parts that its row names.
  std::string operation = "attention";
  std::string similarity = "penumbral";
  std::string position = "none";
  std::string map;  ///< Empty: the similarity's default map.
  std::string bias = "none";
  /// The masks intersect: {"causal", "padding"} applies both.
  std::vector<std::string> masks = {"full"};
  std::string weights = "softmax";
  std::string value_map = "none";
  std::string aggregate = "mean";
  /// `-p KEY=VALUE`.
  std::map<std::string, Value> parameters;

  bool operator==(const Call&) const = default;
};

/// Returns whether the call is the chain of parts and not a structured operator.
[[nodiscard]] inline bool is_attention(const Call& call) { return call.operation == "attention"; }
/// The similarity of a call that names none but whose structured operator accepts one.
inline constexpr const char* operator_similarity = "dot";
/// Returns the operator's name for users: that of the similarity, or that of the structured
/// operator.
[[nodiscard]] inline const std::string& operator_name(const Call& call) {
  return is_attention(call) ? call.similarity : call.operation;
}

/// Returns whether any tensor of the call is to be drawn at random. The call then takes a `seed`.
[[nodiscard]] bool draws_tensors(const Call& call);

/// A part for menus, `conelab list` and error messages.
struct PartInfo {
  std::string name;
  std::string about;  ///< The formula in one line.
  std::string paper;  ///< The paper and the equation; empty if there is none.
  std::vector<ParameterInfo> parameters;
  std::string default_map = {};  ///< Set for similarities only.
  std::string conditions =
      {};  ///< What it combines with only in part; empty if there is no such part.
  /// The other formulas of a similarity: "convention = reference: FORMULA (PAPER)".
  std::vector<std::string> variants = {};
};
/// Returns the formula, its variants and the paper as one text.
[[nodiscard]] std::string description(const PartInfo& part);

/// A field of a call that names one part or several. Text, JSON, command line, session and the
/// desktop's forms iterate over the list of fields.
struct CallField {
  const char* name;                      ///< Its name in text and in JSON: "masks".
  const char* option;                    ///< Its command-line option: "--mask".
  const char* about;                     ///< One line of help.
  std::string Call::*word;               ///< The member, or null if the field is a list.
  std::vector<std::string> Call::*list;  ///< The member, or null if the field is one word.
  /// Returns the parts that the field may name. Null: any word is accepted.
  std::vector<PartInfo> (*parts)();
};

/// Returns all fields except `operation` and `parameters`, in the order of the chain.
[[nodiscard]] std::span<const CallField> call_fields();

/// Returns the field's value as one word. The entries of a list are joined by `separator`.
[[nodiscard]] std::string field_text(const CallField& field, const Call& call, char separator);
/// Sets the field from such a word.
void set_field(const CallField& field, Call& call, const std::string& text, char separator);
/// Returns whether the field has its default.
[[nodiscard]] bool is_default(const CallField& field, const Call& call);

[[nodiscard]] std::vector<PartInfo> list_similarities();
[[nodiscard]] std::vector<PartInfo> list_positions();
[[nodiscard]] std::vector<PartInfo> list_maps();
[[nodiscard]] std::vector<PartInfo> list_biases();
[[nodiscard]] std::vector<PartInfo> list_masks();
[[nodiscard]] std::vector<PartInfo> list_weights();
[[nodiscard]] std::vector<PartInfo> list_value_maps();
[[nodiscard]] std::vector<PartInfo> list_aggregates();

/// Returns the parameters of the parts that a call names, each key once, without those of a
/// structured operator itself. For a structured operator only the masks, the position and the
/// fields named in `fields` count. Unknown names are ignored.
[[nodiscard]] std::vector<ParameterInfo> part_parameters(const Call& call,
                                                         std::span<const char* const> fields = {});

}  // namespace conelab
