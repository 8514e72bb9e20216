// The axes of a benchmark, and its cases, which have one label on each axis.
//
// The table of axes is in axes.cpp. The options of `conelab bench`, the dimensions of the result
// file, the tables and messages of `compare`, the keys of the benchmarks' figures, the desktop's
// form, and the protocol between runner and worker all iterate over it. A new axis is a row there;
// the code that runs a case then reads its label (operator_case.cpp).
//
// A label is text. On a numeric axis it is a whole number from 1, in digits, or the implied label.
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
  const char* name;          ///< In result files, in JSON and as a key of figures: "dim".
  const char* title;         ///< In columns and messages: "d".
  const char* option;        ///< "dims" for the option "--dims" and the item "dims" of a sweep.
  const char* initial;       ///< The labels of a sweep that does not set any, as typed.
  const char* about;         ///< The help of the option.
  const char* which = "";    ///< The help of the key with which a figure chooses one label.
  const char* drawn = "";    ///< The label that figures choose by default; empty: the file's first.
  const char* choices = "";  ///< The only possible labels: "f64|f32|bf16|f16"; empty: any.
  /// "thread", so that captions say "2 threads"; empty: they say "d = 64".
  const char* unit = "";
  /// Result files older than the axis do not mention it; their cases count as having this label. If
  /// a sweep has only this label, files, messages and requests leave the axis out, so that they
  /// equal the older ones. It is empty for axes that have always existed.
  const char* implied_label = "";
  bool numeric = false;  ///< Whether labels are whole numbers, in ascending order.
  bool always = false;   ///< Whether tables have its column even if all cases have the same label.
};

/// Returns all axes in the order of the result file. The first is the operator, the last the
/// length.
[[nodiscard]] std::span<const Axis> axes();
/// Returns all axes but the length. Cases with the same labels on these form a *line* of a scaling
/// figure.
[[nodiscard]] std::span<const Axis> line_axes();
/// Returns all axes but operator and length. A figure shows one label of each.
[[nodiscard]] std::span<const Axis> fixed_axes();

/// Returns the axis with this name. Throws misuse for an unknown name and lists the known ones.
[[nodiscard]] const Axis& axis_named(std::string_view name);
/// Returns the index of an element of `axes()`.
[[nodiscard]] std::size_t index_of(const Axis& axis);
/// Returns whether the label is `Axis::implied_label`, so that it is not mentioned.
[[nodiscard]] bool is_implied(const Axis& axis, const std::string& label);
/// Returns whether `Axis::implied_label` is the only label.
[[nodiscard]] bool all_implied(const Axis& axis, const Labels& labels);
/// Returns the labels of `Axis::choices`; empty if any label is allowed.
[[nodiscard]] Labels choices_of(const Axis& axis);
/// Returns a label for captions: "cpu", "2 threads", "d = 64".
[[nodiscard]] std::string label_text(const Axis& axis, const std::string& label);

/// Returns the labels of a text: names between commas, or numbers as `parse_integers` reads them.
/// Throws misuse; the message begins with `field`.
[[nodiscard]] Labels parse_labels(const Axis& axis, const std::string& field,
                                  const std::string& text);

/// Returns the numbers of a text, "256,512" or "256..16384:x2" or "256..2048:+256" or several of
/// these with commas, ascending without repeats. Throws misuse for anything else, for values below
/// 1 and for more than 10,000 of them; the message begins with `field`.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& field,
                                                       const std::string& text);
/// Does the same for small numbers, where "1..8" is allowed and means each of them.
[[nodiscard]] std::vector<std::int64_t> parse_each(const std::string& field, std::string text);

/// One point of the result's hyper-rectangle: a label on each axis, in the order of the table.
class Case {
 public:
  /// Axes that are not named get the first of their initial labels.
  Case(std::initializer_list<std::pair<std::string_view, std::string>> labels = {});
  /// `labels` has one entry for each axis.
  explicit Case(Labels labels) : labels_(std::move(labels)) {}

  [[nodiscard]] const std::string& operator[](const Axis& axis) const {
    return labels_[index_of(axis)];
  }
  /// Returns the label on the axis with this name. Throws misuse for an unknown name.
  [[nodiscard]] const std::string& operator[](std::string_view axis) const {
    return (*this)[axis_named(axis)];
  }
  /// Returns the label of a numeric axis as a number, or 0 if it is not one.
  [[nodiscard]] std::int64_t number(std::string_view axis) const;
  void set(std::string_view axis, std::string label);
  void set(std::string_view axis, std::int64_t label) { set(axis, std::to_string(label)); }

  bool operator==(const Case&) const = default;

 private:
  Labels labels_;
};

/// Returns text for messages: "penumbral forward cpu f32 threads=1 d=64 heads=8 n=1024".
[[nodiscard]] std::string describe(const Case& c);

/// Returns an operator without its parameters: "penumbral" for "penumbral:gamma=2:bias=alibi".
[[nodiscard]] std::string operator_of_label(const std::string& label);

}  // namespace conelab
