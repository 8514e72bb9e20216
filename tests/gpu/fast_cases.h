// The calls by which the fast path's arithmetic is compared with the portable path's.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/core/tiles/cases.h"

namespace conelab::gpu::tests {

using conelab::tests::make_call;
using conelab::tests::Variant;

/// The variants of the similarities that the fast path has.
inline std::vector<Variant> fast_variants() {
  std::vector<Variant> fast;
  for (const Variant& v : conelab::tests::variants()) {
    const auto has = [&](const char* key, const char* word) {
      const auto found = v.call.parameters.find(key);
      return found == v.call.parameters.end() || found->second.text() == word;
    };
    const std::string& name = v.call.similarity;
    if (has("convention", "paper") && has("depth", "height") &&
        (name == "dot" || name == "laplacian" || name == "umbral" || name == "penumbral")) {
      fast.push_back(v);
    }
  }
  return fast;
}

struct FastSize {
  std::int64_t query, key, feature, value;
  const char* mask;
};

/// A bias and a law of weights of the fast path.
struct FastPart {
  const char *bias, *weights;
};
inline constexpr FastPart plain{"none", "softmax"};
inline constexpr FastPart biased_parts[] = {{"alibi", "softmax"}, {"hype", "softmax"},
                                            {"t5", "softmax"},    {"none", "sigmoid"},
                                            {"t5", "sigmoid"},    {"hype", "sigmoid"}};

/// Returns a call of the variant under a mask. The fast path leaves negative scales of the dot
/// product to the portable one (fast_constants).
inline Call fast_call(const Variant& variant, const char* mask, const Extents& extents,
                      FastPart part = plain) {
  Call call = make_call(variant, {part.bias, {mask}, part.weights, "mean", true}, extents);
  const auto give = [&](const char* key, const char* first, const char* both) {
    call.parameters[key] = extents.head == 2 ? both : first;
  };
  if (call.similarity == "dot") give("scale", "0.3", "0.3,0.8");
  if (call.bias == "alibi") give("alibi_slope", "0.05", "0.05,-0.02");
  if (call.bias == "hype") give("hype_mu", "0.008", "0.008;0.004");
  return call;
}

/// Calls check(call, input) for the sizes in turn, with one pair of twins in each input. Every
/// other size has two heads, which share k and v by turns.
template <class Check>
void for_fast_sizes(const Variant& variant, const std::vector<FastSize>& sizes, std::uint64_t seed,
                    const Check& check, FastPart part = plain) {
  for (const FastSize& s : sizes) {
    const Extents extents = conelab::tests::with_key_heads(
        {1, seed % 2 == 0 ? 2 : 1, s.query, s.key, s.feature, s.value}, seed / 2);
    const Call call = fast_call(variant, s.mask, extents, part);
    const double spread = 3 / std::sqrt(static_cast<double>(s.feature) + 1.0);
    auto input = convert<float>(conelab::tests::random_input(call, extents, ++seed, spread));
    std::copy_n(input.query.row(0, 0, 0), s.feature, input.key.owned().row(0, 0, 1));
    SCOPED_TRACE(fmt::format("{} {} {} n_q {} n_k {} d {} d_v {}", part.bias, part.weights, s.mask,
                             s.query, s.key, s.feature, s.value));
    check(call, input);
  }
}

/// Calls check(call, input) for the cones as tests/gpu/run.py has them: tokens are drawn as models
/// scale them, with a variance of 1 / sqrt(d), and stay unrounded, as the output's gradient. The
/// errors of such calls were measured on an H200 (datasets/reference_runs/h200).
template <class Check>
void for_cones(const Check& check) {
  for (const char* text :
       {"umbral:map=psi:gamma=1:radius=0.5", "penumbral:map=psi:gamma=4:height=1"}) {
    SCOPED_TRACE(text);
    const Call call = call_from_text(text);
    const double spread = std::sqrt(3.0) / std::sqrt(8.0);
    check(call,
          convert<float>(conelab::tests::random_input(call, {1, 2, 200, 250, 64, 64}, 11, spread)));
  }
}

/// Returns |a - b| / |b|, because what 16-bit rounding of weights leaves is noise, not bias.
template <class A, class B>
double relative_error(const A& found, const B& expected) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(static_cast<double>(found[i]) - static_cast<double>(expected[i]), 2);
    size += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(difference / std::max(size, 1e-30));
}

}  // namespace conelab::gpu::tests
