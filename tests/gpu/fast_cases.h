// The calls by which the fast path's arithmetic is compared with the portable path's.
#pragma once

#include <string>
#include <vector>

#include "tests/core/tiles/cases.h"

namespace conelab::gpu::tests {

using conelab::tests::Variant;

/// The variants of the similarities that the fast path has.
inline std::vector<Variant> fast_variants() {
  std::vector<Variant> fast;
  for (const Variant& v : conelab::tests::variants()) {
    const auto has = [&](const char* key, const char* word) {
      const auto found = v.call.parameters.find(key);
      return found == v.call.parameters.end() || found->second == word;
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

}  // namespace conelab::gpu::tests
