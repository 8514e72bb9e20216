// One call of an operator as data: its parts and their parameters.
//
//   tokens (position, projections) -> map -> similarity -> bias -> mask -> weights -> value map
//   -> aggregate
//
// Each part is chosen by name, independently of the others. A structured operator replaces the
// whole chain. A `Call` is what a user writes. `resolve` (core/operators/operator.h) checks it
// against the tables and makes the `Plan` that the engine runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

// The value that a call gives to a parameter, parsed once from the text that a user types.
//
//   2.5               a number
//   1,2,4             a list: a number for each head, or for each axis of a grid
//   0.2,0.1;0.3,0.4   a list for each head, of a number for each axis
//   16x16             the sides of a grid
//   reference         a word
//   random            a tensor that is drawn
//   @W.npy            a tensor of a file

class Value {
 public:
  Value() = default;
  Value(double number);                                  // NOLINT(google-explicit-constructor)
  Value(const std::vector<double>& list);                // NOLINT(google-explicit-constructor)
  Value(std::string text);                               // NOLINT(google-explicit-constructor)
  Value(const char* text) : Value(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  /// Returns the value of a grid's sides, "5x6".
  [[nodiscard]] static Value of_sides(const std::vector<double>& sides);

  /// Returns the value as it was typed; a number with the fewest digits that give it.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Returns the lists between semicolons; none if any entry is no number.
  [[nodiscard]] const std::vector<std::vector<double>>& lists() const { return lists_; }
  /// Returns the number, if the value is a single one.
  [[nodiscard]] std::optional<double> number() const;
  /// Returns the numbers between 'x'; none if any entry is no number.
  [[nodiscard]] const std::vector<double>& sides() const { return sides_; }
  [[nodiscard]] bool is_random() const { return text_ == "random"; }
  /// Returns the name behind '@', which may be empty; nothing if the value is no file.
  [[nodiscard]] std::optional<std::string> file() const;

  /// Returns the value of one head: its entry of a list for the heads. If lists are `by_axis`, it
  /// is the head's list. A value that has no entry for the head, or is no list, is returned whole.
  [[nodiscard]] Value of_head(std::int64_t head, bool by_axis) const;

  bool operator==(const Value& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::vector<std::vector<double>> lists_;
  std::vector<double> sides_;
};

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
/// Sets the field from such a word. A bias that is the value of a tensor, "@FILE.npy" or "random",
/// is the bias "explicit" with this tensor.
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

// A call as one word of text, for `--operator`, for the lists of operators of benchmarks and
// figures, and as the title of a panel.
//
//   penumbral:gamma=2:height=0.5:masks=causal+padding
//   agglomerative:classes=8:P=random
//
// It begins with the operator, a similarity or a structured operator. Each difference from the
// default call follows as KEY=VALUE. KEY is a field of the call (by its name or its option's name;
// lists are joined by '+') or a parameter. Lists of calls are split by `split_names`.

/// Sets the operator of a call by name. The name may be a similarity; a structured operator, which
/// then gets the default similarity of such operators; or a name for a similarity with a mask
/// (core/call/composed.h). `resolve` refuses any other name.
void set_operator(Call& call, const std::string& name);
/// Throws misuse if the call's operator has been set by this name but its similarity or masks are
/// not those that the name stands for.
void check_named_operator(const Call& call, const std::string& name);

/// Returns the call of a text. Throws misuse for an entry that is not KEY=VALUE and for a repeated
/// key. Names are checked when the call is resolved.
[[nodiscard]] Call call_from_text(const std::string& text);
/// Returns the text of a call. Values must not contain ':'.
[[nodiscard]] std::string call_text(const Call& call);

/// Returns a title such as "penumbral, gamma = 2, causal": the operator and all differences from
/// the default call, so that different calls have different titles, but for numbers that agree in
/// four digits.
[[nodiscard]] std::string call_title(const Call& call);

/// Returns the call for an input that contains a mask (`AttentionInput::allowed`), which then
/// applies.
[[nodiscard]] Call call_with_own_mask(Call call);

}  // namespace conelab
