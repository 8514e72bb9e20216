// A call with its numbers for the naive evaluation. Everything is in the reference's number type
// and every parameter has its value, so that finite differences can change any single number.
//
// Defaults and checks are those of `resolve`; every formula is the reference's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/operators/operator.h"

namespace conelab::reference {

// The number type of the reference. It is wider than double, so that textbook formulas with
// cancellation are accurate to 1e-12 of the value, and finite differences to 1e-9 of the
// derivative.

using Real = long double;

using Matrix = std::vector<std::vector<Real>>;  ///< By rows, all of equal length.
[[nodiscard]] Matrix transposed(const Matrix& m);

/// A mapped token.
struct Point {
  /// Euclidean: all d coordinates. Half-space: x_:. Hyperboloid: x_s. Ball: the direction.
  std::vector<Real> base;
  Real height = 0;  ///< Half-space: x_d. Hyperboloid: the time coordinate x_t. Ball: the distance.
  Real light_distance =
      0;  ///< h - x_d for penumbral cones. It is stored because h - h sigma(t) cancels.
};

/// Returns |a - b|^2 over the base coordinates.
[[nodiscard]] Real squared_distance(const std::vector<Real>& a, const std::vector<Real>& b);

struct Problem {
  Call call;  ///< The map's name is written out.
  Tensor4<Real> query, key, value, output_grad;
  /// The same keys and values for stopped pairs. They do not change when a number of `key` or
  /// `value` is changed to differentiate by it.
  Tensor4<Real> stopped_key, stopped_value;
  std::vector<std::uint8_t> allowed;
  Shape4 allowed_sizes;  ///< Sizes that are 1 stand for any.
  std::vector<std::int64_t> key_lengths;
  /// By key: one number for all heads, or one for each.
  std::map<std::string, std::vector<Real>> numbers;
  std::map<std::string, std::string> words;
  std::map<std::string, Array<Real>> tensors;
  std::map<std::string, Array<std::int64_t>> indices;

  [[nodiscard]] bool has_number(const std::string& key) const { return numbers.contains(key); }
  [[nodiscard]] Real number(const std::string& key, std::int64_t head) const {
    const std::vector<Real>& list = numbers.at(key);
    return list.size() == 1 ? list.front() : list[static_cast<std::size_t>(head)];
  }
  /// Returns the word chosen for a key, or an empty string if the call has no such choice.
  [[nodiscard]] std::string word(const std::string& key) const {
    const auto found = words.find(key);
    return found == words.end() ? "" : found->second;
  }
  [[nodiscard]] bool published() const { return word("convention") == "reference"; }
  /// Returns one head's numbers of a tensor with `rank` axes, or null if it is absent.
  [[nodiscard]] const Real* tensor(const std::string& name, std::int64_t head,
                                   std::size_t rank) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second.of_head(head, rank);
  }
};

/// Resolves the call for the input. Throws as `resolve` does.
[[nodiscard]] Problem make_problem(const Call& call, const AttentionInput<double>& input);

}  // namespace conelab::reference
