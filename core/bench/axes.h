// The axes of a benchmark, and its cases: one label on each axis.
//
// The one table of axes is in axes.cpp. The options of `conelab bench`, the dimensions of the
// result file, the tables and messages of `compare`, the keys of the benchmarks' figures and the
// desktop's form fold over it, and so does the protocol between runner and worker. A new axis is a
// row there; what executes a case then reads its label (operator_case.cpp).
//
// A label is text everywhere; on a numeric axis it is the digits of a whole number from 1.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conelab {

using Labels = std::vector<std::string>;

struct Axis {
  const char* name;          ///< In result files, in JSON and as key of figures: "dim".
  const char* title;         ///< In columns and messages: "d".
  const char* option;        ///< What a sweep lists: the option is "--dims", the item "dims".
  const char* initial;       ///< The labels of a sweep that says nothing else, as typed.
  const char* about;         ///< Help of the option.
  const char* which = "";    ///< Help of the key by which a figure chooses one label.
  const char* drawn = "";    ///< The label that figures choose by default; empty: the file's first.
  const char* choices = "";  ///< "f64|f32|bf16|f16": the only labels there are; empty: any.
  const char* unit = "";     ///< "thread", so that captions say "2 threads"; empty: "d = 64".
  /// Of an axis that was added later: the label of all cases from before. Files, messages and
  /// requests leave the axis out where a sweep has this label only. Empty: the axis is always
  /// there.
  const char* before = "";
  bool numeric = false;  ///< Labels are whole numbers, in ascending order.
  bool always = false;   ///< Tables have its column even where all cases share one label.
};

/// All axes in the order of the result file. The first is the operator, the last the length.
[[nodiscard]] std::span<const Axis> axes();
/// All but the length. The cases that agree in these labels form a *line* of a scaling figure.
[[nodiscard]] std::span<const Axis> line_axes();
/// All but operator and length: a figure shows one label of each.
[[nodiscard]] std::span<const Axis> fixed_axes();

/// Throws misuse, naming the known ones, where no axis has this name.
[[nodiscard]] const Axis& axis_named(std::string_view name);
/// The position of an element of `axes()`.
[[nodiscard]] std::size_t index_of(const Axis& axis);
/// Whether the label says nothing, because it is that of all cases from before the axis.
[[nodiscard]] bool is_implied(const Axis& axis, const std::string& label);
/// Whether that is the only one of the labels.
[[nodiscard]] bool all_implied(const Axis& axis, const Labels& labels);
/// The labels of `Axis::choices`; empty where any label is allowed.
[[nodiscard]] Labels choices_of(const Axis& axis);
/// "cpu", "2 threads", "d = 64": a label as captions write it.
[[nodiscard]] std::string label_text(const Axis& axis, const std::string& label);

/// The labels that a text lists: names between commas, or numbers as `parse_integers` reads them.
/// Throws misuse that begins with `field`.
[[nodiscard]] Labels parse_labels(const Axis& axis, const std::string& field,
                                  const std::string& text);

/// "256,512" or "256..16384:x2" or "256..2048:+256" or several of these with commas, ascending
/// without repeats. Throws misuse (beginning with `field`) for anything else, for values below 1
/// and for more than 10,000 of them.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& field,
                                                       const std::string& text);

/// "A,B": the names, which must not be empty. Throws misuse beginning with `field`.
[[nodiscard]] Labels parse_names(const std::string& field, const std::string& text);

/// One point of the result's hyper-rectangle: a label on each axis, in the order of the table.
class Case {
 public:
  /// Axes that are not named get the first of their initial labels.
  Case(std::initializer_list<std::pair<std::string_view, std::string>> labels = {});
  /// `labels` [axis]
  explicit Case(Labels labels) : labels_(std::move(labels)) {}

  [[nodiscard]] const std::string& operator[](const Axis& axis) const {
    return labels_[index_of(axis)];
  }
  /// By the axis's name; throws misuse where there is none.
  [[nodiscard]] const std::string& operator[](std::string_view axis) const {
    return (*this)[axis_named(axis)];
  }
  /// The label of a numeric axis as a number; 0 for what is none.
  [[nodiscard]] std::int64_t number(std::string_view axis) const;
  void set(std::string_view axis, std::string label);
  void set(std::string_view axis, std::int64_t label) { set(axis, std::to_string(label)); }

  bool operator==(const Case&) const = default;

 private:
  Labels labels_;
};

/// "penumbral forward cpu f32 threads=1 d=64 heads=8 n=1024", for messages.
[[nodiscard]] std::string describe(const Case& c);

/// "penumbral" of the label "penumbral:gamma=2:bias=alibi": an operator without its parameters.
[[nodiscard]] std::string operator_name(const std::string& label);

}  // namespace conelab
