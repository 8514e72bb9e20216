// A call with its numbers, ready for the naive evaluation: everything in the reference's number
// type, every parameter filled in, so that finite differences can move any single number.
//
// Defaults and checks are those of `resolve`; every formula is the reference's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/operators/operator.h"
#include "core/reference/real.h"

namespace conelab::reference {

struct Problem {
  Call call;  ///< Map name written out.
  Tensor4<Real> query, key, value, output_grad;
  /// The same keys and values as stopped pairs see them: who moves a number of `key` or `value` to
  /// differentiate moves none of these.
  Tensor4<Real> stopped_key, stopped_value;
  std::vector<std::uint8_t> allowed;
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
  /// The word chosen for a key; empty where the call has no such choice.
  [[nodiscard]] std::string word(const std::string& key) const {
    const auto found = words.find(key);
    return found == words.end() ? "" : found->second;
  }
  [[nodiscard]] bool published() const { return word("convention") == "reference"; }
  /// One head's numbers of a tensor with `rank` axes, or null where it is absent.
  [[nodiscard]] const Real* tensor(const std::string& name, std::int64_t head,
                                   std::size_t rank) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second.of_head(head, rank);
  }
};

/// Throws as `resolve` does.
[[nodiscard]] Problem make_problem(const Call& call, const AttentionInput<double>& input);

}  // namespace conelab::reference
