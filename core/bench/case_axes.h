// The axes that cases differ by, in the order of the result file, with the names that each goes by:
// what speaks of all labels of a case, or of all lists of a sweep, walks this table.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "core/bench/sweep.h"

namespace conelab {

/// Its labels are names or numbers: the members of the other kind are null.
struct CaseAxis {
  const char* label;  ///< Of result files, JSON and the keys of figures: "dim".
  const char* title;  ///< Of columns and messages: "d".
  const char* item;   ///< Of what a sweep lists: "dims".
  std::string Case::*text = nullptr;
  std::vector<std::string> Sweep::*names = nullptr;
  std::int64_t Case::*number = nullptr;
  std::vector<std::int64_t> Sweep::*numbers = nullptr;
};

inline constexpr CaseAxis case_axes[] = {
    {"operator", "operator", "operators", &Case::operation, &Sweep::operations},
    {"pass", "pass", "passes", &Case::pass, &Sweep::passes},
    {"device", "device", "devices", &Case::device, &Sweep::devices},
    {"dtype", "dtype", "dtypes", &Case::dtype, &Sweep::dtypes},
    {"threads", "threads", "threads", nullptr, nullptr, &Case::threads, &Sweep::threads},
    {"dim", "d", "dims", nullptr, nullptr, &Case::dim, &Sweep::dims},
    {"head", "heads", "heads", nullptr, nullptr, &Case::head, &Sweep::heads},
    {"seq_len", "n", "lengths", nullptr, nullptr, &Case::seq_len, &Sweep::lengths}};

/// All but the lengths, the last axis: those that a line of a scaling figure has one label of.
[[nodiscard]] constexpr std::span<const CaseAxis> line_axes() {
  return std::span(case_axes).first(std::size(case_axes) - 1);
}
/// Of those all but the operators, the first axis: where a figure compares operators.
[[nodiscard]] constexpr std::span<const CaseAxis> place_axes() { return line_axes().subspan(1); }

/// Throws misuse for a label that no axis has.
[[nodiscard]] const CaseAxis& axis_named(const std::string& label);

/// The case's label on an axis, numbers as digits.
[[nodiscard]] std::string label_of(const Case& c, const CaseAxis& axis);

/// How many labels the sweep has there.
[[nodiscard]] std::size_t axis_size(const Sweep& sweep, const CaseAxis& axis);

}  // namespace conelab
