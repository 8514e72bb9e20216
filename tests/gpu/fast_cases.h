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

/// Returns a call of the variant under a mask. The fast path leaves negative scales of the dot
/// product to the portable one (fast_constants).
inline Call fast_call(const Variant& variant, const char* mask, const Extents& extents) {
  Call call = make_call(variant, {"none", {mask}, "softmax", "mean", true}, extents);
  if (call.similarity == "dot") call.parameters["scale"] = extents.head == 2 ? "0.3,0.8" : "0.3";
  return call;
}

/// Calls check(call, input) for the sizes in turn, with one pair of twins in each input.
template <class Check>
void for_fast_sizes(const Variant& variant, const std::vector<FastSize>& sizes, std::uint64_t seed,
                    const Check& check) {
  for (const FastSize& s : sizes) {
    const Extents extents{1, seed % 2 == 0 ? 2 : 1, s.query, s.key, s.feature, s.value};
    const Call call = fast_call(variant, s.mask, extents);
    const double spread = 3 / std::sqrt(static_cast<double>(s.feature) + 1.0);
    auto input = convert<float>(conelab::tests::random_input(call, extents, ++seed, spread));
    std::copy_n(input.query.row(0, 0, 0), s.feature, input.key.owned().row(0, 0, 1));
    SCOPED_TRACE(
        fmt::format("{} n_q {} n_k {} d {} d_v {}", s.mask, s.query, s.key, s.feature, s.value));
    check(call, input);
  }
}

}  // namespace conelab::gpu::tests
