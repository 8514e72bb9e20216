// A call with its numbers, ready for the naive evaluation: everything in the reference's number
// type, every parameter filled in, so that finite differences can move any single number.
//
// Defaults: scale 1/sqrt(d), gamma 1, height 1, radius 0.1, source_radius 0.5, object_radius 0.1, K
// 0.1, beta 1, offset 0, base_height 1, alibi_slope the head slopes of Press et al., hype_mu
// 1/max(n_q, n_k), hype_tau -1; words: model hyperboloid, convention paper; the map is the
// similarity's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/reference/real.h"
#include "core/tiles/attention.h"

namespace conelab::reference {

struct Problem {
  Call call;  ///< Map name written out.
  Tensor4<Real> query, key, value, output_grad;
  std::vector<std::uint8_t> allowed;
  std::vector<std::int64_t> key_lengths;
  /// By key: one number for all heads, or one for each.
  std::map<std::string, std::vector<Real>> numbers;
  std::map<std::string, std::string> words;

  [[nodiscard]] Real number(const std::string& key, std::int64_t head) const {
    const std::vector<Real>& list = numbers.at(key);
    return list.size() == 1 ? list.front() : list[static_cast<std::size_t>(head)];
  }
  [[nodiscard]] bool published() const { return words.at("convention") == "reference"; }
};

/// Shapes must fit: nothing is checked here. Throws misuse where a parameter is not a number.
[[nodiscard]] Problem make_problem(const Call& call, const AttentionInput<double>& input);

/// ALiBi's slopes: for n a power of two 2^(-8/n), 2^(-16/n), ...; otherwise those of the power of
/// two below n, then the first, third, fifth ... of the power above. Press et al., section 3 and
/// their code for other head counts.
[[nodiscard]] std::vector<Real> alibi_slopes(std::int64_t heads);

}  // namespace conelab::reference
