// The value that a call gives to a parameter, parsed once from the text that a user types.
//
//   2.5               a number
//   1,2,4             a list: a number for each head, or for each axis of a grid
//   0.2,0.1;0.3,0.4   a list for each head, of a number for each axis
//   16x16             the sides of a grid
//   reference         a word
//   random            a tensor that is drawn
//   @W.npy            a tensor of a file
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace conelab {

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

}  // namespace conelab
