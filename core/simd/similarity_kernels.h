// The loops around a similarity's formula, written once for all similarities. A generated source
// for each similarity (kernel_similarity.cpp.in) instantiates `kernels_of` for its formula.
#pragma once

#include "core/simd/kernel_parts.h"
#include "core/simd/pair_rows.h"
#include "core/simd/slope_rows.h"
#include "core/simd/weight_rows.h"

namespace conelab::CONELAB_SIMD {

template <class S, class T, bool biased>
void score_rows(const ScoreTile<T>& t) {
  using P = Pack<T>;
  P constants[S::constants + 1];
  broadcast_constants<S>(t.constants, constants);
  for (int r = 0; r < t.rows; ++r) {
    T* row = t.tile + r * t.stride;
    P query[S::values + 1], key[S::values + 1];
    broadcast_query<S>(t.query_values, t.query_stride, r, query);
    for (int c = 0; c < t.columns; c += P::size) {
      load_key<S>(t.key_values, t.key_stride, c, key);
      P logit = S::score(P::load(row + c), query, key, constants);
      if constexpr (biased) logit = add_bias(logit, t.addend + r * t.addend_stride + c);
      logit.store(row + c);
    }
  }
}

template <class S, class T>
void score(const ScoreTile<T>& t) {
  if (t.addend == nullptr) {
    score_rows<S, T, false>(t);
  } else {
    score_rows<S, T, true>(t);
  }
}

template <class S, class T>
SimilarityKernels<T> kernels_of() {
  return {&score<S, T>,
          {&weights<S, SoftmaxLaw, T>, &weights<S, SigmoidLaw, T>},
          {&slopes<S, SoftmaxLaw, T>, &slopes<S, SigmoidLaw, T>}};
}

}  // namespace conelab::CONELAB_SIMD
